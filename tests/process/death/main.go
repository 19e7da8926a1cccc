// A program that ends in many ways, for at-death.sh. It leaks sessions into a map beside a healthy one of the same type, and prints
// "ready" when it has leaked the first 2,000. Without arguments it is the server of the recipes in docs/oom.md, and ends as a signal
// says: SIGHUP leaks until the kernel ends it, SIGUSR1 is a panic, SIGUSR2 runs the program anew by exec, SIGTERM ends it well.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync/atomic"
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

// leak leaks so many sessions per second.
func leak(perSecond int) {
	for id := 2000; ; {
		time.Sleep(10 * time.Millisecond)
		for n := 0; n < perSecond/100; n++ {
			leaking.byID[id] = session(id)
			id++
		}
	}
}

// collect collects garbage so often, while goroutines spin: each time signals have to preempt them.
func collect(times int) {
	var done atomic.Bool
	runtime.GOMAXPROCS(4) // more than spin
	for i := 0; i < 2; i++ {
		go func() {
			for !done.Load() {
			}
		}()
	}
	for i := 0; i < times; i++ {
		runtime.GC()
	}
	done.Store(true)
}

// await waits until the file exists.
func await(path string) {
	for _, err := os.Stat(path); err != nil; _, err = os.Stat(path) {
		time.Sleep(10 * time.Millisecond)
	}
}

func main() {
	how, argument, ends := "serve", "", make(chan os.Signal, 4)
	if len(os.Args) > 2 {
		how, argument = os.Args[1], os.Args[2]
	}
	switch how {
	case "serve":
		signal.Notify(ends, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTERM)
	case "exec": // runs itself from another thread than the first once the file is there
		fmt.Println("ready")
		await(argument)
		done := make(chan error)
		go func() { done <- syscall.Exec("/proc/self/exe", []string{"death", "leak", "0"}, os.Environ()) }()
		panic(<-done)
	case "signals": // ends with 42 if it gets SIGTERM
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, syscall.SIGTERM)
		fmt.Println("ready")
		<-asked
		os.Exit(42)
	}
	for id := 0; id < 2000; id++ {
		leaking.byID[id] = session(id)
		if id%4 == 0 {
			healthy.byID[id] = session(id)
		}
	}
	fmt.Println("ready")
	switch how {
	case "serve":
		switch <-ends {
		case syscall.SIGHUP:
			leak(10000)
		case syscall.SIGUSR1:
			panic("as a signal wants it")
		case syscall.SIGUSR2:
			panic(syscall.Exec("/proc/self/exe", []string{"server"}, os.Environ()))
		}
	case "leak":
		perSecond, _ := strconv.Atoi(argument)
		leak(perSecond)
	case "collect": // once a file is there
		await(argument)
		collect(20)
		fmt.Println("done")
		leak(0)
	case "exit": // with a status once a file is there: exit 3,file
		await(argument[2:])
		os.Exit(int(argument[0] - '0'))
	}
}
