// Package rand has a path that ends in a version.
package rand

// Source has a method of its own.
type Source func(int) string

// Do makes a Source a Doer.
func (s Source) Do() int { return len(s(1)) }
