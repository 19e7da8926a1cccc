// An HTTP server under load: keep-alive connections, requests in flight, TLS, sessions, templates; then dumps itself:
// httpserver FILE [SHARE], where SHARE is how much of it all, 1 unless given.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"io/ioutil"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"settle"
	"truth/record"
)

type session struct {
	id      string
	user    string
	created time.Time
	values  map[string]interface{}
	cart    []*item
	timer   *time.Timer
	cancel  context.CancelFunc
	ctx     context.Context
	visits  uint64
	last    *visit
}

type visit struct {
	path   string
	header http.Header
	form   url.Values
	prev   *visit
	agent  interface{ String() string }
}

type agent struct{ name, version string }

func (a *agent) String() string { return a.name + "/" + a.version }

type item struct {
	SKU   string
	Count int
	Price float64
	Notes []string
}

type requestKey struct{}

type store struct {
	mu       sync.RWMutex
	sessions map[string]*session
	byUser   sync.Map
	metrics  map[string]*uint64
	pool     sync.Pool
	events   chan event
	recent   []event
	logger   *log.Logger
	pages    *template.Template
}

type event struct {
	name string
	at   time.Time
	data interface{}
	s    *session
}

var (
	data  = newStore()
	hold  = make(chan struct{})
	held  int32
	world sync.WaitGroup
)

func newStore() *store {
	s := &store{sessions: map[string]*session{}, metrics: map[string]*uint64{}, events: make(chan event, 128),
		logger: log.New(ioutil.Discard, "server: ", log.LstdFlags)}
	s.pool.New = func() interface{} { return new(bytes.Buffer) }
	s.pages = template.Must(template.New("page").Funcs(template.FuncMap{"double": func(n int) int { return 2 * n }}).Parse(
		`{{define "item"}}<li>{{.SKU}}: {{double .Count}} {{range $i, $n := .Notes}}<i>{{$i}} {{$n}}</i>{{end}}</li>{{end}}` +
			`<h1>{{.user}}</h1><ul>{{range .cart}}{{template "item" .}}{{else}}nothing{{end}}</ul><a href="/?q={{.user}}">x</a>`))
	return s
}

func (st *store) count(name string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	c := st.metrics[name]
	if c == nil {
		c = new(uint64)
		st.metrics[name] = c
	}
	*c++
}

func (st *store) session(id string) *session {
	st.mu.Lock()
	defer st.mu.Unlock()
	s := st.sessions[id]
	if s == nil {
		s = &session{id: id, user: "user " + id, created: time.Now(), values: map[string]interface{}{}}
		s.ctx, s.cancel = context.WithTimeout(context.WithValue(context.Background(), requestKey{}, s), time.Hour)
		s.timer = time.AfterFunc(time.Hour, func() { st.drop(s.id) })
		st.sessions[id] = s
		st.byUser.Store(s.user, s)
	}
	return s
}

func (st *store) drop(id string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	delete(st.sessions, id)
}

func (st *store) page(w http.ResponseWriter, r *http.Request) {
	s := st.session(r.URL.Query().Get("session"))
	n, _ := strconv.Atoi(r.URL.Query().Get("n"))
	atomic.AddUint64(&s.visits, 1)
	st.mu.Lock()
	s.last = &visit{path: r.URL.Path, header: r.Header.Clone(), form: r.URL.Query(), prev: s.last, agent: &agent{"test", r.UserAgent()}}
	if s.visits > 4 && s.last.prev != nil {
		s.last.prev.prev = nil
	}
	s.cart = append(s.cart, &item{SKU: fmt.Sprintf("sku-%d", n), Count: n, Price: float64(n) / 3, Notes: []string{"note " + r.URL.RawQuery}})
	s.values[fmt.Sprint("n", n%5)] = n
	s.values["last"] = s.cart[len(s.cart)-1]
	st.mu.Unlock()
	st.count(r.URL.Path)
	b := st.pool.Get().(*bytes.Buffer)
	b.Reset()
	defer st.pool.Put(b)
	if err := st.pages.Execute(b, map[string]interface{}{"user": s.user, "cart": s.cart}); err != nil {
		st.logger.Print(err)
	}
	io.Copy(w, b)
	select {
	case st.events <- event{"page", time.Now(), s.cart, s}:
	default:
	}
}

func (st *store) api(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Session string
		Values  map[string]interface{}
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s := st.session(body.Session)
	st.mu.Lock()
	for k, v := range body.Values {
		s.values[k] = v
	}
	st.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]interface{}{"ok": true, "user": s.user})
}

