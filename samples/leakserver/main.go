// Leakserver is a small auction server with three leaks, to practise on.
//
//	leakserver [-listen localhost:8080] [-debug localhost:6060]
//	leakserver -self-test DIR
//
// Bidders watch auctions (GET /watch?auction=lamp&wait=5s answers with the next
// bid), ask for valuations (GET /value?auction=lamp) and look at previews
// (GET /preview?auction=lamp&width=640). The operator gets a heap dump with
//
//	curl -f -o leak.1.dump 'http://localhost:6060/debug/heapdump?gc=1'
//
// With -self-test the server talks to itself: some traffic, a dump to
// DIR/leak.1.dump, more of the same traffic, a dump to DIR/leak.2.dump.
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"go2heapsnapshot.invalid/heapdump"
)

// Bid is an event that watchers wait for.
type Bid struct {
	Auction string
	Bidder  string
	Cents   int64
	At      time.Time
}

// Session is what the server knows of a client.
type Session struct {
	Token   string
	Client  string
	Agent   string
	Seen    []string // auctions
	Started time.Time
}

// Watcher is one subscription to an auction's bids.
type Watcher struct {
	ID      uint64
	Session *Session
	Bids    chan *Bid
}

// Auction is a thing for sale and those who follow its price.
type Auction struct {
	Name string

	mu       sync.Mutex
	best     *Bid
	watchers map[uint64]*Watcher
	next     uint64
}

// Watch subscribes a session to bids; Unwatch ends that.
func (a *Auction) Watch(s *Session) *Watcher {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.next++
	w := &Watcher{ID: a.next, Session: s, Bids: make(chan *Bid, 4)}
	a.watchers[w.ID] = w
	return w
}

// Unwatch ends the subscription.
func (a *Auction) Unwatch(w *Watcher) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.watchers, w.ID)
}

// Place tells all watchers of a bid. It does not wait for those who are slow,
// which is why nobody notices the ones who are gone.
func (a *Auction) Place(b *Bid) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.best = b
	for _, w := range a.watchers {
		select {
		case w.Bids <- b:
		default:
		}
	}
}

// Server is the house. Its auctions are fixed, so that the map needs no lock.
type Server struct {
	auctions map[string]*Auction
}

// NewServer opens a house with an auction for every name.
func NewServer(names ...string) *Server {
	s := &Server{auctions: make(map[string]*Auction)}
	for _, n := range names {
		s.auctions[n] = &Auction{Name: n, watchers: make(map[uint64]*Watcher)}
	}
	return s
}

// Handler serves the public.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/watch", s.watch)
	mux.HandleFunc("/value", s.value)
	mux.HandleFunc("/preview", s.preview)
	return mux
}

func (s *Server) watch(w http.ResponseWriter, r *http.Request) {
	auction := s.auctions[r.FormValue("auction")]
	wait, err := time.ParseDuration(r.FormValue("wait"))
	if auction == nil || err != nil {
		http.Error(w, "watch what, and how long?", http.StatusBadRequest)
		return
	}
	watcher := auction.Watch(&Session{
		Token:   fmt.Sprintf("%016x", rand.Uint64()),
		Client:  r.RemoteAddr,
		Agent:   r.UserAgent(),
		Seen:    []string{auction.Name},
		Started: time.Now(),
	})

	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	select {
	case b := <-watcher.Bids:
		auction.Unwatch(watcher)
		fmt.Fprintf(w, "%s: %d by %s\n", b.Auction, b.Cents, b.Bidder)
	case <-timeout.C:
		// LEAK: no Unwatch here. The auction keeps the watcher, its session
		// and its channel with the next four bids, for ever. A
		// "defer auction.Unwatch(watcher)" after Watch is the cure.
		fmt.Fprintln(w, "no bid")
	case <-r.Context().Done():
		auction.Unwatch(watcher)
	}
}

// Valuation is an expert's opinion.
type Valuation struct {
	Auction *Auction
	Cents   int64
	Reasons [64]string
}

