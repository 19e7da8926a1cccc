package heapdump

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
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
	start []byte
	end   byte
}

func (s *shape) Write(p []byte) (int, error) {
	if n := 16 - len(s.start); n > 0 {
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
		t.Fatalf("%s, %d bytes that are no dump", response.Status, dump.size)
	}
	if n := response.Header.Get("Content-Length"); n != strconv.Itoa(dump.size) {
		t.Errorf("Content-Length %s for %d bytes", n, dump.size)
	}
	if d := response.Header.Get("Content-Disposition"); !strings.HasPrefix(d, "attachment; filename=") || !strings.HasSuffix(d, `.dump"`) {
		t.Errorf("Content-Disposition %s", d)
	}
	wantEmpty(t, dir)
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
	} {
		r := httptest.NewRequest(c.method, "/debug/heapdump"+c.query, nil)
		r.Header.Set("Sec-Fetch-Site", c.site)
		w := newRecorder()
		h.ServeHTTP(w, r)
		if w.code != c.want {
			t.Errorf("%s %q from %q: %d, want %d", c.method, c.query, c.site, w.code, c.want)
		}
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
				t.Errorf("%s, %d bytes, %v", response.Status, dump.size, err)
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
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
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
	r := httptest.NewRequest(http.MethodGet, "/", nil).WithContext(ctx)
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
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if w.code != http.StatusOK || !w.isDump() {
		t.Errorf("the next request got %d and %d bytes", w.code, w.size)
	}
}

func TestNoDirectory(t *testing.T) {
	w := newRecorder()
	New(t.TempDir()+"/missing", time.Second).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if w.code != http.StatusInternalServerError {
		t.Errorf("%d without a directory for the file", w.code)
	}
}

func TestGC(t *testing.T) {
	h := New(t.TempDir(), time.Second)
	collected := func(query string) bool {
		done := make(chan struct{})
		runtime.SetFinalizer(&[1 << 10]*int{}, func(*[1 << 10]*int) { close(done) })
		h.ServeHTTP(newRecorder(), httptest.NewRequest(http.MethodGet, "/"+query, nil))
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
