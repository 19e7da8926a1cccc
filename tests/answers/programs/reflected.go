// Types that package reflect makes for each message, which encoding/json keeps for ever: what one type takes is in several packages, but it
// is one suspect, also of what grew, and there in islands of objects of one class (tests/answers; longhorn/longhorn 13644). READY has
// what the program measured of the leak.
//
//	within 6
//	case held MANY=800
//	says ^  1 .* 80\d \S*json\S*[./](arshaler|field)$
//	is r.suspects.length === 1 || r.suspects[1].retained < r.suspects[0].retained / 5
//	case grown MANY=800
//	base
//	is Math.abs(r.suspects[0].count_grown - 800) <= 10
//	is r.suspects.length === 1
//	says[plain] ^      held by     (encoding/)?json[./].*(encoderCache|Cache)
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"runtime"
	"strconv"
)

var random = rand.New(rand.NewSource(7))

func encode() {
	var fields []reflect.StructField
	for _, i := range random.Perm(24) {
		fields = append(fields, reflect.StructField{
			Name: fmt.Sprint("Field", i), Type: reflect.TypeOf(""), Tag: reflect.StructTag(fmt.Sprintf(`json:"field%d"`, i)),
		})
	}
	json.Marshal(reflect.New(reflect.StructOf(fields)).Interface())
}

func used() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func main() {
	many, _ := strconv.Atoi(os.Getenv("MANY"))
	input := bufio.NewReader(os.Stdin)
	encode()
	for {
		before := used()
		for i := 0; i < many; i++ {
			encode()
		}
		fmt.Println("READY", used()-before)
		if _, err := input.ReadString('\n'); err != nil {
			break
		}
	}
}
