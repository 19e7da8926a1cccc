// Held keeps sessions of users in a map, collects garbage, writes a dump of itself, and then sleeps, so that its heap can
// be read from outside.
//
//	held SESSIONS DUMP
package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"
)

type Session struct {
	ID    int64
	User  *User
	Tags  []string
	Attrs map[string]string
	Next  *Session
	Blob  []byte
}
type User struct {
	Name, Mail string
	Friends    []*User
	Last       *Session
}

var store = map[string]*Session{}
var users []*User

func main() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	for i := 0; i < n; i++ {
		u := &User{Name: fmt.Sprintf("user-%d", i), Mail: fmt.Sprintf("u%d@example.org", i)}
		if i > 3 {
			u.Friends = []*User{users[i/2], users[i/3]}
		}
		users = append(users, u)
		s := &Session{ID: int64(i), User: u, Tags: []string{"a", u.Name}, Blob: bytes.Repeat([]byte{1}, i%500)}
		if i%10 == 0 {
			s.Attrs = map[string]string{"k": u.Name, "v": u.Mail}
		}
		u.Last = s
		store[u.Mail] = s
	}
	runtime.GC()
	f, err := os.Create(os.Args[2])
	if err != nil {
		panic(err)
	}
	debug.WriteHeapDump(f.Fd())
	if err := f.Close(); err != nil {
		panic(err)
	}
	fmt.Println("ready")
	time.Sleep(1 << 62)
}
