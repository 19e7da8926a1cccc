// A program that is forked from outside while it works. It checks itself: what it sends over a connection comes back, a blocking
// read gets the bytes in their order, a sleep is never short; it counts the signals that it gets. Whatever is wrong ends it with a
// message. It answers each line of standard input with a line of JSON.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand"
	"net"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

type node struct {
	next *node
	pad  [14]uint64
}

var (
	nodes                         []*node
	blobs                         [][]byte
	echoed, slept, piped, written uint64
	counted, children             uint64
	garbage                       []byte
	connections                   []net.Conn
	megabytes                     = flag.Int("mb", 30, "size of the heap")
	rate                          = flag.Int("write", 0, "writes per second to random objects")
	collect                       = flag.Bool("gc", false, "collects garbage all the time")
	swept                         = flag.Bool("swept", false, "collects garbage once, and sweeps all spans, before it is ready")
	threads                       = flag.Int("spare", 0, "threads that it has made and has nothing to do for")
	spins                         = flag.Bool("spin", false, "computes, and does nothing else")
	uring                         = flag.Bool("uring", false, "has a descriptor of io_uring")
	faults                        = flag.Bool("userfaultfd", false, "has a descriptor of userfaultfd")
	aio                           = flag.Bool("aio", false, "has a context of aio")
	dontFork                      = flag.Bool("dontfork", false, "has memory with MADV_DONTFORK")
	wipes                         = flag.Bool("wipe", false, "has its list of objects in memory with MADV_WIPEONFORK")
)

func fail(what ...any) {
	fmt.Fprintln(os.Stderr, what...)
	os.Exit(3)
}

// fill allocates objects: half of the bytes are a list, half have no pointers.
func fill(bytes int) {
	var last *node
	for i := 0; i < bytes/2/128; i++ {
		last = &node{next: last}
		last.pad[3] = uint64(i)
		nodes = append(nodes, last)
	}
	for i := 0; i < bytes/2/1024; i++ {
		blob := make([]byte, 1024)
		for j := range blob {
			blob[j] = byte(i + j)
		}
		blobs = append(blobs, blob)
	}
}

// change writes to random objects, perSecond of them.
func change(perSecond int) {
	random := rand.New(rand.NewSource(1))
	for {
		for i := 0; i < perSecond/1000+1; i++ {
			nodes[random.Intn(len(nodes))].pad[5]++
			blobs[random.Intn(len(blobs))][17]++
			atomic.AddUint64(&written, 1)
		}
		time.Sleep(time.Millisecond)
	}
}

func echo(listener net.Listener) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			fail("accept:", err)
		}
		go func() {
			buffer := make([]byte, 8)
			for {
				n, err := connection.Read(buffer)
				if err != nil {
					return
				}
				connection.Write(buffer[:n])
			}
		}()
	}
}

func talk(address string) {
	connection, err := net.Dial("tcp", address)
	if err != nil {
		fail("dial:", err)
	}
	buffer := make([]byte, 8)
	for {
		connection.Write(buffer)
		if n, err := connection.Read(buffer); err != nil || n != len(buffer) {
			fail("echo:", n, err)
		}
		atomic.AddUint64(&echoed, 1)
		time.Sleep(2 * time.Millisecond)
	}
}

// closes closes each connection as soon as it has something to read.
func closes(listener net.Listener) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			fail("accept:", err)
		}
		go func() {
			connection.Read(make([]byte, 1))
			connection.Close()
		}()
	}
}

// sleep sleeps in a thread of its own.
func sleep() {
	runtime.LockOSThread()
	const time5 = 5 * time.Millisecond
	for {
		begin := time.Now()
		request := syscall.NsecToTimespec(int64(time5))
		err := syscall.Nanosleep(&request, nil)
		if err != nil && err != syscall.EINTR {
			fail("nanosleep:", err)
		}
		if err == nil && time.Since(begin) < time5 {
			fail("nanosleep was short:", time.Since(begin))
		}
		atomic.AddUint64(&slept, 1)
	}
}

