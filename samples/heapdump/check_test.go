package heapdump

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// builder makes a dump by hand.
type builder struct{ bytes.Buffer }

func (b *builder) numbers(numbers ...uint64) *builder {
	var buffer [binary.MaxVarintLen64]byte
	for _, n := range numbers {
		b.Write(buffer[:binary.PutUvarint(buffer[:], n)])
	}
	return b
}

func (b *builder) text(text string) *builder {
	b.numbers(uint64(len(text)))
	b.WriteString(text)
	return b
}

func (b *builder) params() *builder {
	b.WriteString(header)
	return b.numbers(6, 0, 8, 0xc000000000, 0xe000000000).text("amd64").text("go1.27").numbers(4)
}

// object is one with a pointer at its start.
func (b *builder) object(address uint64, contents string) *builder {
	return b.numbers(1, address).text(contents).numbers(1, 0, 0)
}

// memStats is of so many bytes, and as many objects as were allocated more
// often than freed.
func (b *builder) memStats(alloc, heapAlloc, mallocs, frees, heapObjects uint64) *builder {
	var stats [281]uint64
	for i := range stats {
		stats[i] = uint64(i) * uint64(i%3) << (i % 40)
	}
	stats[0], stats[6], stats[4], stats[5], stats[11] = alloc, heapAlloc, mallocs, frees, heapObjects
	return b.numbers(10).numbers(stats[:]...)
}

// whole has a record of each kind.
func whole() *builder {
	b := &builder{}
	b.params()
	b.numbers(3, 0x4a0000, 16).text("main.T").numbers(1)
	b.numbers(8, 0x4b0000, 0x4a0000)
	b.object(0xc000010000, "\x00\x20\x01\x00\xc0\x00\x00\x00")
	b.object(0xc000012000, strings.Repeat("\x00\x01", 100))
	b.numbers(1, 0xc000014000).text(strings.Repeat("\x00", 48)).numbers(0)
	b.numbers(4, 0xc000016000, 0xc000018000, 1, 0x401000, 4, 0, 0, 0).text("select").numbers(0, 0x5a0000, 0, 0)
	b.numbers(5, 0xc000018000, 0, 0).text("\x00\x00\x01\x00\xc0\x00\x00\x00").numbers(0x401000, 0x401010, 0x401010).text("main.main").numbers(1, 0, 0)
	b.numbers(14, 1, 2, 3, 4, 5, 6, 7)
	b.numbers(15, 1, 2, 3, 4, 0, 0)
	b.numbers(9, 0x5a0000, 0, 4711)
	b.numbers(12, 0x5b0000).text("\x00\x00\x01\x00\xc0\x00\x00\x00").numbers(1, 0, 0)
	b.numbers(13, 0x5c0000).text(strings.Repeat("\x00", 24)).numbers(1, 0, 1, 8, 0)
	b.numbers(7, 0xc000014000, 1, 2, 3, 4)
	b.numbers(11, 0xc000014000, 1, 2, 3, 4)
	b.memStats(8+200+48, 8+200+48, 10, 7, 3)
	b.numbers(16, 0x6a0000, 48, 2).text("main.run").text("main.go").numbers(12).text("main.main").text("main.go").numbers(300, 1, 0)
	b.numbers(17, 0xc000014000, 0x6a0000)
	b.numbers(0)
	return b
}

func TestCheck(t *testing.T) {
	dump := whole().Bytes()
	if err := Check(bytes.NewReader(dump)); err != nil {
		t.Fatalf("a whole dump: %v", err)
	}
	if err := Check(iotest.OneByteReader(bytes.NewReader(dump))); err != nil {
		t.Errorf("a whole dump, byte by byte: %v", err)
	}
	for size := range dump {
		if Check(bytes.NewReader(dump[:size])) == nil {
			t.Errorf("%d of %d bytes pass for a whole dump", size, len(dump))
		}
	}
	for behind := byte(0); behind < 3; behind++ {
		if Check(bytes.NewReader(append(append([]byte{}, dump...), behind))) == nil {
			t.Errorf("a dump with a byte %d behind passes", behind)
		}
	}
}

