// Package store has globals that others point to.
package store

type Entry struct {
	Name string
	Data []byte
}

type Registry struct {
	size    int
	entries []Entry
}

// Default is a pointer to what has no name.
var Default = &Registry{size: 10}

// Other is a value.
var Other = Registry{size: 11}

func (r *Registry) Add(name string) {
	r.entries = append(r.entries, Entry{name, make([]byte, r.size)})
}
