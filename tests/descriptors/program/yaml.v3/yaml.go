// Package yaml has another name than the last part of its path.
package yaml

// Node is a type whose path is not in what reflect prints.
type Node struct {
	Value   string
	Content []*Node
}

// Lines is a named map.
type Lines map[int]*Node

// Node2 is a key.
type Node2 struct{ A, B int32 }
