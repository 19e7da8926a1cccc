// Words holds many strings of 24 bytes, which are keys of a map as well, and dumps itself. Chosen ones had the same hash
// before go2heapsnapshot's had a seed: a multiplication by a known factor and a shift for each word can be undone.
package main

import (
	"encoding/binary"
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
)

var words []string
var numbers map[string]int

const factor = 0x9fb21c651e98df25

func step(hash, word uint64) uint64 {
	hash = (hash ^ word) * factor
	return hash ^ hash>>32
}

func isText(word uint64) bool {
	for ; word != 0; word >>= 8 {
		if word&0xff < ' ' || word&0xff > '~' {
			return false
		}
	}
	return true
}

func letters() (word uint64) {
	for i := 0; i < 8; i++ {
		word = word<<8 | uint64(' '+rand.Intn('~'-' '+1))
	}
	return
}

// variant replaces three letters, by a number: of thousands one will do.
func variant(word, number uint64) uint64 {
	const letters = '~' - ' ' + 1
	for i := 0; i < 24; i += 8 {
		word = word&^(0xff<<i) | (' '+number%letters)<<i
		number /= letters
	}
	return word
}

func word(chosen bool) string {
	bytes := make([]byte, 24)
	one, other, third := letters(), letters(), letters()
	hash := step(uint64(len(bytes))*factor, one)
	for number := uint64(0); chosen; number++ {
		other = variant(other, number)
		if third = step(hash, other) ^ 4711; third>>56 != 0 && isText(third) {
			break
		}
	}
	binary.LittleEndian.PutUint64(bytes, one)
	binary.LittleEndian.PutUint64(bytes[8:], other)
	binary.LittleEndian.PutUint64(bytes[16:], third)
	return string(bytes)
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: words random|chosen COUNT DUMP")
		os.Exit(2)
	}
	count, err := strconv.Atoi(os.Args[2])
	if err != nil {
		panic(err)
	}
	words, numbers = make([]string, 0, count), make(map[string]int, count)
	for i := 0; i < count; i++ {
		w := word(os.Args[1] == "chosen")
		words = append(words, w)
		numbers[w] = i
	}
	file, err := os.Create(os.Args[3])
	if err != nil {
		panic(err)
	}
	runtime.GC()
	debug.WriteHeapDump(file.Fd())
	if err := file.Close(); err != nil {
		panic(err)
	}
}
