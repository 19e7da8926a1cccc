package heapdump

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// shape is what the tests look at of a dump. They must not keep dumps in
// memory: every dump would hold the ones before it.
type shape struct {
	size  int
	start []byte // what a message says, too
	end   byte
}

func (s *shape) Write(p []byte) (int, error) {
	if n := 200 - len(s.start); n > 0 {
		if n > len(p) {
			n = len(p)
		}
		s.start = append(s.start, p[:n]...)
	}
	if len(p) > 0 {
		s.end = p[len(p)-1]
	}
	s.size += len(p)
	return len(p), nil
}

func (s *shape) isDump() bool {
	return s.size > 1000 && bytes.HasPrefix(s.start, []byte("go1.")) && s.end == 0
}

// recorder is an http.ResponseWriter.
type recorder struct {
	shape
	header http.Header
	code   int
}

func newRecorder() *recorder { return &recorder{header: make(http.Header), code: http.StatusOK} }

func (r *recorder) Header() http.Header  { return r.header }
func (r *recorder) WriteHeader(code int) { r.code = code }

// newRequest is for a dump, from this machine.
func newRequest(query string) *http.Request {
	return httptest.NewRequest(http.MethodGet, "http://localhost:6060/debug/heapdump"+query, nil)
}

// get asks a server and decompresses only if told to, not by itself.
func get(t *testing.T, url, encoding string, unzip bool) (*http.Response, *shape) {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept-Encoding", encoding)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body := io.Reader(response.Body)
	if unzip {
		if body, err = gzip.NewReader(body); err != nil {
			t.Fatal(err)
		}
	}
	dump := &shape{}
	if _, err := io.Copy(dump, body); err != nil {
		t.Fatal(err)
	}
	return response, dump
}

func wantEmpty(t *testing.T, dir string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		t.Errorf("%s was left in the temporary directory", f.Name())
	}
}

func TestPlain(t *testing.T) {
	dir := t.TempDir()
	server := httptest.NewServer(New(dir, time.Second))
	defer server.Close()
	response, dump := get(t, server.URL, "identity", false)
	if response.StatusCode != http.StatusOK || !dump.isDump() {
		t.Fatalf("%s, %d bytes that are no dump: %q", response.Status, dump.size, dump.start)
	}
	if n := response.Header.Get("Content-Length"); n != strconv.Itoa(dump.size) {
		t.Errorf("Content-Length %s for %d bytes", n, dump.size)
	}
	if d := response.Header.Get("Content-Disposition"); !strings.HasPrefix(d, "attachment; filename=") || !strings.HasSuffix(d, `.dump"`) {
		t.Errorf("Content-Disposition %s", d)
	}
	wantEmpty(t, dir)
}

// TestImport: as with net/http/pprof, the import is enough.
func TestImport(t *testing.T) {
	server := httptest.NewServer(nil)
	defer server.Close()
	response, dump := get(t, server.URL+"/debug/heapdump", "identity", false)
	if response.StatusCode != http.StatusOK || !dump.isDump() {
		t.Errorf("%s, %d bytes that are no dump: %q", response.Status, dump.size, dump.start)
	}
}

func TestGzip(t *testing.T) {
	dir := t.TempDir()
	server := httptest.NewServer(New(dir, time.Second))
	defer server.Close()
	response, dump := get(t, server.URL, "deflate, GZIP;q=0.5", true)
	if e := response.Header.Get("Content-Encoding"); e != "gzip" || !dump.isDump() {
		t.Errorf("Content-Encoding %q, %d bytes", e, dump.size)
	}
	wantEmpty(t, dir)
}

func TestAcceptsGzip(t *testing.T) {
	for accept, want := range map[string]bool{
		"":                       false,
		"gzip":                   true,
		"br, gzip":               true,
		"gzip;":                  true,
		"gzip;q=0":               false,
		"gzip; q=0.000":          false,
		"gzip;q=0.001":           true,
		"x-gzip-like, identity":  false,
		"deflate;q=0,gzip;q=1.0": true,
	} {
		if got := acceptsGzip(accept); got != want {
			t.Errorf("acceptsGzip(%q) = %v", accept, got)
		}
	}
}

