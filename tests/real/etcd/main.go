// An etcd server with everything in it (raft, bbolt, gRPC, its HTTP gateway) and clients of it, which put, watch, hold
// leases and locks; then dumps itself: etcd FILE [SHARE], where SHARE is how much of it all, 1 unless given.
package main

import (
	"context"
	"fmt"
	"log"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"go.etcd.io/etcd/clientv3"
	"go.etcd.io/etcd/clientv3/concurrency"
	"go.etcd.io/etcd/embed"

	"settle"
	"truth/record"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func serve(directory string) *embed.Etcd {
	config := embed.NewConfig()
	config.Dir = directory
	config.Logger = "zap"
	config.LogLevel = "fatal"
	config.LogOutputs = []string{filepath.Join(directory, "log")}
	// Sockets in the directory; the colon is what etcd wants.
	client, peer := url.URL{Scheme: "unix", Host: "localhost:1"}, url.URL{Scheme: "unix", Host: "localhost:2"}
	config.LCUrls, config.ACUrls = []url.URL{client}, []url.URL{client}
	config.LPUrls, config.APUrls = []url.URL{peer}, []url.URL{peer}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	check(os.Chdir(directory))
	server, err := embed.StartEtcd(config)
	check(err)
	select {
	case <-server.Server.ReadyNotify():
	case err := <-server.Err():
		log.Fatal(err)
	case <-time.After(time.Hour):
		log.Fatal("no leader")
	}
	return server
}

func client(server *embed.Etcd) *clientv3.Client {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{server.Clients[0].Addr().Network() + "://" + server.Clients[0].Addr().String()},
		DialTimeout: time.Hour})
	check(err)
	return c
}

// work is one client's, and goes on until the program ends.
func work(server *embed.Etcd, n, keys int, ready chan<- bool) {
	ctx := context.Background()
	c := client(server)
	prefix := fmt.Sprintf("client/%d/", n)
	events := c.Watch(ctx, prefix, clientv3.WithPrefix(), clientv3.WithPrevKV())
	session, err := concurrency.NewSession(c, concurrency.WithTTL(600))
	check(err)
	mutex := concurrency.NewMutex(session, prefix+"lock")
	check(mutex.Lock(ctx))
	seen := map[string]*clientv3.Event{}
	for i := 0; i < keys; i++ {
		key := prefix + strconv.Itoa(i*7919%(keys*4))
		_, err := c.Txn(ctx).If(clientv3.Compare(clientv3.Version(key), "<", 3)).
			Then(clientv3.OpPut(key, fmt.Sprint("value ", i), clientv3.WithLease(session.Lease()))).
			Else(clientv3.OpGet(key)).Commit()
		check(err)
	}
	response, err := c.Get(ctx, prefix, clientv3.WithPrefix())
	check(err)
	ready <- true
	for batch := range events {
		for _, e := range batch.Events {
			seen[string(e.Kv.Key)] = e
		}
	}
	fmt.Println(len(response.Kvs), mutex.Key())
}

func main() {
	share := 1.0
	if len(os.Args) > 2 {
		share, _ = strconv.ParseFloat(os.Args[2], 64)
	}
	file, err := filepath.Abs(os.Args[1])
	check(err)
	directory, err := os.MkdirTemp("", "etcd")
	check(err)
	server := serve(directory)
	clients, ready := 8, make(chan bool)
	for n := 0; n < clients; n++ {
		go work(server, n, int(4000*share), ready)
	}
	for n := 0; n < clients; n++ {
		<-ready
	}
	settle.Settle()
	done := make(chan bool)
	go func() {
		record.Dump(file)
		close(done)
	}()
	<-done
	os.RemoveAll(directory)
	_ = server.Config().Name
}
