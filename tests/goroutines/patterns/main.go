// Patterns that a report explains, and their healthy twins: bodies of responses that are not closed, or are kept to be read; many
// sql.DB that are not closed. Arguments: the pattern, how many, and the dump.
package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

type connector struct{}

func (connector) Connect(context.Context) (driver.Conn, error) { return nil, errors.New("none") }
func (connector) Driver() driver.Driver                        { return nil }

var (
	kept      []*http.Response
	databases []*sql.DB
)

func main() {
	count, _ := strconv.Atoi(os.Args[2])
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, strings.Repeat("x", 300000))
	}))
	for i := 0; i < count; i++ {
		switch os.Args[1] {
		case "sql":
			databases = append(databases, sql.OpenDB(connector{}))
			continue
		}
		response, err := http.Get(server.URL)
		if err != nil {
			panic(err)
		}
		switch os.Args[1] {
		case "kept":
			kept = append(kept, response)
		case "closed":
			io.Copy(io.Discard, response.Body)
			response.Body.Close()
		}
	}
	time.Sleep(200 * time.Millisecond)
	runtime.GC()
	runtime.GC()
	file, err := os.Create(os.Args[3])
	if err != nil {
		panic(err)
	}
	debug.WriteHeapDump(file.Fd())
	file.Close()
	runtime.KeepAlive(server)
}
