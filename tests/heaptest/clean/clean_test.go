// Package clean has functions that change the heap without leaking, and tests that NoGrowth has no false alarms.
package clean

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go2heapsnapshot.invalid/heapdump/heaptest"
)

type session struct {
	id   int
	data [200]byte
	tags []string
}

func newSession(id int) *session { return &session{id: id, tags: []string{"a", "b"}} }

var (
	number  int
	cache   = map[int]*session{}
	pool    = sync.Pool{New: func() interface{} { return new(bytes.Buffer) }}
	bulk    map[int]*session
	scratch []byte
	parsed  *regexp.Regexp
	built   string
)

// clean are functions after which the heap differs from call to call, but does not grow.
var clean = []struct {
	name string
	call func(*testing.T)
}{
	{"bounded cache", func(*testing.T) {
		number++
		cache[number] = newSession(number)
		delete(cache, number-40)
	}},
	{"sync.Pool", func(*testing.T) {
		buffer := pool.Get().(*bytes.Buffer)
		buffer.Reset()
		fmt.Fprintf(buffer, "%1000d", number)
		pool.Put(buffer)
	}},
	{"http server", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, strings.Repeat("x", 1000))
		}))
		defer server.Close()
		response, err := server.Client().Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, response.Body)
		response.Body.Close()
	}},
	{"timers", func(*testing.T) {
		s := newSession(0)
		time.AfterFunc(time.Hour, func() { s.id++ }).Stop()
		ticker := time.NewTicker(time.Hour)
		ticker.Stop()
	}},
	{"map that doubles", func(*testing.T) {
		number++
		if number%60 == 0 {
			bulk = map[int]*session{}
		}
		if bulk == nil {
			bulk = map[int]*session{}
		}
		for i := 0; i < number%60; i++ {
			bulk[number*100+i] = newSession(i)
		}
		if number%7 == 0 {
			for key := range bulk {
				delete(bulk, key)
			}
		}
	}},
	{"buffers", func(*testing.T) {
		number++
		scratch = scratch[:0]
		for i := 0; i < number%13; i++ {
			scratch = append(scratch, make([]byte, 100*(number%13))...)
		}
	}},
	{"strings", func(*testing.T) {
		number++
		var b strings.Builder
		for i := 0; i < 10+number%10; i++ {
			fmt.Fprintf(&b, "%d,", i*number)
		}
		built = b.String()
	}},
	{"channels", func(*testing.T) {
		c := make(chan *session, 10)
		for i := 0; i < 10; i++ {
			c <- newSession(i)
		}
		close(c)
		for range c {
		}
	}},
	{"goroutines that end", func(*testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan *session)
		for i := 0; i < 4; i++ {
			go func() {
				<-ctx.Done()
				done <- newSession(0)
			}()
		}
		cancel()
		for i := 0; i < 3; i++ {
			<-done
		}
		go func() { <-done }() // the last one may end later than the call
	}},
	{"more waiters", func(*testing.T) { // the runtime keeps their sudogs for reuse, and each P its own
		var ready, done sync.WaitGroup
		number++
		begin := make(chan bool)
		for i := 0; i < number/2; i++ {
			ready.Add(1)
			done.Add(1)
			go func() {
				ready.Done()
				<-begin
				done.Done()
			}()
		}
		ready.Wait()
		runtime.Gosched()
		close(begin)
		done.Wait()
	}},
	{"regexp", func(*testing.T) {
		number++
		parsed = regexp.MustCompile(fmt.Sprintf("(a|b{%d})+c*%d", 1+number%9, number))
		parsed.MatchString("aaabbbbccc")
	}},
}

func TestClean(t *testing.T) {
	for _, c := range clean {
		t.Run(c.name, func(t *testing.T) {
			begun := time.Now()
			options := []heaptest.Option{heaptest.Keep(t.TempDir())}
			switch c.name {
			case "http server", "timers", "channels", "goroutines that end", "more waiters":
				options = append(options, heaptest.Goroutines())
			}
			heaptest.NoGrowth(t, func() { c.call(t) }, options...)
			t.Logf("%.2f s", time.Since(begun).Seconds())
		})
	}
}
