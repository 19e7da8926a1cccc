package leaks

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go2heapsnapshot.invalid/heapdump/heaptest"
)

func leakSession() { number++; sessions[number] = newSession(number) }

// TestAllowed: of two places that grow, one is allowed by its name and the other by its size.
func TestAllowed(t *testing.T) {
	var held []*[5]int
	allowed := []heaptest.Option{heaptest.Allow("no such place", `map\[int\]\*leaks\.session › `), heaptest.PerCall(100)}
	if r, _ := record(t, func() { leakSession(); held = append(held, new([5]int)) }, allowed...); r.failed != "" {
		t.Error(r.failed)
	}
	runtime.KeepAlive(&held)
}

func TestLoops(t *testing.T) {
	if r, _ := record(t, leakSession, heaptest.Loops(4)); !strings.Contains(r.failed, "5 to 50 loops") {
		t.Errorf("4 loops: %q", r.failed)
	}
	calls := 0
	r, _ := record(t, func() { calls++; leakSession() }, heaptest.Loops(5), heaptest.Calls(10), heaptest.WarmUp(7))
	if calls != 7+5*10 || !strings.Contains(r.failed, "\nin each of 5 loops of 10 calls, after 7 to warm up\n") {
		t.Errorf("%d calls: %s", calls, r.failed)
	}
}

var fixture []*[1 << 16]byte

// TestLargeHeap: beside 4.6 MB, 40 bytes per call are less than a thousandth of the heap.
func TestLargeHeap(t *testing.T) {
	for i := 0; i < 70; i++ {
		fixture = append(fixture, new([1 << 16]byte))
	}
	defer func() { fixture = nil; runtime.GC() }()
	var held []*[5]int
	if r, _ := record(t, func() { held = append(held, new([5]int)) }, heaptest.Calls(5)); !strings.Contains(r.failed, "12 loops") {
		t.Errorf("misses 40 bytes per call: %s", r.failed)
	}
	runtime.KeepAlive(&held)
}

// TestGoroutines: two goroutines that can never run again, in 200 calls, are found only if they are asked for.
func TestGoroutines(t *testing.T) {
	calls := 0
	leak := func() {
		if calls++; calls%90 == 0 {
			c := make(chan int)
			go func() { c <- 1 }()
		}
	}
	if r, _ := record(t, leak); r.failed != "" {
		t.Error(r.failed)
	}
	calls = 0
	r, _ := record(t, leak, heaptest.Goroutines())
	if !strings.Contains(r.failed, "can never run again") || !strings.Contains(r.failed, "TestGoroutines") {
		t.Errorf("%q", r.failed)
	}
}

// TestKept: a failure leaves what it names, and no other test leaves anything.
func TestKept(t *testing.T) {
	r, dir := record(t, leakSession)
	for _, pattern := range []string{"heaptest-TestKept-*/0[0-6].dump", "heaptest-TestKept-*/page.html", "heaptest-TestKept-*/*.test"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(files) == 0 || strings.Contains(pattern, "0-6") && len(files) != 7 {
			t.Errorf("%s: %q, %v", pattern, files, err)
		}
	}
	page, _ := filepath.Glob(filepath.Join(dir, "*/page.html"))
	if len(page) != 1 || !strings.Contains(r.failed, "\npage: "+page[0]+"\n") {
		t.Errorf("does not name %q: %s", page, r.failed)
	}
	wantEmpty := func(dir string) {
		t.Helper()
		if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
			t.Errorf("leaves %v, %v", files, err)
		}
	}
	_, dir = record(t, func() {})
	wantEmpty(dir)
	dir = t.TempDir()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a panic is lost")
			}
		}()
		heaptest.NoGrowth(t, func() { panic("test") }, heaptest.Keep(dir))
	}()
	wantEmpty(dir)
}

func TestNoProgram(t *testing.T) {
	for _, c := range []struct{ program, heaptest, ci, skipped, failed string }{
		{"", "", "", "", "go2heapsnapshot is not in PATH"},
		{"", "skip", "", "go2heapsnapshot is not in PATH", ""},
		{"", "skip", "false", "go2heapsnapshot is not in PATH", ""},
		{"", "skip", "true", "", "go2heapsnapshot is not in PATH"},
		{"/no/such/program", "", "1", "", "GO2HEAPSNAPSHOT: "},
	} {
		t.Setenv("PATH", "")
		t.Setenv("GO2HEAPSNAPSHOT", c.program)
		t.Setenv("HEAPTEST", c.heaptest)
		t.Setenv("CI", c.ci)
		r, dir := record(t, leakSession)
		if !strings.Contains(r.skipped, c.skipped) || !strings.Contains(r.failed, c.failed) || (r.skipped == "") != (c.skipped == "") || (r.failed == "") != (c.failed == "") {
			t.Errorf("%+v: skipped %q, failed %q, %s", c, r.skipped, r.failed, dir)
		}
	}
}

// TestBadProgram: whatever goes wrong is not a heap that did not grow.
func TestBadProgram(t *testing.T) {
	for script, want := range map[string]string{
		"echo the dump is incomplete >&2; exit 3": "the dump is incomplete",
		"exit 1":    "exit status 1",
		"echo text": "invalid character",
		"kill $$":   "signal",
	} {
		program := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv("GO2HEAPSNAPSHOT", program)
		if r, _ := record(t, func() {}); !strings.Contains(r.failed, want) {
			t.Errorf("%s: %q", script, r.failed)
		}
	}
}
