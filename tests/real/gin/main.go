// A web service on gin: routes with parameters, middleware, validated JSON, HTML by templates, sessions, clients with
// connections that stay open; then dumps itself: gin FILE [SHARE], where SHARE is how much of it all, 1 unless given.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"truth/record"
)

type item struct {
	Name  string            `json:"name" binding:"required"`
	Price float64           `json:"price" binding:"gt=0"`
	Tags  []string          `json:"tags"`
	Extra map[string]string `json:"extra"`
}

type order struct {
	ID    int       `json:"id"`
	Items []item    `json:"items" binding:"required,dive"`
	Made  time.Time `json:"made"`
	by    *session
}

type session struct {
	token  string
	orders []*order
	seen   map[string]int
	last   *http.Request
}

// Globals, as such programs have them.
var (
	sessions = map[string]*session{}
	orders   []*order
	byDay    map[string][]*order
	views    sync.Map
	mutex    sync.Mutex
	buffers  = sync.Pool{New: func() interface{} { return new(bytes.Buffer) }}
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func authenticate(c *gin.Context) {
	token := c.GetHeader("Token")
	mutex.Lock()
	s := sessions[token]
	if s == nil {
		s = &session{token: token, seen: map[string]int{}}
		sessions[token] = s
	}
	s.seen[c.FullPath()]++
	s.last = c.Request
	mutex.Unlock()
	c.Set("session", s)
	c.Next()
}

func place(c *gin.Context) {
	o := &order{Made: time.Now(), by: c.MustGet("session").(*session)}
	if err := c.ShouldBindJSON(o); err != nil {
		c.JSON(http.StatusBadRequest, gin.H{"error": err.Error()})
		return
	}
	mutex.Lock()
	defer mutex.Unlock()
	o.ID = len(orders)
	orders = append(orders, o)
	o.by.orders = append(o.by.orders, o)
	if byDay == nil {
		byDay = map[string][]*order{}
	}
	day := fmt.Sprint("day ", o.ID%31)
	byDay[day] = append(byDay[day], o)
	c.JSON(http.StatusOK, o)
}

func show(c *gin.Context) {
	id, _ := strconv.Atoi(c.Param("id"))
	mutex.Lock()
	defer mutex.Unlock()
	if id >= len(orders) {
		c.AbortWithStatus(http.StatusNotFound)
		return
	}
	views.Store(c.Request.URL.Path, orders[id])
	c.HTML(http.StatusOK, "order", orders[id])
}

func routes() *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.Use(gin.Recovery(), authenticate)
	r.SetHTMLTemplate(template.Must(template.New("order").Parse(`{{.ID}}: {{range .Items}}<b>{{.Name}}</b> {{.Price}}{{end}}`)))
	for _, version := range []string{"v1", "v2"} {
		group := r.Group("/" + version)
		group.POST("/orders", place)
		group.GET("/orders/:id", show)
		for i := 0; i < 300; i++ {
			group.GET(fmt.Sprintf("/shop%d/:item/*rest", i), show)
		}
	}
	return r
}

func request(client *http.Client, method, path, token string, body interface{}) {
	buffer := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buffer)
	buffer.Reset()
	if body != nil {
		check(json.NewEncoder(buffer).Encode(body))
	}
	req, err := http.NewRequest(method, "http://shop"+path, bytes.NewReader(append([]byte(nil), buffer.Bytes()...)))
	check(err)
	req.Header.Set("Token", token)
	response, err := client.Do(req)
	check(err)
	_, err = io.Copy(io.Discard, response.Body)
	check(err)
	response.Body.Close()
}

func work(address string, n, count int, ready chan<- bool) {
	client := &http.Client{Transport: &http.Transport{Dial: func(_, _ string) (net.Conn, error) { return net.Dial("unix", address) }}}
	token := fmt.Sprint("client ", n)
	for i := 0; i < count; i++ {
		request(client, "POST", "/v1/orders", token, order{Items: []item{
			{Name: fmt.Sprint("item ", i), Price: 1, Tags: []string{token, "new"}, Extra: map[string]string{"size": fmt.Sprint(i)}},
			{Name: "other", Price: float64(i + 1)}}})
		request(client, "GET", fmt.Sprintf("/v2/orders/%d", i), token, nil)
	}
	ready <- true
	select {}
}

func main() {
	share := 1.0
	if len(os.Args) > 2 {
		var err error
		share, err = strconv.ParseFloat(os.Args[2], 64)
		check(err)
	}
	directory, err := os.MkdirTemp("", "gin")
	check(err)
	address := directory + "/socket"
	listener, err := net.Listen("unix", address)
	check(err)
	go func() { check(http.Serve(listener, routes())) }()
	const clients = 20
	ready := make(chan bool)
	for i := 0; i < clients; i++ {
		go work(address, i, int(1000*share), ready)
	}
	for i := 0; i < clients; i++ {
		<-ready
	}
	check(os.RemoveAll(directory))
	record.Dump(os.Args[1])
}