// Stays in flight.
func (st *store) slow(w http.ResponseWriter, r *http.Request) {
	s := st.session(r.URL.Query().Get("session"))
	ctx, cancel := context.WithCancel(context.WithValue(r.Context(), requestKey{}, s))
	defer cancel()
	buffer := make([]byte, 2048)
	words := []string{s.id, s.user, r.Host}
	w.(http.Flusher).Flush()
	atomic.AddInt32(&held, 1)
	select {
	case <-hold:
		fmt.Fprint(w, words, len(buffer))
	case <-ctx.Done():
	}
}

func (st *store) collect() {
	for e := range st.events {
		st.mu.Lock()
		st.recent = append(st.recent, e)
		if len(st.recent) > 500 {
			st.recent = append([]event(nil), st.recent[250:]...)
		}
		st.mu.Unlock()
	}
}

func logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		defer func() { data.logger.Println(r.URL, time.Since(start)) }()
		next.ServeHTTP(w, r)
	})
}

type client struct {
	http *http.Client
	base string
	n    int
	got  map[string]int
	errs []error
}

// isClosed is errors.Is(err, net.ErrClosed), which is since 1.16.
func isClosed(err error) bool {
	return strings.Contains(err.Error(), "use of closed network connection")
}

func (c *client) get(path string) {
	r, err := c.http.Get(c.base + path)
	if err != nil {
		c.errs = append(c.errs, err)
		return
	}
	defer r.Body.Close()
	n, err := io.Copy(ioutil.Discard, r.Body)
	if err != nil && !isClosed(err) {
		c.errs = append(c.errs, err)
	}
	c.got[path] = int(n)
}

func (c *client) run(requests int, ready *sync.WaitGroup) {
	for i := 0; i < requests; i++ {
		c.get(fmt.Sprintf("/page?session=s%d&n=%d", c.n*7+i%7, i))
		b, _ := json.Marshal(map[string]interface{}{"Session": fmt.Sprint("s", c.n), "Values": map[string]interface{}{
			"a": []int{1, i}, "b": map[string]string{"x": "y"}, fmt.Sprint("c", i): "text"}})
		if r, err := c.http.Post(c.base+"/api", "application/json", bytes.NewReader(b)); err == nil {
			io.Copy(ioutil.Discard, r.Body)
			r.Body.Close()
		}
	}
	ready.Done()
	if c.n%3 == 0 {
		c.get(fmt.Sprintf("/slow?session=s%d", c.n))
	}
	<-hold
	runtime.KeepAlive(c)
}

func main() {
	share := 1.0
	if len(os.Args) > 2 {
		share, _ = strconv.ParseFloat(os.Args[2], 64)
	}
	clients := int(150*share) + 3
	mux := http.NewServeMux()
	mux.HandleFunc("/page", data.page)
	mux.HandleFunc("/api", data.api)
	mux.HandleFunc("/slow", data.slow)
	mux.Handle("/files/", http.StripPrefix("/files/", http.FileServer(http.Dir("/tmp"))))
	go data.collect()
	plain := httptest.NewServer(logged(mux))
	secure := httptest.NewUnstartedServer(logged(mux))
	secure.EnableHTTP2 = true
	secure.StartTLS()
	ticker := time.NewTicker(time.Hour)
	go func() {
		for range ticker.C {
			data.count("tick")
		}
	}()
	var ready sync.WaitGroup
	slow := 0
	for i := 0; i < clients; i++ {
		c := &client{http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2}}, base: plain.URL, n: i, got: map[string]int{}}
		if i%10 == 9 {
			t := secure.Client().Transport.(*http.Transport).Clone()
			t.ForceAttemptHTTP2 = i%20 == 9
			if !t.ForceAttemptHTTP2 {
				t.TLSClientConfig.NextProtos = []string{"http/1.1"}
				t.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
			}
			c.http = &http.Client{Transport: t, Timeout: time.Hour}
			c.base = secure.URL
		}
		if i%3 == 0 {
			slow++
		}
		ready.Add(1)
		go c.run(20, &ready)
	}
	ready.Wait()
	for atomic.LoadInt32(&held) < int32(slow) {
		time.Sleep(time.Millisecond)
	}
	settle.Settle()
	println(clients, "clients,", slow, "requests in flight,", len(data.sessions), "sessions,", runtime.NumGoroutine(), "goroutines")
	record.Dump(os.Args[1])
	if len(os.Args) > 3 { // a second dump: some sessions have gone, some have come
		data.mu.Lock()
		for id, s := range data.sessions {
			if len(id)%2 == 0 {
				s.cancel()
				s.timer.Stop()
				delete(data.sessions, id)
			}
		}
		data.mu.Unlock()
		var again sync.WaitGroup
		for i := 0; i < clients/2; i++ {
			again.Add(1)
			c := &client{http: http.DefaultClient, base: plain.URL, n: 10000 + 3*i + 1, got: map[string]int{}}
			go c.run(20, &again)
		}
		again.Wait()
		record.Dump(os.Args[3])
	}
}
