// A NATS server and clients of it: subscriptions with wildcards and queues, requests that wait, pending messages; then
// dumps itself: nats FILE [SHARE], where SHARE is how much of it all, 1 unless given.
package main

import (
	"fmt"
	"log"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/server"
	"github.com/nats-io/nats.go"

	"settle"
	"truth/record"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

type order struct {
	ID    string            `json:"id"`
	Lines []line            `json:"lines"`
	Tags  map[string]string `json:"tags"`
	Next  *order            `json:"next,omitempty"`
}

type line struct {
	SKU   string  `json:"sku"`
	Count int     `json:"count"`
	Price float64 `json:"price"`
}

type ledger struct {
	byID   map[string]*order
	latest *order
	subs   []*nats.Subscription
}

// connect has no patience to lose: a busy machine may take its time.
func connect(url string, options ...nats.Option) *nats.Conn {
	connection, err := nats.Connect(url, append(options, nats.MaxReconnects(3), nats.Timeout(time.Hour), nats.PingInterval(time.Hour))...)
	check(err)
	return connection
}

// work is one client's, and goes on until the program ends.
func work(url string, n, count int, ready chan<- bool) {
	connection := connect(url, nats.Name(fmt.Sprint("client ", n)))
	c, err := nats.NewEncodedConn(connection, nats.JSON_ENCODER)
	check(err)
	books := &ledger{byID: map[string]*order{}}
	got := make(chan bool, 1)
	sub, err := c.Subscribe(fmt.Sprintf("orders.%d.>", n), func(subject string, o *order) {
		books.byID[o.ID] = o
		books.latest = o
		if len(books.byID) == count {
			got <- true
		}
	})
	check(err)
	books.subs = append(books.subs, sub)
	for i := 0; i < count/4; i++ {
		sub, err := c.QueueSubscribe(fmt.Sprintf("work.%d.*.%d", n, i), fmt.Sprint("queue", i%7), func(m *nats.Msg) { check(m.Respond(m.Data)) })
		check(err)
		books.subs = append(books.subs, sub)
		pending, err := connection.SubscribeSync(fmt.Sprintf("pending.%d.%d", n, i))
		check(err)
		books.subs = append(books.subs, pending)
	}
	for i := 0; i < count; i++ {
		id := fmt.Sprintf("%d-%d", n, i)
		check(c.Publish(fmt.Sprintf("orders.%d.%d.new", n, i%13), &order{ID: id, Tags: map[string]string{"client": strconv.Itoa(n), "i": id},
			Lines: []line{{"sku " + id, i, float64(i) / 3}, {"other " + id, 1, 2}}, Next: &order{ID: "next of " + id}}))
		check(connection.Publish(fmt.Sprintf("pending.%d.%d", n, i%(count/4)), []byte("pending "+id)))
		if i%50 == 0 {
			_, err := connection.Request(fmt.Sprintf("work.%d.x.%d", n, i%(count/4)), []byte(id), time.Hour)
			check(err)
		}
	}
	check(connection.FlushTimeout(time.Hour))
	<-got
	go connection.Request("nobody.answers", []byte(fmt.Sprint("request of ", n)), time.Hour)
	ready <- true
	select {}
}

func main() {
	share := 1.0
	if len(os.Args) > 2 {
		share, _ = strconv.ParseFloat(os.Args[2], 64)
	}
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, HTTPHost: "127.0.0.1", HTTPPort: -1, NoLog: true, NoSigs: true,
		PingInterval: time.Hour, DisableShortFirstPing: true, WriteDeadline: time.Hour})
	check(err)
	go s.Start()
	if !s.ReadyForConnections(time.Hour) {
		log.Fatal("the server does not start")
	}
	// Somebody has to be there, so that requests to nobody.answers wait.
	silent := connect(s.ClientURL())
	_, err = silent.ChanSubscribe("nobody.answers", make(chan *nats.Msg, 64))
	check(err)
	check(silent.FlushTimeout(time.Hour))
	ready := make(chan bool)
	for n := 0; n < 16; n++ {
		go work(s.ClientURL(), n, int(2000*share)+8, ready)
	}
	for n := 0; n < 16; n++ {
		<-ready
	}
	settle.Settle()
	done := make(chan bool)
	go func() {
		record.Dump(os.Args[1])
		close(done)
	}()
	<-done
	_ = s.ID()
}