// TestHoles: what a disk had no space for is missing in the midst if there was
// space again before the end.
func TestHoles(t *testing.T) {
	b := (&builder{}).params()
	var bytesOfAll, random uint64
	const objects = 80
	for i := 0; i < objects; i++ {
		size := 8 << (i * 5 % 9)
		contents := make([]byte, size)
		for at := 0; at < size; at += 8 {
			random = random*6364136223846793005 + 1442695040888963407
			switch random >> 62 {
			case 0:
				binary.LittleEndian.PutUint64(contents[at:], random)
			case 1:
				binary.LittleEndian.PutUint64(contents[at:], 0xc000000000+random>>40)
			case 2:
				contents[at] = byte(random >> 32)
			}
		}
		b.numbers(1, 0xc000000000+uint64(i)*4096).text(string(contents))
		for at := uint64(0); i%2 == 0 && at < uint64(size); at += 16 {
			b.numbers(1, at)
		}
		b.numbers(0)
		bytesOfAll += uint64(size)
	}
	dump := b.memStats(bytesOfAll, bytesOfAll, objects, 0, objects).numbers(0).Bytes()
	if err := Check(bytes.NewReader(dump)); err != nil {
		t.Fatalf("a whole dump: %v", err)
	}
	tried, passed := 0, 0
	for _, size := range []int{512, 4096} {
		for at := 0; at+size <= len(dump); at += 13 {
			tried++
			if Check(io.MultiReader(bytes.NewReader(dump[:at]), bytes.NewReader(dump[at+size:]))) == nil {
				passed++ // some whole records, by chance
			}
		}
	}
	if passed > tried/1000 {
		t.Errorf("%d of %d dumps with holes pass", passed, tried)
	}
}

// TestSamples: of other versions and machines, where this is not a copy.
func TestSamples(t *testing.T) {
	names, _ := filepath.Glob("../dumps/*.dump.gz")
	more, _ := filepath.Glob("../leakserver.*.dump.gz")
	passed := 0
	for _, name := range append(names, more...) {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		unzipped, err := gzip.NewReader(file)
		if err != nil {
			t.Fatal(err)
		}
		dump := bufio.NewReader(unzipped)
		if start, _ := dump.Peek(len(header)); string(start) != header {
			continue
		}
		if err := Check(dump); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		passed++
	}
	if passed == 0 {
		t.Skip("there are no samples")
	}
}

func TestCheckRefuses(t *testing.T) {
	for what, b := range map[string]*builder{
		"nothing":               {},
		"an older format":       {*bytes.NewBufferString("go1.6 heap dump\n\x00")},
		"no memory statistics":  (&builder{}).params().object(0xc000010000, "12345678").numbers(0),
		"bytes differ":          (&builder{}).params().memStats(16, 8, 2, 1, 1).numbers(0),
		"objects differ":        (&builder{}).params().memStats(8, 8, 2, 2, 1).numbers(0),
		"other statistics":      (&builder{}).params().numbers(10).numbers(make([]uint64, 280)...).numbers(0),
		"an unknown record":     (&builder{}).params().numbers(18, 0, 0).memStats(0, 0, 0, 0, 0).numbers(0),
		"a record of 1.3":       (&builder{}).params().numbers(2).text("root").numbers(0).memStats(0, 0, 0, 0, 0).numbers(0),
		"an unknown field":      (&builder{}).params().numbers(1, 0xc000010000).text("12345678").numbers(2, 0, 0).memStats(8, 8, 1, 0, 1).numbers(0),
		"an object of 2^64 - 1": (&builder{}).params().numbers(1, 0xc000010000, 1<<63, 0).memStats(0, 0, 0, 0, 0).numbers(0),
		"one below the heap":    (&builder{}).params().object(0xbffffffff8, "12345678").memStats(8, 8, 1, 0, 1).numbers(0),
		"one at its end":        (&builder{}).params().object(0xe000000000, "12345678").memStats(8, 8, 1, 0, 1).numbers(0),
		"one beyond it":         (&builder{}).params().object(0xe000000008, "12345678").memStats(8, 8, 1, 0, 1).numbers(0),
		"half a pointer":        (&builder{}).params().numbers(1, 0xc000010000).text("12345678").numbers(1, 4, 0).memStats(8, 8, 1, 0, 1).numbers(0),
		"a pointer in nothing":  (&builder{}).params().numbers(12, 0x5c0000).text("1234").numbers(1, 0, 0).memStats(0, 0, 0, 0, 0).numbers(0),
		"a record beyond all":   (&builder{}).params().numbers(1<<64-1).memStats(0, 0, 0, 0, 0).numbers(0),
		"a number of 11 bytes":  {*bytes.NewBufferString(header + "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01\x00")},
		"a profile of 2^64 - 1": (&builder{}).params().numbers(16, 0, 0, 1<<64-1, 0),
	} {
		if err := Check(&b.Buffer); err == nil {
			t.Errorf("%s: passes", what)
		}
	}
	// The runtime may have freed some since.
	if err := Check(&(&builder{}).params().object(0xc000010000, "12345678").memStats(16, 16, 5, 3, 2).numbers(0).Buffer); err != nil {
		t.Errorf("fewer objects than memory statistics say: %v", err)
	}
}

