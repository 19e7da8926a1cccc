package main

import (
	"os"
	"sync"
)

type lock struct{ page *[200]byte }

//go:noinline
func (l *lock) Unlock() { l.page = nil }

type job struct {
	name string
	data []byte
}

type server struct {
	name  string
	mutex sync.Mutex
	jobs  chan *job
}

var (
	never    = make(chan bool)
	ready    = make(chan bool)
	aServer  = &server{name: "a", jobs: make(chan *job, 3)}
	bServer  *server
	cond     = sync.NewCond(&sync.Mutex{})
	group    sync.WaitGroup
	rw       sync.RWMutex
	bWorkers int
	aPanic   = &job{name: "what is panicked with"}
)

//go:noinline
func aWorker(j *job) {
	local := square{name: j.name, side: 2}
	list := []*square{&local, {name: "of a list"}}
	ready <- true
	<-never
	say(j.name, list[0].name)
}

//go:noinline
func bWorker(s *server, j *job) {
	ready <- true
	s.jobs <- j
}

func startB(i int) {
	bWorkers++
	go bWorker(bServer, &job{name: "job " + number(i), data: make([]byte, 200)})
	<-ready
}

//go:noinline
func deferred(depth int) {
	for i := 0; i < 10; i++ {
		l := &lock{page: &[200]byte{4}}
		defer l.Unlock()
	}
	if depth > 0 {
		deferred(depth - 1)
	}
	ready <- true
	<-never
}

//go:noinline
func panics() {
	defer func() {
		recovered := recover()
		ready <- true
		<-never
		say(recovered.(*job).name)
	}()
	panic(aPanic)
}

func (s *server) serve() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	text := "of a " + s.name
	ready <- true
	select {
	case j := <-s.jobs:
		say(j.name, text)
	case <-never:
	}
}

func makeGoroutines() {
	bServer = &server{name: "b", jobs: make(chan *job)}
	for i := 0; i < 3; i++ {
		go aWorker(&job{name: "goroutine " + number(i)})
		<-ready
		aServer.jobs <- &job{name: "waits"}
	}
	go deferred(1)
	<-ready
	go panics()
	<-ready
	s := &server{name: "third", jobs: make(chan *job)}
	go s.serve()
	<-ready
	group.Add(1)
	for _, wait := range []func(){
		func() { s.mutex.Lock() },
		func() { cond.L.Lock(); cond.Wait() },
		group.Wait,
		func() { rw.Lock(); rw.RLock() },
		func() { var none chan int; <-none },
		func() { select {} },
		func() { pipe, _, _ := os.Pipe(); pipe.Read(make([]byte, 10)) },
	} {
		go func() {
			ready <- true
			wait()
		}()
		<-ready
	}
}
