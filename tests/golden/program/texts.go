package main

import (
	"strings"
	"time"
	"unsafe"
)

type span struct {
	name string
	body *[100]byte
}

type exporter struct {
	batch, queue []*span
	kept         []span
}

var (
	bad           = []string{"\xff\xfe", "cut \xe2\x82", "\xed\xa0\x80 surrogate", "nul \x00 and \x1b[31m", "é\u202e<script>\"\\", "\U0001f600"}
	equal, unlike []string
	aDocument     string
	aLine, bLine  string
	aExporter     = &exporter{}
	bExporter     *exporter
	spare         [][]int64
	bytes         [][]byte
	texts         []interface{}
	started       []*time.Timer
	tickers       []*time.Ticker
	fired         int
)

func makeStrings() {
	for i := 0; i < 40; i++ {
		equal = append(equal, strings.Clone("the same text again and again"))
		unlike = append(unlike, "text "+number(i))
	}
	aDocument = strings.Repeat("a document of many lines\n", 80)
	bDocument := strings.Repeat("another one, of which a line is left\n", 80)
	aLine, bLine = aDocument[25:49], bDocument[37:57]
	for i := range bad {
		bad[i] = string(append([]byte(nil), bad[i]...)) // in the heap
	}
	texts = append(texts, bad[0], []byte("bytes as text"), []rune("runes"), [4]byte{1, 2, 3, 4}, &equal[3], unsafe.Pointer(&bad[1]), error(nil))
}

func makeSlices() {
	bExporter = &exporter{}
	for _, e := range []*exporter{aExporter, bExporter} {
		for i := 0; i < 30; i++ {
			s := &span{name: "span " + number(i), body: &[100]byte{1}}
			e.batch = append(e.batch, s)
			e.queue = append(e.queue, &span{name: s.name, body: &[100]byte{2}})
			e.kept = append(e.kept, span{name: s.name, body: &[100]byte{3}})
		}
	}
	bExporter.batch, bExporter.queue, bExporter.kept = bExporter.batch[:2], bExporter.queue[25:], bExporter.kept[10:12]
	for i := 0; i < 6; i++ {
		spare = append(spare, make([]int64, i, 100))
		bytes = append(bytes, make([]byte, 3, 64))
	}
}

//go:noinline
func wait(events <-chan int) (sum int) {
	for i := 0; i < 20; i++ {
		select {
		case n := <-events:
			sum += n
		case <-time.After(time.Hour):
			return
		}
	}
	return
}

func makeTimers() {
	events := make(chan int, 20)
	for i := 0; i < 20; i++ {
		events <- i
	}
	fired = wait(events)
	for i := 0; i < 10; i++ {
		time.AfterFunc(time.Hour, func() { fired += i })
		started = append(started, time.NewTimer(time.Hour))
		tickers = append(tickers, time.NewTicker(time.Hour))
	}
}
