// Patterns that a report explains, and their healthy twins, which end in another word: what the program keeps, closes, reads or stops.
// Arguments: the pattern, how many, and the dump.
package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
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

// ---- net/http: bodies of responses that are not closed, are kept to be read, or are closed

var responses []*http.Response

func get(url string) *http.Response {
	response, err := http.Get(url)
	if err != nil {
		panic(err)
	}
	return response
}

// ---- database/sql: many sql.DB; rows and transactions that are not closed, or that the program has

type connection struct{}

func (connection) Connect(context.Context) (driver.Conn, error) { return connection{}, nil }
func (connection) Driver() driver.Driver                        { return nil }
func (connection) Prepare(string) (driver.Stmt, error)          { return connection{}, nil }
func (connection) Begin() (driver.Tx, error)                    { return connection{}, nil }
func (connection) Close() error                                 { return nil }
func (connection) Commit() error                                { return nil }
func (connection) Rollback() error                              { return nil }
func (connection) NumInput() int                                { return -1 }
func (connection) Exec([]driver.Value) (driver.Result, error)   { return nil, nil }
func (connection) Query([]driver.Value) (driver.Rows, error)    { return connection{}, nil }
func (connection) Columns() []string                            { return []string{"id"} }
func (connection) Next([]driver.Value) error                    { return nil }

var (
	databases    []*sql.DB
	database     = sql.OpenDB(connection{})
	rows         []*sql.Rows
	transactions []*sql.Tx
)

func query(ctx context.Context) *sql.Rows {
	rows, err := database.QueryContext(ctx, "SELECT id")
	if err != nil || !rows.Next() {
		panic(err)
	}
	return rows
}

func begin(ctx context.Context) *sql.Tx {
	tx, err := database.BeginTx(ctx, nil)
	if err != nil {
		panic(err)
	}
	return tx
}

// ---- package context: children whose cancel function is lost, is deferred, or is kept

type foreign struct{ context.Context } // no context of package context: a goroutine waits for it

func (f *foreign) Done() <-chan struct{} { return done }
func (f *foreign) Value(any) any         { return nil }

var (
	done               = make(chan struct{})
	parent, stopParent = context.WithCancel(context.Background())
	cancels            []context.CancelFunc
)

func work(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	<-ctx.Done()
}

// ---- package time: tickers that nothing stops, or that are stopped; goroutines that wait for nothing else, or for an end, too

func ticks() {
	for range time.Tick(time.Hour) {
	}
}

func ticksUntil(end chan bool) {
	ticker := time.NewTicker(time.Hour)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-end:
			return
		}
	}
}

func afters() {
	<-time.After(time.Hour)
}

var tickers []*time.Ticker

// ----

func main() {
	count, _ := strconv.Atoi(os.Args[2])
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, strings.Repeat("x", 300000))
	}))
	ctx, cancel := context.WithCancel(context.Background())
	for i := 0; i < count; i++ {
		switch os.Args[1] {
		case "unclosed":
			get(server.URL)
		case "kept":
			responses = append(responses, get(server.URL))
		case "closed":
			response := get(server.URL)
			io.Copy(io.Discard, response.Body)
			response.Body.Close()
		case "unclosed-deferred": // only the closure of a deferred call has the response
			go func() { r := get(server.URL); defer func() { r.Body.Close() }(); <-done }()
		case "unclosed-timed":
			response := get(server.URL)
			time.AfterFunc(time.Hour, func() { response.Body.Close() })
		case "databases":
			databases = append(databases, sql.OpenDB(connection{}))
		case "rows":
			query(ctx)
		case "rows-kept":
			rows = append(rows, query(ctx))
		case "rows-read":
			go func() { rows := query(ctx); <-done; rows.Close() }()
		case "rows-deferred":
			go func() { rows := query(ctx); defer rows.Close(); <-done }()
		case "rows-timed":
			rows := query(ctx)
			time.AfterFunc(time.Hour, func() { rows.Close() })
		case "tx":
			begin(ctx)
		case "tx-kept":
			transactions = append(transactions, begin(ctx))
		case "tx-deferred":
			go func() { tx := begin(ctx); defer tx.Rollback(); <-done }()
		case "contexts":
			context.WithCancel(parent)
		case "contexts-kept":
			_, cancel := context.WithCancel(parent)
			cancels = append(cancels, cancel)
		case "contexts-deferred":
			go work(parent)
		case "contexts-closure":
			go func() { _, cancel := context.WithCancel(parent); defer func() { cancel() }(); <-done }()
		case "foreign":
			context.WithCancel(&foreign{parent})
		case "foreign-kept":
			_, cancel := context.WithCancel(&foreign{parent})
			cancels = append(cancels, cancel)
		case "foreign-deferred":
			go work(&foreign{parent})
		case "foreign-timed":
			_, cancel := context.WithCancel(&foreign{parent})
			time.AfterFunc(time.Hour, cancel)
		case "tickers":
			time.NewTicker(time.Hour)
		case "tickers-kept":
			tickers = append(tickers, time.NewTicker(time.Hour))
		case "ticks":
			go ticks()
		case "ticks-until":
			go ticksUntil(make(chan bool))
		case "afters":
			go afters()
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
	runtime.KeepAlive(cancel)
}