// repeated is a reader of so many bytes of one kind.
type repeated struct {
	value byte
	left  int64
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	if int64(len(p)) > r.left {
		p = p[:r.left]
	}
	for i := range p {
		p[i] = r.value
	}
	r.left -= int64(len(p))
	return len(p), nil
}

// TestCheckLarge: of an object of 2 GiB and more there is as much as one call writes.
func TestCheckLarge(t *testing.T) {
	for size, stored := range map[uint64]int64{1<<32 + 5038080: 5038080, 1 << 32: 0} {
		before := (&builder{}).params().numbers(1, 0xc000010000, size)
		behind := (&builder{}).numbers(1, 0, 0).memStats(size, size, 1, 0, 1).numbers(0)
		err := Check(io.MultiReader(before, &repeated{0xff, stored}, behind))
		if err != nil {
			t.Errorf("an object of %d bytes: %v", size, err)
		}
	}
}

// realDump is one of this process.
func realDump(t *testing.T) []byte {
	t.Helper()
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	runtime.GC()
	debug.WriteHeapDump(file.Fd())
	dump, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(bytes.NewReader(dump)); err != nil {
		t.Fatalf("a dump of this process: %v", err)
	}
	return dump
}

// writeOnly makes the handler's dumps so, as the runtime would, were there no space for more.
func writeOnly(dump []byte) {
	writeHeapDump = func(file *os.File) { file.Write(dump) }
}

// TestCutDumps: a disk that is full after so many bytes. Many are zeros, which
// is also what a dump ends with.
func TestCutDumps(t *testing.T) {
	const cuts = 240
	dump := realDump(t)
	defer func(old func(*os.File)) { writeHeapDump = old }(writeHeapDump)
	dir := t.TempDir()
	h := New(dir, time.Second)
	bad, zeros := 0, 0
	for i := 0; i < cuts; i++ {
		size := len(dump) / cuts * i
		if i%3 != 0 && size > 0 {
			size = bytes.LastIndexByte(dump[:size], 0) + 1
		}
		if size > 0 && dump[size-1] == 0 {
			zeros++
		}
		writeOnly(dump[:size])
		w := newRecorder()
		h.ServeHTTP(w, newRequest(""))
		if w.code != http.StatusInternalServerError {
			bad++
		}
	}
	if bad > 0 {
		t.Errorf("%d of %d cut dumps were not answered 500", bad, cuts)
	}
	if zeros < cuts/2 {
		t.Errorf("only %d of %d dumps ended in a zero", zeros, cuts)
	}
	writeOnly(dump)
	w := newRecorder()
	h.ServeHTTP(w, newRequest(""))
	if w.code != http.StatusOK || w.size != len(dump) {
		t.Errorf("the whole dump was answered %d, with %d of %d bytes", w.code, w.size, len(dump))
	}
	wantEmpty(t, dir)
}
