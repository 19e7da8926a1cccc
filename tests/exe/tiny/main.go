// tiny is built for systems whose programs cannot run here: see ../run.sh.
package main

import "fmt"

var (
	table   = map[string]*int{}    // .bss
	counter [7]int                 // .noptrbss
	initial = []string{"a", "b"}   // .data
	numbers = [3]int{10, 100, 200} // .noptrdata
)

//go:noinline
func add(s string, i int) { table[s] = &i; counter[i%7] += numbers[i%3] }

func main() {
	for i, s := range initial {
		add(s, i)
	}
	fmt.Println(len(table), counter)
}
