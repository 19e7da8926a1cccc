//go:build go1.24
// +build go1.24

package main

import (
	"unsafe"
	"weak"
)

type weakHolder struct {
	name    string
	pointer weak.Pointer[pair]
}

// A weak pointer is a pointer to a word with the object's address.
func buildWeak() {
	held := &pair{newLeaf(), newLeaf()}
	holder := &weakHolder{name: "holder", pointer: weak.Make(held)}
	handle := *(*unsafe.Pointer)(unsafe.Pointer(&holder.pointer))
	handle = unsafe.Pointer(uintptr(handle) &^ 15) // before Go 1.26 two of them share a slot
	know.Weak = append(know.Weak, Expected{Where: "weak pointer", From: address(handle), Name: "object", To: address(unsafe.Pointer(held))})
	keep = append(keep, held, holder)
}
