// Two containers that are fields of one struct, of which one has nearly all: the report says which one, though both consist of the same
// nodes of the library, each of which has few of the objects.
//
//	from 1.24
//	says ^  1 .* 20,200 main\.session, in main\.store$
//	says main\.session
//	says[plain] ^      held by     main\.app\.sessions
//	says ^      mostly      .*\.sessions(\.m\.root\.v)? alone has 20,000 of the 20,200,
package main

import (
	"fmt"
	"sync"
)

type session struct {
	user string
	buf  [10]uint64
}

type store struct{ sessions, forms sync.Map }

var app *store

func main() {
	app = &store{}
	for i := 0; i < 20000; i++ {
		app.sessions.Store(fmt.Sprint("user", i), &session{user: fmt.Sprint("u", i)})
		if i%100 == 0 {
			app.forms.Store(i, &session{})
		}
	}
	fmt.Println("READY")
	fmt.Scanln()
	fmt.Println(app)
}