func (s *Server) value(w http.ResponseWriter, r *http.Request) {
	auction := s.auctions[r.FormValue("auction")]
	if auction == nil {
		http.Error(w, "value what?", http.StatusBadRequest)
		return
	}
	// LEAK: without a buffer the expert waits for ever for a handler that has
	// given up. "make(chan *Valuation, 1)" is the cure.
	answer := make(chan *Valuation)
	go ask(auction, answer)
	select {
	case v := <-answer:
		fmt.Fprintf(w, "%s: %d\n", v.Auction.Name, v.Cents)
	case <-time.After(time.Millisecond):
		http.Error(w, "the expert thinks too long", http.StatusGatewayTimeout)
	}
}

func ask(auction *Auction, answer chan<- *Valuation) {
	v := &Valuation{Auction: auction, Cents: int64(len(auction.Name)) * 1000}
	time.Sleep(5 * time.Millisecond) // thinks too long
	answer <- v
}

// Preview is the picture of a thing, in some width.
type Preview struct {
	Auction *Auction
	Width   int
	Pixels  []byte
}

// previews are those that somebody has asked for: "lamp, 640 wide".
var previews struct {
	mu     sync.Mutex
	byName map[string]*Preview
}

func (s *Server) preview(w http.ResponseWriter, r *http.Request) {
	auction := s.auctions[r.FormValue("auction")]
	width, err := strconv.Atoi(r.FormValue("width"))
	if auction == nil || err != nil || width < 1 || width > 4096 {
		http.Error(w, "preview of what, and how wide?", http.StatusBadRequest)
		return
	}
	name := fmt.Sprintf("%s, %d wide", auction.Name, width)
	previews.mu.Lock()
	defer previews.mu.Unlock()
	p := previews.byName[name]
	if p == nil {
		// LEAK: a cache that forgets nothing, with keys that anybody can make
		// up. A few fixed widths are the cure, or a bound on the cache.
		p = &Preview{Auction: auction, Width: width, Pixels: make([]byte, width)}
		if previews.byName == nil {
			previews.byName = make(map[string]*Preview)
		}
		previews.byName[name] = p
	}
	w.Write(p.Pixels)
}

// bid keeps the auctions going.
func (s *Server) bid(every time.Duration) {
	for cents := int64(100); ; cents += 10 {
		for _, a := range s.auctions {
			a.Place(&Bid{Auction: a.Name, Bidder: "phone", Cents: cents, At: time.Now()})
		}
		time.Sleep(every)
	}
}

func run() error {
	public := flag.String("listen", "localhost:8080", "serve bidders at this `address`")
	debug := flag.String("debug", "localhost:6060", "serve /debug/heapdump at this `address`; only the operator may reach it")
	test := flag.String("self-test", "", "send requests to itself, write leak.1.dump and leak.2.dump to this `directory`, and end")
	flag.Parse()

	if *test != "" {
		*public, *debug = "127.0.0.1:0", "127.0.0.1:0"
	}
	server := NewServer("lamp", "clock", "chair", "globe")
	listener, err := net.Listen("tcp", *public)
	if err != nil {
		return err
	}
	debugListener, err := net.Listen("tcp", *debug)
	if err != nil {
		return err
	}
	// The dumps have a mux and a listener of their own: nothing public gets
	// near them by accident.
	debugMux := http.NewServeMux()
	dumps := heapdump.New("", time.Minute)
	if host, _, err := net.SplitHostPort(*debug); err == nil {
		dumps.Hosts = []string{host}
	}
	debugMux.Handle("/debug/heapdump", dumps)

	ended := make(chan error, 3)
	go func() { ended <- http.Serve(listener, server.Handler()) }()
	go func() { ended <- http.Serve(debugListener, debugMux) }()
	if *test != "" {
		go func() {
			ended <- selfTest(server, "http://"+listener.Addr().String(),
				"http://"+debugListener.Addr().String()+"/debug/heapdump", *test)
		}()
	} else {
		log.Printf("bidders: http://%s/watch, operator: http://%s/debug/heapdump", listener.Addr(), debugListener.Addr())
		go server.bid(10 * time.Second)
	}
	return <-ended
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "leakserver:", err)
		os.Exit(1)
	}
}
