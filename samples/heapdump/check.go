package heapdump

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// header begins a dump of Go 1.7 and later.
const header = "go1.7 heap dump\n"

// records has the fields of each kind of record, by its tag: n is a number, s
// a string, c contents, which both are bytes behind their length, f a list of
// the pointers in the contents, p the frames of a profile. Tag 0 is the end's.
var records = [...]string{
	tagObject: "ncf",
	3:         "nnsn",          // type
	4:         "nnnnnnnnsnnnn", // goroutine
	5:         "nnncnnnsf",     // stack frame
	tagParams: "nnnnssn",
	7:         "nnnnn",   // finalizer
	8:         "nn",      // itab
	9:         "nnn",     // thread
	11:        "nnnnn",   // queued finalizer
	12:        "ncf",     // data
	13:        "ncf",     // bss
	14:        "nnnnnnn", // defer
	15:        "nnnnnn",  // panic
	16:        "nnpnn",   // profile
	17:        "nn",      // sample
}

const (
	tagEOF      = 0
	tagObject   = 1
	tagParams   = 6
	tagMemStats = 10
)

// dump is one that is being read.
type dump struct {
	*bufio.Reader
	word, start, end uint64 // of params: bytes of a pointer, bounds of the heap
	number, size     uint64 // the record's last number, and the size of its contents
	hasMemStats      bool
}

// Check reads a heap dump of Go 1.7 or later to its end. It gives an error
// unless the dump is whole: WriteHeapDump reports none, and what it could not
// write is missing.
//
// Without its end a dump never passes. Records do not tell how long they are:
// where something is missing in the midst, what follows is no record, or an
// object outside of the heap, or a pointer outside of its object, or memory
// statistics that do not add up. Whole records may be missing unseen. How many
// objects there must be nobody knows: the runtime counts them before it frees
// the garbage that it still knows of.
func Check(r io.Reader) error {
	d := &dump{Reader: bufio.NewReaderSize(r, 1<<16)}
	start := make([]byte, len(header))
	if _, err := io.ReadFull(d, start); err != nil {
		return cut(err)
	}
	if string(start) != header {
		return fmt.Errorf("begins with %q", start)
	}
	for {
		tag, err := d.uvarint()
		if err != nil {
			return cut(err)
		}
		if tag == tagEOF {
			return d.checkEnd()
		}
		if err := d.readRecord(tag); err != nil {
			return cut(err)
		}
	}
}

// uvarint reads a number as encoding/binary has it. Most of a dump are numbers.
func (d *dump) uvarint() (n uint64, err error) {
	for shift := 0; ; shift += 7 {
		b, err := d.ReadByte()
		if err != nil {
			return 0, err
		}
		if shift == 63 && b > 1 {
			return 0, errors.New("has a number of more than 64 bits")
		}
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n, nil
		}
	}
}

// cut says of the end of the input that it is not that of the dump.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (d *dump) checkEnd() error {
	if _, err := d.ReadByte(); err != io.EOF {
		if err == nil {
			err = errors.New("ends before its last byte")
		}
		return err
	}
	if !d.hasMemStats {
		return errors.New("has no memory statistics")
	}
	return nil
}

func (d *dump) readRecord(tag uint64) (err error) {
	if tag == tagMemStats {
		return d.readMemStats()
	}
	if tag >= uint64(len(records)) || records[tag] == "" {
		return fmt.Errorf("has a record of kind %d, which there is not", tag)
	}
	for i, field := range records[tag] {
		switch field {
		case 'n':
			d.number, err = d.uvarint()
			if tag == tagParams {
				d.setParam(i)
			}
		case 's':
			_, err = d.skipBytes()
		case 'c':
			d.size, err = d.skipBytes()
		case 'f':
			err = d.skipFields()
		case 'p':
			err = d.skipFrames()
		}
		if err != nil {
			return err
		}
	}
	if tag == tagObject {
		if d.number < d.start || d.number > d.end || d.size > d.end-d.number {
			return fmt.Errorf("has an object of %d bytes at %#x, outside of the heap", d.size, d.number)
		}
	}
	return nil
}

func (d *dump) setParam(i int) {
	switch i {
	case 1:
		d.word = d.number
	case 2:
		d.start = d.number
	case 3:
		d.end = d.number
	}
}

// skipBytes skips what stands behind its length. The runtime writes it with
// one call, of which Linux takes 2 GiB less a page, and whose length has 32
// bits; what does not fit is in no dump.
func (d *dump) skipBytes() (uint64, error) {
	size, err := d.uvarint()
	if err != nil {
		return 0, err
	}
	stored := int64(uint32(size))
	if most := int64(0x7ffff000); stored > most {
		stored = most
	}
	_, err = d.Discard(int(stored))
	return size, err
}

// skipFields skips pairs of a pointer's kind, which is 1, and its place.
func (d *dump) skipFields() error {
	for {
		kind, err := d.uvarint()
		if err != nil || kind == 0 {
			return err
		}
		if kind != 1 {
			return fmt.Errorf("has a field of kind %d, which there is not", kind)
		}
		place, err := d.uvarint()
		if err != nil {
			return err
		}
		if d.size < d.word || place > d.size-d.word {
			return fmt.Errorf("has a pointer at %d of %d bytes", place, d.size)
		}
	}
}

// skipFrames skips functions with their files and lines.
func (d *dump) skipFrames() error {
	count, err := d.uvarint()
	for ; count > 0 && err == nil; count-- {
		if _, err = d.skipBytes(); err == nil {
			_, err = d.skipBytes()
		}
		if err == nil {
			_, err = d.uvarint()
		}
	}
	return err
}

// readMemStats reads a runtime.MemStats, as far as it was there in Go 1.3.
func (d *dump) readMemStats() error {
	const alloc, mallocs, frees, heapAlloc, heapObjects = 0, 4, 5, 6, 11
	var stats [281]uint64
	for i := range stats {
		var err error
		if stats[i], err = d.uvarint(); err != nil {
			return err
		}
	}
	if stats[heapAlloc] != stats[alloc] || stats[heapObjects] != stats[mallocs]-stats[frees] {
		return errors.New("has memory statistics that do not add up")
	}
	d.hasMemStats = true
	return nil
}
