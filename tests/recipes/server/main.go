// The server of the recipes in docs/oom.md. It leaks sessions into a map beside a healthy one of the same type, prints "ready", and
// then ends as a signal says: SIGHUP leaks until the kernel ends it, SIGUSR1 is a panic, SIGUSR2 runs the program anew by exec, SIGTERM
// ends it well.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

type Session struct {
	ID   int
	User string
	Buf  []byte
}

type Store struct{ byID map[int]*Session }

var leaking, healthy = Store{map[int]*Session{}}, Store{map[int]*Session{}}

func session(id int) *Session {
	buf := make([]byte, 4096)
	for i := range buf {
		buf[i] = byte(id)
	}
	return &Session{id, fmt.Sprintf("user-%d", id), buf}
}

func main() {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTERM)
	for id := 0; id < 2000; id++ {
		leaking.byID[id] = session(id)
		if id%4 == 0 {
			healthy.byID[id] = session(id)
		}
	}
	fmt.Println("ready", os.Getpid())
	switch <-signals {
	case syscall.SIGHUP:
		for id := 2000; ; id++ {
			leaking.byID[id] = session(id)
			if id%100 == 0 {
				time.Sleep(10 * time.Millisecond)
			}
		}
	case syscall.SIGUSR1:
		panic("as a signal wants it")
	case syscall.SIGUSR2:
		panic(syscall.Exec("/proc/self/exe", []string{"server"}, os.Environ()))
	}
}