func TestRefused(t *testing.T) {
	h := New(t.TempDir(), time.Second)
	for _, c := range []struct {
		method, query, site string
		want                int
	}{
		{http.MethodHead, "", "", http.StatusMethodNotAllowed},
		{http.MethodPost, "", "", http.StatusMethodNotAllowed},
		{http.MethodGet, "?gc=maybe", "", http.StatusBadRequest},
		{http.MethodGet, "", "cross-site", http.StatusForbidden},
		{http.MethodGet, "", "same-site", http.StatusForbidden},
		{http.MethodGet, "", "anything", http.StatusForbidden},
		{http.MethodGet, "?gc=0", "none", http.StatusOK},
		{http.MethodGet, "?gc=0", "same-origin", http.StatusOK},
	} {
		r := newRequest(c.query)
		r.Method = c.method
		r.Header.Set("Sec-Fetch-Site", c.site)
		w := newRecorder()
		h.ServeHTTP(w, r)
		if w.code != c.want {
			t.Errorf("%s %q from %q: %d, want %d", c.method, c.query, c.site, w.code, c.want)
		}
	}
}

// TestHosts: once its page is loaded, the name of evil.example may be made to
// lead to 127.0.0.1. Its requests are of the same origin then.
func TestHosts(t *testing.T) {
	h := New(t.TempDir(), time.Second)
	h.Hosts = []string{"Operator.internal"}
	for host, want := range map[string]int{
		"localhost":                   http.StatusOK,
		"LocalHost:6060":              http.StatusOK,
		"localhost.":                  http.StatusOK,
		"app.localhost:80":            http.StatusOK,
		"127.0.0.1:6060":              http.StatusOK,
		"10.1.2.3":                    http.StatusOK,
		"[::1]:6060":                  http.StatusOK,
		"[fe80::1%25eth0]:6060":       http.StatusOK,
		"[::1]":                       http.StatusOK,
		"operator.INTERNAL:6060":      http.StatusOK,
		"operator.internal":           http.StatusOK,
		"":                            http.StatusForbidden,
		":6060":                       http.StatusForbidden,
		"evil.example":                http.StatusForbidden,
		"evil.example:6060":           http.StatusForbidden,
		"localhost.evil.example":      http.StatusForbidden,
		"evillocalhost":               http.StatusForbidden,
		"127.0.0.1.evil.example":      http.StatusForbidden,
		"operator.internal.evil.org":  http.StatusForbidden,
		"notoperator.internal":        http.StatusForbidden,
		"evil.example:6060@localhost": http.StatusForbidden,
	} {
		r := newRequest("")
		r.Host = host
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		w := newRecorder()
		h.ServeHTTP(w, r)
		if w.code != want || w.isDump() != (want == http.StatusOK) {
			t.Errorf("host %q: %d, want %d", host, w.code, want)
		}
	}
}

// stuckDeadline is a client's connection that takes a few writes and no more:
// then they wait until their deadline.
type stuckDeadline struct {
	*recorder
	writes   int
	deadline time.Time
}

func (w *stuckDeadline) SetWriteDeadline(deadline time.Time) error {
	w.deadline = deadline
	return nil
}

func (w *stuckDeadline) Write(p []byte) (int, error) {
	if w.writes--; w.writes > 0 {
		return w.recorder.Write(p)
	}
	if w.deadline.IsZero() {
		return 0, errors.New("would wait for ever")
	}
	time.Sleep(time.Until(w.deadline))
	return 0, os.ErrDeadlineExceeded
}

// wrapped is what a middleware makes of a response.
type wrapped struct{ http.ResponseWriter }

func (w wrapped) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// TestStall: each write has a deadline of its own.
func TestStall(t *testing.T) {
	for _, encoding := range []string{"", "gzip"} {
		dir := t.TempDir()
		h := New(dir, time.Minute)
		h.Stall = 20 * time.Millisecond
		w := &stuckDeadline{recorder: newRecorder(), writes: 3}
		r := newRequest("")
		r.Header.Set("Accept-Encoding", encoding)
		before := time.Now()
		func() {
			defer func() {
				if err, _ := recover().(error); !errors.Is(err, http.ErrAbortHandler) {
					t.Errorf("the handler ended with %v instead of aborting", err)
				}
			}()
			h.ServeHTTP(wrapped{w}, r)
		}()
		if w.deadline.Before(before.Add(h.Stall)) {
			t.Errorf("the deadline was %v after the start, want more than %v", w.deadline.Sub(before), h.Stall)
		}
		wantEmpty(t, dir)
		if len(h.busy) != 0 {
			t.Error("a client that stopped reading keeps the others waiting")
		}
	}
}

var ballast []byte