// pipe reads in a thread of its own what another one writes.
func pipe() {
	var ends [2]int
	if err := syscall.Pipe(ends[:]); err != nil {
		fail("pipe:", err)
	}
	go func() {
		for i := byte(0); ; i++ {
			syscall.Write(ends[1], []byte{i})
			time.Sleep(3 * time.Millisecond)
		}
	}()
	runtime.LockOSThread()
	var buffer [1]byte
	for want := byte(0); ; want++ {
		if n, err := syscall.Read(ends[0], buffer[:]); n != 1 || err != nil || buffer[0] != want {
			fail("pipe:", n, err, buffer[0], want)
		}
		atomic.AddUint64(&piped, 1)
	}
}

func count(which os.Signal, counter *uint64) {
	signals := make(chan os.Signal, 1000)
	signal.Notify(signals, which)
	go func() {
		for range signals {
			atomic.AddUint64(counter, 1)
		}
	}()
}

// occupy has goroutines sleep in the kernel, more than there are threads that have nothing to do.
func occupy() {
	const sleepers = 8
	var begun int32
	for i := 0; i < sleepers; i++ {
		go func() {
			hour := syscall.Timespec{Sec: 3600}
			atomic.AddInt32(&begun, 1)
			syscall.Nanosleep(&hour, nil)
		}()
	}
	// One that sleeps keeps the only processor until it is taken away from it.
	for atomic.LoadInt32(&begun) < sleepers {
		runtime.Gosched()
	}
}

// spare makes threads, which the runtime keeps.
func spare(count int) {
	var made, done sync.WaitGroup
	made.Add(count)
	done.Add(count)
	for i := 0; i < count; i++ {
		go func() {
			runtime.LockOSThread()
			made.Done()
			made.Wait()
			runtime.UnlockOSThread()
			done.Done()
		}()
	}
	done.Wait()
}

func listen() net.Listener {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fail("listen:", err)
	}
	return listener
}

// call makes a system call that must succeed; what it returns stays as long as the program.
func call(name string, number, a, b, c uintptr) uintptr {
	result, _, errno := syscall.Syscall(number, a, b, c)
	if errno != 0 {
		fmt.Println(`{"refused": "` + name + `: ` + errno.Error() + `"}`)
		os.Exit(77)
	}
	return result
}

func main() {
	flag.Parse()
	debug.SetGCPercent(100)
	fill(*megabytes << 20)
	if *spins {
		occupy()
		fmt.Println(`{"ready": true}`)
		for n := uint64(0); ; n++ {
			atomic.StoreUint64(&written, n)
		}
	}
	spare(*threads)
	for _, each := range special() {
		defer runtime.KeepAlive(each)
	}
	echoes, closer := listen(), listen()
	go echo(echoes)
	go talk(echoes.Addr().String())
	go closes(closer)
	for i := 0; i < 3; i++ {
		go sleep()
	}
	go pipe()
	count(syscall.SIGUSR2, &counted)
	count(syscall.SIGCHLD, &children)
	if *rate > 0 {
		go change(*rate)
	}
	if *collect {
		go func() {
			for {
				garbage = make([]byte, 1<<20)
				runtime.GC()
				time.Sleep(time.Millisecond)
			}
		}()
	}
	if *swept {
		runtime.GC()
	}
	lines := bufio.NewScanner(os.Stdin)
	fmt.Printf("{\"ready\": true, \"port\": %d}\n", closer.Addr().(*net.TCPAddr).Port)
	for lines.Scan() {
		switch lines.Text() {
		case "exit":
			os.Exit(0)
		case "exec":
			syscall.Exec(os.Args[0], []string{os.Args[0], "-mb", "1"}, os.Environ())
			fail("exec")
		}
		fmt.Printf("{\"echoed\": %d, \"slept\": %d, \"piped\": %d, \"written\": %d, \"signals\": %d, \"children\": %d}\n",
			atomic.LoadUint64(&echoed), atomic.LoadUint64(&slept), atomic.LoadUint64(&piped), atomic.LoadUint64(&written),
			atomic.LoadUint64(&counted), atomic.LoadUint64(&children))
	}
}
