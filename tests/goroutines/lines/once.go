//go:build go1.21

package main

import (
	"context"
	"sync"
)

func init() {
	more = append(more, func() {
		go sync.OnceValue(func() int { return <-make(chan int) })()
		ctx, cancel := context.WithCancel(context.Background())
		context.AfterFunc(ctx, func() { select {} })
		cancel()
	})
}
