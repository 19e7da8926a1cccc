// Documents: maps in maps, of which the classes say nothing, but the keys do.
//
//	case any SHAPE=any
//	says ^  1 .* 2,000 main\.object, in map\[string\]interface \{\}$
//	says ^      by key .*\["meta"\]\["history"\] [67]\d %$
//	says \["meta"\]\["history"\]\[\]\["patch"\] [56]\d %$
//	says \["spec"\] 1\d %$
//	is r.suspects.length === 1 && r.suspects[0].keys.length === 3
//	is Math.abs(r.classes.find(c => c.class === "main.object").retained - r.suspects[0].retained) < 200000
//
//	case bare SHAPE=bare
//	says ^      by key      \[\]\["meta"\]\["history"\] [67]\d %$
//	is r.suspects.length === 1 && r.suspects[0].keys.every(k => k.key.startsWith("[]["))
//
//	case nested SHAPE=nested
//	says ^  1 .*map\[string\]\[\]uint8, in map\[string\]map\[string\]\[\]uint8
//	says ^      by key      \["body"\] 9\d %$
//	is r.suspects[0].count === 2000 && r.suspects[0].keys.length === 1
//
//	case sampled SHAPE=nested
//	options --sample 4,1
//	unwalked a sample has not all of the heap
//	is r.suspects[0].item === "map[string][]uint8"
//	is r.suspects[0].count - (r.suspects[0].count_error ?? 0) <= 2000
//
//	case struct SHAPE=struct
//	says ^  1 .* 2,000 main\.visit, in map\[int\]\*main\.visit$
//	says ^      by key      \.seen\.values\["cart"\] 8\d %$
//	is r.suspects[0].keys.length === 1
//
//	case many SHAPE=many
//	says ^  1 .* 201 map\[string\]interface \{\}, in main\.object$
//	says ^      by key      \["section150"\] 5\d %$
//
//	case tree SHAPE=tree
//	says ^  1 .* 8,191 main\.part$
//	says ^      each        71 B = main\.part 64 B \+
//	says[plain] ^      held by     main\.bPart
//	is r.classes.find(c => c.class === "main.part").retained - r.suspects[0].retained < 2000
//	is r.classes.find(c => c.class === "[]*main.part").retained > 0.9 * r.suspects[0].retained
//	is r.suspects.length === 1 && r.suspects[0].keys === undefined
package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

type (
	object struct{ Content map[string]any }
	store  struct{ aItems, bItems map[string]any }
	visit  struct {
		id   int
		seen struct{ values map[string]any }
	}
	part struct {
		name [4]int
		kids []*part
	}
)

var (
	aStore, bStore = &store{aItems: map[string]any{}}, &store{bItems: map[string]any{}}
	aPages, bPages = map[string]map[string][]byte{}, map[string]map[string][]byte{}
	aVisit, bVisit = map[int]*visit{}, map[int]*visit{}
	aPart, bPart   *part
)

func text(kind string, size int) string { return strings.Repeat(kind, size/len(kind)) }

func document(i int) map[string]any {
	history := []any{}
	for j := 0; j < 3; j++ {
		history = append(history, map[string]any{"by": text("kubelet", 14), "patch": text("f:labels", 1000)})
	}
	return map[string]any{
		"kind": text("pod", 6),
		"meta": map[string]any{"name": fmt.Sprint(i), "history": history},
		"spec": map[string]any{"node": text("node", 8), "image": text("nginx", 300)},
	}
}

// sections has more keys than are told apart, one of which has more than all others together.
func sections() map[string]any {
	all := map[string]any{}
	for i := 0; i < 200; i++ {
		section, count := map[string]any{}, 20
		if i == 150 {
			count = 4000
		}
		for j := 0; j < count; j++ {
			section[fmt.Sprint("k", j)] = fmt.Sprint("some text ", i, j)
		}
		all[fmt.Sprint("section", i)] = section
	}
	return all
}

func tree(depth int) *part {
	p := &part{}
	for i := 0; i < 2 && depth > 0; i++ {
		p.kids = append(p.kids, tree(depth-1))
	}
	return p
}

func main() {
	aStore.aItems["one"], aPages["one"] = &object{document(1)}, map[string][]byte{"head": make([]byte, 100)}
	aVisit[1], aPart = &visit{}, tree(3)
	for i := 0; i < 2000; i++ {
		name := fmt.Sprintf("ns/%d", i)
		switch os.Getenv("SHAPE") {
		case "any":
			bStore.bItems[name] = &object{document(i)}
		case "bare":
			bStore.bItems[name] = document(i)
		case "nested":
			bPages[name] = map[string][]byte{"head": make([]byte, 100), "body": make([]byte, 5000)}
		case "struct":
			v := &visit{id: i}
			v.seen.values = map[string]any{"agent": text("mozilla", 400), "cart": make([]int, 500)}
			bVisit[i] = v
		}
	}
	if os.Getenv("SHAPE") == "many" {
		bStore.bItems["all"] = &object{sections()}
	}
	if os.Getenv("SHAPE") == "tree" {
		bPart = tree(12)
	}
	runtime.GC()
	fmt.Println("READY")
	os.Stdin.Read(make([]byte, 1))
	runtime.KeepAlive(aStore)
	runtime.KeepAlive(bStore)
}