// TestStuckClient: one that asks and does not read, over a connection.
func TestStuckClient(t *testing.T) {
	ballast = make([]byte, 64<<20) // more than is on its way in a connection
	defer func() {
		ballast = nil
		runtime.GC() // else it is in all dumps to come
	}()
	h := New(t.TempDir(), time.Minute)
	h.Stall = 50 * time.Millisecond
	canDeadline, aborted := make(chan bool, 2), make(chan bool, 2)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		canDeadline <- deadliner(w) != nil
		if deadliner(w) == nil {
			return
		}
		finished := false
		defer func() { aborted <- !finished }()
		h.ServeHTTP(w, r)
		finished = true
	}))
	defer server.Close()
	address := server.Listener.Addr().String()
	stuck, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer stuck.Close()
	fmt.Fprintf(stuck, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", address)
	if !<-canDeadline {
		t.Skip("this Go's handlers have no deadlines")
	}
	select {
	case ok := <-aborted:
		if !ok {
			t.Error("a client that does not read has been sent everything")
		}
	case <-time.After(time.Minute):
		t.Fatal("a client that does not read is never given up")
	}
	h.Stall = time.Minute
	response, dump := get(t, server.URL, "identity", false)
	if response.StatusCode != http.StatusOK || !dump.isDump() {
		t.Errorf("the next one got %s, %d bytes", response.Status, dump.size)
	}
}

func TestConcurrent(t *testing.T) {
	dir := t.TempDir()
	server := httptest.NewServer(New(dir, time.Minute))
	defer server.Close()
	var wg sync.WaitGroup
	for i := 0; i < 8; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			response, err := http.Get(server.URL)
			if err != nil {
				t.Error(err)
				return
			}
			defer response.Body.Close()
			dump := &shape{}
			_, err = io.Copy(dump, response.Body)
			if err != nil || response.StatusCode != http.StatusOK || !dump.isDump() {
				t.Errorf("%s, %d bytes, %v: %q", response.Status, dump.size, err, dump.start)
			}
		}()
	}
	wg.Wait()
	wantEmpty(t, dir)
}

func TestBusy(t *testing.T) {
	h := New(t.TempDir(), time.Millisecond)
	h.busy <- struct{}{}
	w := newRecorder()
	h.ServeHTTP(w, newRequest(""))
	if w.code != http.StatusServiceUnavailable || w.header.Get("Retry-After") == "" {
		t.Errorf("%d, Retry-After %q", w.code, w.header.Get("Retry-After"))
	}
	<-h.busy
}

// cancelWriter is a client that goes away after the first bytes.
type cancelWriter struct {
	*recorder
	cancel func()
}

func (w *cancelWriter) Write(p []byte) (int, error) {
	w.cancel()
	return w.recorder.Write(p)
}

func TestCanceled(t *testing.T) {
	dir := t.TempDir()
	h := New(dir, time.Minute)
	ctx, cancel := context.WithCancel(context.Background())
	r := newRequest("").WithContext(ctx)
	func() {
		defer func() {
			if err, _ := recover().(error); !errors.Is(err, http.ErrAbortHandler) {
				t.Errorf("the handler ended with %v instead of aborting", err)
			}
		}()
		h.ServeHTTP(&cancelWriter{newRecorder(), cancel}, r)
	}()
	wantEmpty(t, dir)

	// Neither a finished nor a given-up request may block those after it.
	w := newRecorder()
	h.ServeHTTP(w, r)
	if w.code != http.StatusServiceUnavailable {
		t.Errorf("a request given up before its turn got %d", w.code)
	}
	w = newRecorder()
	h.ServeHTTP(w, newRequest(""))
	if w.code != http.StatusOK || !w.isDump() {
		t.Errorf("the next request got %d and %d bytes", w.code, w.size)
	}
}

func TestNoDirectory(t *testing.T) {
	w := newRecorder()
	New(t.TempDir()+"/missing", time.Second).ServeHTTP(w, newRequest(""))
	if w.code != http.StatusInternalServerError {
		t.Errorf("%d without a directory for the file", w.code)
	}
}

func TestGC(t *testing.T) {
	h := New(t.TempDir(), time.Second)
	collected := func(query string) bool {
		done := make(chan struct{})
		runtime.SetFinalizer(&[1 << 10]*int{}, func(*[1 << 10]*int) { close(done) })
		h.ServeHTTP(newRecorder(), newRequest(query))
		select {
		case <-done:
			return true
		case <-time.After(5 * time.Second):
			return false
		}
	}
	if !collected("?gc=1") {
		t.Error("gc=1 did not collect a dead object")
	}
}
