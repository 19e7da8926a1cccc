// Fleet imitates a service of a fleet at night: the objects that it holds depend on its host, its release, and the night.
//
//	fleet HOST RELEASE NIGHT DUMP
//
// Release 2 keeps three times as many invoices as release 1. From release 3 on sessions are not forgotten: there are more
// of them each night, on all hosts. Hosts 7, 23 and 41 leak uploads in all releases: there are more each night.
package main

import (
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
)

type article struct {
	name  string
	price int64
	tags  []string
}

type session struct {
	user string
	cart []*article
	seen [4]int64
}

type invoice struct {
	number int
	lines  []string
}

type upload struct {
	name string
	body []byte
}

type service struct {
	articles map[int]*article
	sessions map[string]*session
	invoices []*invoice
	pending  chan *upload
}

var current = &service{articles: map[int]*article{}, sessions: map[string]*session{}, pending: make(chan *upload, 4096)}

func number(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	host, release, night := number(os.Args[1]), number(os.Args[2]), number(os.Args[3])
	random := rand.New(rand.NewSource(int64(host*1000 + night)))
	load := 400 + 8*host + random.Intn(80) // hosts differ, and so do nights
	for i := 0; i < 2*load; i++ {
		current.articles[i] = &article{fmt.Sprint("article ", i), int64(i), []string{fmt.Sprint("tag ", i%17)}}
	}
	sessions := load
	if release >= 3 {
		sessions += 60 * (night - 13)
	}
	for i := 0; i < sessions; i++ {
		user := fmt.Sprint("user ", i)
		current.sessions[user] = &session{user: user, cart: []*article{current.articles[i%load]}}
	}
	invoices := load / 2
	if release >= 2 {
		invoices *= 3
	}
	for i := 0; i < invoices; i++ {
		current.invoices = append(current.invoices, &invoice{i, []string{fmt.Sprint("line ", i)}})
	}
	uploads := random.Intn(10)
	if host == 7 || host == 23 || host == 41 {
		uploads += 40 * night
	}
	for i := 0; i < uploads; i++ {
		current.pending <- &upload{fmt.Sprint("upload ", i), make([]byte, 256)}
	}
	for i := 0; i < 8+random.Intn(8); i++ {
		go func() { <-make(chan int) }()
	}
	runtime.Gosched()
	runtime.GC()
	file, err := os.Create(os.Args[4])
	if err != nil {
		panic(err)
	}
	debug.WriteHeapDump(file.Fd())
	if err := file.Close(); err != nil {
		panic(err)
	}
	fmt.Fprintln(os.Stderr, len(current.articles), len(current.sessions), len(current.invoices), len(current.pending))
}
