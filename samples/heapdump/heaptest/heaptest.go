// Package heaptest fails a test if calling a function makes the heap grow.
//
//	func TestNoLeak(t *testing.T) {
//		heaptest.NoGrowth(t, func() { handleRequest() })
//	}
//
// It calls the function many times, writes heap dumps of its own process in
// between, and has go2heapsnapshot compare them. The test fails if anything
// grows from each dump to the next, and names the variable that holds it:
//
//	grows: main › sessions › map[int]*main.Session › main.Session: +1.00 object and 312 B per call, held by main.sessions[7]
//
// Garbage and memory that is reused do not count. A cache that is still filling
// does: give [WarmUp] enough calls to fill it, or [Allow] it.
//
// The program is $GO2HEAPSNAPSHOT, or go2heapsnapshot in PATH. Without it the
// test fails, because a test that says "ok" has found no leak; where that is
// not wanted, HEAPTEST=skip skips it, unless $CI is true, as CI services set it.
//
// The heap of the whole process is compared. Tests that call NoGrowth run one
// after the other; other tests must not run at the same time (t.Parallel).
//
// In Go 1.26 and 1.27 there is a small chance that the runtime ends the process
// during a dump ("dumpgs in STW - bad status"), if a goroutine returns from a
// system call at that moment.
package heaptest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"
	"testing"
)

// Fewer than six heaps are not conclusive: see docs/watch.md.
const leastLoops, mostLoops = 5, 50

// With twelve loops or more, go2heapsnapshot reports any growth; with fewer only
// growth of a thousandth of the heap. So large heaps get more loops.
const (
	largeHeap  = 4 << 20
	loopsSmall = 6
	loopsLarge = 12
)

type config struct {
	loops, calls, warmUp int
	perCall              float64
	allowed              []*regexp.Regexp
	goroutines, doubling bool
	keep                 string
}

// Option changes what [NoGrowth] does.
type Option func(*config)

// Loops sets how many intervals are compared, 5 to 50. A dump is written
// before the first one and after each. The default is 6, and 12 if the heap has
// more than 4 MiB.
func Loops(n int) Option { return func(c *config) { c.loops = n } }

// Calls sets how many calls there are in an interval. The default is 25. A leak
// that happens less often than once in 25 calls needs more of them.
func Calls(n int) Option { return func(c *config) { c.calls = n } }

// WarmUp sets how many calls come before the first dump. The default is twice
// as many as [Calls].
func WarmUp(n int) Option { return func(c *config) { c.warmUp = n } }

// Doubling makes each loop have twice as many calls as the one before, and the
// warm-up as many as the first one. Then an array or a map without pointers that
// grows is found: it is a single object that only becomes larger each time it is
// full. With six loops of 25 to 800 calls, all calls are 1,600.
func Doubling() Option { return func(c *config) { c.doubling = true } }

// PerCall sets the number of bytes by which a place may grow per call. The
// default is 0: anything that grows in every interval fails the test.
func PerCall(bytes float64) Option { return func(c *config) { c.perCall = bytes } }

// Allow ignores growth whose line, from what follows "grows: ", matches one of
// the regular expressions, such as `^main › cache ›`. Without symbols, which go
// test strips, match types rather than variables: `map\[string\]\*main.entry`.
// It panics if an expression is invalid.
func Allow(patterns ...string) Option {
	return func(c *config) {
		for _, p := range patterns {
			c.allowed = append(c.allowed, regexp.MustCompile(p))
		}
	}
}

// Goroutines also fails the test if more goroutines than before can never run
// again, even if their number did not grow in every interval. Goroutines whose
// number grows in every interval always fail it.
func Goroutines() Option { return func(c *config) { c.goroutines = true } }

// Keep sets the directory in which a failed test leaves its dumps and its page,
// in a directory of their own. The default is $HEAPTEST_DIR, or os.TempDir.
func Keep(dir string) Option { return func(c *config) { c.keep = dir } }

// running is locked during NoGrowth: a process has only one heap.
var running sync.Mutex

// NoGrowth calls a function many times, and fails the test if that makes the
// heap grow.
func NoGrowth(t testing.TB, call func(), options ...Option) {
	t.Helper()
	c := config{calls: 25, warmUp: -1, keep: os.Getenv("HEAPTEST_DIR")}
	for _, option := range options {
		option(&c)
	}
	if c.calls < 1 || (c.loops != 0 && c.loops > mostLoops) || (c.loops != 0 && c.loops < leastLoops) {
		t.Fatalf("heaptest: needs at least one call, and %d to %d loops", leastLoops, mostLoops)
		return
	}
	program, err := findProgram()
	if err != nil {
		if os.Getenv("HEAPTEST") == "skip" && !isCI() {
			t.Skipf("heaptest: skipped: %v", err)
		} else {
			t.Fatalf("heaptest: %v; HEAPTEST=skip skips the test", err)
		}
		return
	}
	running.Lock()
	defer running.Unlock()

	s := &series{program: program}
	if s.exe, err = os.Executable(); err != nil {
		t.Fatalf("heaptest: %v", err)
		return
	}
	if s.dir, err = os.MkdirTemp(c.keep, directoryPattern(t.Name())); err != nil {
		t.Fatalf("heaptest: %v", err)
		return
	}
	isKept := false
	defer func() {
		if !isKept {
			os.RemoveAll(s.dir) // also if the function panics or ends the test
		}
	}()
	if err := s.take(&c, call); err != nil {
		t.Fatalf("heaptest: %v", err)
		return
	}
	found, err := s.compare(&c)
	if err != nil {
		t.Fatalf("heaptest: %v", err)
		return
	}
	if len(found) > 0 {
		isKept = true
		t.Error(s.message(&c, found))
	}
}

// callsOf returns how many calls a loop has.
func (c *config) callsOf(loop int) int {
	if c.doubling {
		return c.calls << loop
	}
	return c.calls
}

// take writes the dumps.
func (s *series) take(c *config, call func()) error {
	repeat := func(n int) {
		for i := 0; i < n; i++ {
			call()
		}
	}
	if c.warmUp < 0 {
		c.warmUp = 2 * c.calls
		if c.doubling {
			c.warmUp = c.calls
		}
	}
	repeat(c.warmUp)
	settle()
	if c.loops == 0 {
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		c.loops = loopsSmall
		if stats.HeapAlloc > largeHeap && !c.doubling {
			c.loops = loopsLarge
		}
	}
	// Allocate all names before the first dump, so that they are not growth.
	for i := 0; i <= c.loops; i++ {
		s.names = append(s.names, filepath.Join(s.dir, fmt.Sprintf("%02d.dump", i)))
	}
	for i, name := range s.names {
		if i > 0 {
			repeat(c.callsOf(i - 1))
			settle()
		}
		if err := writeDump(name); err != nil {
			return err
		}
	}
	return nil
}
