// layouts prints the types of an executable's DWARF, a line each:
//
//	T number kind size elem key length header name
//	F offset type embedded name
//
// F is a field of the struct of the last T. Kinds are those of reflect, numbers count from 0 in the order of the lines,
// -1 is none. header is what a map or channel points to in DWARF.
package main

import (
	"bufio"
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"log"
	"os"
)

// Attributes that Go adds to DWARF: cmd/internal/dwarf.
const (
	goKind     dwarf.Attr = 0x2900
	goKey      dwarf.Attr = 0x2901
	goElem     dwarf.Attr = 0x2902
	goEmbedded dwarf.Attr = 0x2903
)

const (
	kindArray         = 17
	kindChan          = 18
	kindFunc          = 19
	kindInterface     = 20
	kindMap           = 21
	kindPointer       = 22
	kindSlice         = 23
	kindString        = 24
	kindStruct        = 25
	kindUnsafePointer = 26
)

type field struct {
	name     string
	at       dwarf.Offset
	offset   int64
	embedded bool
}

type typ struct {
	name             string
	kind             int64
	size, length     int64
	elem, key, under dwarf.Offset
	fields           []field
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: layouts EXECUTABLE")
	}
	file, err := elf.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	data, err := file.DWARF()
	if err != nil {
		log.Fatal(err)
	}
	pointerSize := int64(8)
	if file.Class == elf.ELFCLASS32 {
		pointerSize = 4
	}

	types := map[dwarf.Offset]*typ{}
	var order []dwarf.Offset
	var current *typ
	for reader := data.Reader(); ; {
		entry, err := reader.Next()
		if err != nil {
			log.Fatal(err)
		}
		if entry == nil {
			break
		}
		number := func(attribute dwarf.Attr, otherwise int64) int64 {
			if value, ok := entry.Val(attribute).(int64); ok {
				return value
			}
			return otherwise
		}
		reference := func(attribute dwarf.Attr) dwarf.Offset {
			value, _ := entry.Val(attribute).(dwarf.Offset)
			return value
		}
		name, _ := entry.Val(dwarf.AttrName).(string)
		switch entry.Tag {
		case dwarf.TagMember:
			if current != nil {
				embedded, _ := entry.Val(goEmbedded).(bool)
				current.fields = append(current.fields, field{name, reference(dwarf.AttrType),
					location(entry.Val(dwarf.AttrDataMemberLoc)), embedded})
			}
			continue
		case dwarf.TagSubrangeType:
			if current != nil {
				current.length = number(dwarf.AttrCount, number(dwarf.AttrUpperBound, -1)+1)
			}
			continue
		case dwarf.TagBaseType, dwarf.TagStructType, dwarf.TagArrayType, dwarf.TagPointerType, dwarf.TagTypedef,
			dwarf.TagSubroutineType, dwarf.TagUnspecifiedType:
		case 0:
			continue
		default:
			current = nil
			if entry.Tag == dwarf.TagSubprogram {
				reader.SkipChildren()
			}
			continue
		}
		current = &typ{name: name, kind: number(goKind, 0), size: number(dwarf.AttrByteSize, -1), key: reference(goKey),
			elem: reference(goElem), under: reference(dwarf.AttrType)}
		if current.elem == 0 {
			current.elem = current.under
		}
		switch {
		case current.kind != 0:
		case entry.Tag == dwarf.TagStructType:
			current.kind = kindStruct
		case entry.Tag == dwarf.TagArrayType:
			current.kind = kindArray
		case entry.Tag == dwarf.TagPointerType:
			current.kind = kindPointer
		}
		types[entry.Offset] = current
		order = append(order, entry.Offset)
		if !entry.Children {
			current = nil
		}
	}

	// A named type is a typedef of a struct of the same name, for example: it gets no line, what leads to it leads on.
	numbers := map[dwarf.Offset]int{}
	lines := order[:0]
	for _, offset := range order {
		if types[offset].kind != 0 {
			numbers[offset] = len(lines)
			lines = append(lines, offset)
		}
	}
	to := func(offset dwarf.Offset) int {
		for depth := 0; depth < 100 && offset != 0 && types[offset] != nil; depth++ {
			if number, ok := numbers[offset]; ok {
				return number
			}
			offset = types[offset].under
		}
		return -1
	}
	var size func(offset dwarf.Offset, depth int) int64
	size = func(offset dwarf.Offset, depth int) int64 {
		t := types[offset]
		switch {
		case t == nil || depth > 100:
			return 0
		case t.size >= 0:
			return t.size
		case t.kind == kindArray:
			return t.length * size(t.elem, depth+1)
		case t.kind == kindInterface:
			return 2 * pointerSize
		case t.kind == kindMap || t.kind == kindChan || t.kind == kindFunc || t.kind == kindPointer ||
			t.kind == kindUnsafePointer:
			return pointerSize
		}
		return size(t.under, depth+1) // a typedef
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for i, offset := range lines {
		t := types[offset]
		header := -1
		if t.kind == kindMap || t.kind == kindChan {
			if pointer := types[t.under]; pointer != nil {
				header = to(pointer.elem)
			}
		}
		fmt.Fprintln(out, "T", i, t.kind, size(offset, 0), to(t.elem), to(t.key), t.length, header, t.name)
		if t.kind == kindStruct {
			for _, f := range t.fields {
				embedded := 0
				if f.embedded {
					embedded = 1
				}
				fmt.Fprintln(out, "F", f.offset, to(f.at), embedded, f.name)
			}
		}
	}
}

// location is an offset: a number, or before Go 1.9 a block with DW_OP_plus_uconst.
func location(value interface{}) int64 {
	switch value := value.(type) {
	case int64:
		return value
	case []byte:
		var offset, shift int64
		for _, b := range value[1:] {
			offset |= int64(b&0x7f) << shift
			shift += 7
		}
		return offset
	}
	return 0
}
