// Package heapdump serves heap dumps of the running program over HTTP.
//
// A heap dump is a copy of the whole heap: passwords, keys and customers' data
// are in it. Serve it on a listener that only the operator reaches, such as
// localhost:6060, never on the public mux. Treat the file like a core dump.
//
// While a dump is written the world is stopped: some seconds per GiB of heap,
// during which the program answers nothing.
//
// In Go 1.26 and 1.27 the runtime ends the process ("dumpgs in STW - bad
// status") when a goroutine returns from a system call at the very moment the
// dump reaches it. That is rare, but take no dump of a process whose death
// would hurt.
package heapdump

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// Handler answers GET with a heap dump in the format of
// [runtime/debug.WriteHeapDump]. With ?gc=1 the garbage collector runs first,
// so that the dump holds less garbage. The body is compressed if the client
// accepts gzip.
//
// One request is served at a time; the others wait. Neither two stops of the
// world in a row nor several dumps on one disk do a program any good.
type Handler struct {
	dir  string
	wait time.Duration
	busy chan struct{} // holds a value while a request is being served
}

// New returns a handler that keeps its temporary files in dir, or in
// os.TempDir if dir is empty. The file is as large as the heap: choose a real
// disk, since /tmp is memory on many machines. A request that has waited for
// another one longer than wait is answered 503.
func New(dir string, wait time.Duration) *Handler {
	return &Handler{dir: dir, wait: wait, busy: make(chan struct{}, 1)}
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// HEAD would stop the world for nothing, and POST promises a change.
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "only GET gives a heap dump", http.StatusMethodNotAllowed)
		return
	}
	// A page in the operator's browser can reach localhost, too.
	if r.Header.Get("Sec-Fetch-Site") == "cross-site" {
		http.Error(w, "no heap dump for other sites", http.StatusForbidden)
		return
	}
	gc := false
	if v := r.URL.Query().Get("gc"); v != "" {
		var err error
		if gc, err = strconv.ParseBool(v); err != nil {
			http.Error(w, "gc wants 0 or 1", http.StatusBadRequest)
			return
		}
	}

	if err := h.acquire(r.Context()); err != nil {
		w.Header().Set("Retry-After", "10")
		http.Error(w, "heap dump: "+err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer func() { <-h.busy }()

	file, size, err := h.write(gc)
	if err != nil {
		http.Error(w, "heap dump: "+err.Error(), http.StatusInternalServerError)
		return
	}
	defer remove(file)
	send(w, r, file, size)
}

// acquire waits for the requests before this one.
func (h *Handler) acquire(ctx context.Context) error {
	// With both ready, select would choose at random.
	if err := ctx.Err(); err != nil {
		return err
	}
	timeout := time.NewTimer(h.wait)
	defer timeout.Stop()
	select {
	case h.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timeout.C:
		return errors.New("another one is being taken")
	}
}

// write dumps into a temporary file that is rewound to its start.
//
// The detour is necessary: with a pipe or a socket the world would stand still
// for as long as the client takes, for ever if the reader is this process.
func (h *Handler) write(gc bool) (file *os.File, size int64, err error) {
	file, err = os.CreateTemp(h.dir, "heap-*.dump")
	if err != nil {
		return nil, 0, err
	}
	// From here on the file has no name and goes away with its descriptor,
	// even if the process is killed. Windows refuses; see remove.
	os.Remove(file.Name())

	if gc {
		runtime.GC()
	}
	debug.WriteHeapDump(file.Fd())

	if size, err = check(file); err != nil {
		remove(file)
		return nil, 0, err
	}
	return file, size, nil
}

// check rewinds a dump and returns its size. WriteHeapDump reports no errors,
// but the last byte of a whole dump is the tag of its end, 0.
func check(file *os.File) (int64, error) {
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	end := []byte{1}
	if size > 0 {
		if _, err := file.ReadAt(end, size-1); err != nil {
			return 0, err
		}
	}
	if end[0] != 0 {
		return 0, fmt.Errorf("cut after %d bytes, is %s full?", size, filepath.Dir(file.Name()))
	}
	_, err = file.Seek(0, io.SeekStart)
	return size, err
}

func remove(file *os.File) {
	file.Close()
	os.Remove(file.Name())
}

// send streams the dump. The world runs again by now. A server's WriteTimeout
// has to leave time for it.
func send(w http.ResponseWriter, r *http.Request, file io.Reader, size int64) {
	name := fmt.Sprintf("%s.%s.dump", filepath.Base(os.Args[0]), time.Now().UTC().Format("20060102T150405Z"))
	header := w.Header()
	header.Set("Content-Type", "application/octet-stream")
	header.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name))
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Vary", "Accept-Encoding")

	body := &contextReader{r.Context(), file}
	var err error
	if acceptsGzip(r.Header.Get("Accept-Encoding")) {
		header.Set("Content-Encoding", "gzip")
		// The fastest level: it already halves the size and more.
		z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
		if _, err = io.Copy(z, body); err == nil {
			err = z.Close()
		}
	} else {
		header.Set("Content-Length", strconv.FormatInt(size, 10))
		_, err = io.Copy(w, body)
	}
	if err != nil {
		// The status is long gone: breaking the connection is the only way
		// to keep the client from taking a part for the whole.
		panic(http.ErrAbortHandler)
	}
}

// contextReader fails once its context is done.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// acceptsGzip understands what clients really send: "gzip, deflate, br;q=0.8".
func acceptsGzip(accept string) bool {
	for _, coding := range strings.Split(accept, ",") {
		params := strings.Split(coding, ";")
		if !strings.EqualFold(strings.TrimSpace(params[0]), "gzip") {
			continue
		}
		for _, p := range params[1:] {
			p = strings.ToLower(strings.TrimSpace(p))
			if strings.HasPrefix(p, "q=0") && strings.Trim(p, "q=0.") == "" {
				return false
			}
		}
		return true
	}
	return false
}
