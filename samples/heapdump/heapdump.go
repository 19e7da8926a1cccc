// Package heapdump serves heap dumps of the running program over HTTP.
//
// A heap dump is a copy of the whole heap: passwords, keys and customers' data
// are in it. Serve it on a listener that only the operator reaches, such as
// localhost:6060, never on the public mux. Treat the file like a core dump.
//
// As with net/http/pprof, a program that serves [http.DefaultServeMux] to its
// operator needs no more than the import:
//
//	import _ "go2heapsnapshot.invalid/heapdump"
//
// The handler is then at /debug/heapdump. Others take a handler from [New].
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
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

func init() {
	http.Handle("/debug/heapdump", New("", time.Minute))
}

// Handler answers GET with a heap dump in the format of
// [runtime/debug.WriteHeapDump]. With ?gc=1 the garbage collector runs first,
// so that the dump holds less garbage. The body is compressed if the client
// accepts gzip.
//
// One request is served at a time; the others wait. Neither two stops of the
// world in a row nor several dumps on one disk do a program any good.
//
// A page that the operator's browser shows can reach localhost, too. So
// requests are refused that come from other sites, or that name a host by
// which nobody asks but a page whose name has been made to lead here.
type Handler struct {
	// Hosts are names by which the server may be asked, without ports, beside
	// localhost and IP addresses.
	Hosts []string
	// Stall is how long a client may take for the next part of a dump, 32 KB
	// or less, before it is given up; 0 is for ever. It replaces a server's
	// WriteTimeout. Before Go 1.20 handlers have no deadlines: there a server
	// needs a WriteTimeout, or a client that stops reading keeps all others
	// waiting.
	Stall time.Duration

	dir  string
	wait time.Duration
	busy chan struct{} // holds a value while a request is being served
}

// New returns a handler that keeps its temporary files in dir, or in
// os.TempDir if dir is empty. The file is as large as the heap: choose a real
// disk, since /tmp is memory on many machines. A request that has waited for
// another one longer than wait is answered 503.
func New(dir string, wait time.Duration) *Handler {
	return &Handler{Stall: 30 * time.Second, dir: dir, wait: wait, busy: make(chan struct{}, 1)}
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// HEAD would stop the world for nothing, and POST promises a change.
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "only GET gives a heap dump", http.StatusMethodNotAllowed)
		return
	}
	// What is no browser says nothing of sites.
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "none" && site != "same-origin" {
		http.Error(w, "no heap dump for other sites", http.StatusForbidden)
		return
	}
	if !h.isOwnHost(r.Host) {
		http.Error(w, fmt.Sprintf("no heap dump for who asks for %q: ask localhost or an address, or add the name to Handler.Hosts", r.Host),
			http.StatusForbidden)
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
	send(&progressWriter{w, deadliner(w), h.Stall}, r, file, size)
}

// isOwnHost tells whether nobody else can have given the server this name: a
// page of evil.example, whose name leads to 127.0.0.1 once the page is loaded,
// is of the same origin and may read the answer.
func (h *Handler) isOwnHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	if _, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")); err == nil {
		return true
	}
	for _, own := range h.Hosts {
		if host == strings.ToLower(own) {
			return true
		}
	}
	return false
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
	writeHeapDump(file)

	if size, err = check(file); err != nil {
		remove(file)
		return nil, 0, err
	}
	return file, size, nil
}

// writeHeapDump is another one in tests.
var writeHeapDump = func(file *os.File) { debug.WriteHeapDump(file.Fd()) }

// check rewinds a dump and returns its size. The world runs again by now.
func check(file *os.File) (int64, error) {
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	if err := Check(file); err != nil {
		return 0, fmt.Errorf("incomplete, is %s full? %d bytes: %w", filepath.Dir(file.Name()), size, err)
	}
	_, err = file.Seek(0, io.SeekStart)
	return size, err
}

func remove(file *os.File) {
	file.Close()
	os.Remove(file.Name())
}

// send streams the dump.
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

// deadliner gives what can set the deadline of a response: since Go 1.20 that
// of a server's connection, also within those that wrap it; else nil.
func deadliner(w http.ResponseWriter) (d interface{ SetWriteDeadline(time.Time) error }) {
	for {
		if d, ok := w.(interface{ SetWriteDeadline(time.Time) error }); ok {
			return d
		}
		wrapper, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return nil
		}
		w = wrapper.Unwrap()
	}
}

// progressWriter gives each part of a response its own deadline.
type progressWriter struct {
	http.ResponseWriter
	deadline interface{ SetWriteDeadline(time.Time) error }
	stall    time.Duration
}

func (p *progressWriter) Write(b []byte) (int, error) {
	if p.deadline != nil && p.stall > 0 {
		if err := p.deadline.SetWriteDeadline(time.Now().Add(p.stall)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return 0, err
		}
	}
	return p.ResponseWriter.Write(b)
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
