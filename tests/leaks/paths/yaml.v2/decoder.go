// Package yaml has a dot in the last element of its path, which Go's linker escapes.
package yaml

type Node struct {
	Name string
	Next *Node
}

type Decoder struct {
	root  *Node
	Found func() string
}

var Last = map[string]*Decoder{}

var blocked = make(chan int)

// Decode is where the goroutines are that leak.
func (d *Decoder) Decode(name string, started chan<- bool) {
	d.root = &Node{Name: name}
	d.Found = func() string { return d.root.Name + name }
	if name == "last" {
		Last[name] = d
	}
	go d.wait(started)
	started <- true
	<-blocked
	d.root.Name = "done"
}

func (d *Decoder) wait(started chan<- bool) {
	started <- true
	<-blocked
	d.root.Name = "waited"
}
