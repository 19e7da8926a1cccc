package main

import (
	"fmt"
	"io"

	io_model "example.com/types/model/go"
	"example.com/types/rand/v2"
	"example.com/types/yaml.v3"
)

// The dump has types without names by what reflect prints, without paths: as middleware has them, which wraps an
// http.ResponseWriter in one struct for each set of the interfaces that it has.
var doers []io_model.Doer

func init() {
	type here struct {
		*io_model.Metric
		x int
	}
	m := &io_model.Metric{Name: "a metric"}
	doers = append(doers, m, here{m, 1}, &here{m, 2}, rand.Source(nil),
		struct {
			*io_model.Metric `json:"a.b/c" yaml:"x[]"`
			N                int `json:"n.d"`
		}{m, 1},
		struct {
			*io_model.Metric
			io.Reader
			fmt.Stringer
		}{m, nil, nil},
		&struct {
			rand.Source
			f func(*yaml.Node, ...io_model.Metric) (rand.Source, error)
			c chan<- struct{ yaml.Node2 }
			m map[yaml.Node2]struct{ a, b interface{} }
		}{},
		struct{ io_model.Doer }{m}, struct{ local io_model.Doer }{m}.local)
}
