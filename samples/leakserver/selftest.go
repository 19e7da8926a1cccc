package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go2heapsnapshot.invalid/heapdump"
)

// Requests of each kind before the first dump and between the two.
var rounds = []struct{ watch, value, preview int }{{400, 20, 100}, {1600, 60, 300}}

// selfTest makes the leaks grow and takes a dump after every round.
func selfTest(server *Server, public, dumps, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	names := make([]string, 0, len(server.auctions))
	for n := range server.auctions {
		names = append(names, n)
	}
	width := 100
	for i, round := range rounds {
		err := repeat(round.watch, func(n int) error {
			return fetch(client, public+"/watch?wait=1ms&auction="+names[n%len(names)], http.StatusOK)
		})
		if err == nil {
			err = repeat(round.value, func(n int) error {
				return fetch(client, public+"/value?auction="+names[n%len(names)], http.StatusGatewayTimeout)
			})
		}
		if err == nil {
			err = repeat(round.preview, func(n int) error {
				return fetch(client, fmt.Sprintf("%s/preview?auction=%s&width=%d", public, names[n%len(names)], width+n), http.StatusOK)
			})
			width += round.preview
		}
		if err != nil {
			return err
		}
		for _, a := range server.auctions {
			for cents := int64(0); cents < 10; cents++ {
				a.Place(&Bid{Auction: a.Name, Bidder: "phone", Cents: cents, At: time.Now()})
			}
		}
		if i == 0 {
			// Several operators at once: each gets a whole dump.
			if err := repeat(4, func(int) error { return download(client, dumps, "") }); err != nil {
				return err
			}
		}
		time.Sleep(50 * time.Millisecond) // the last experts come to an end
		client.CloseIdleConnections()
		if err := download(client, dumps+"?gc=1", filepath.Join(dir, fmt.Sprintf("leak.%d.dump", i+1))); err != nil {
			return err
		}
	}
	fmt.Printf("%d watchers leaked before the first dump, %d more before the second\n", rounds[0].watch, rounds[1].watch)
	return nil
}

// repeat calls f with 0 to n-1, a few calls at a time.
func repeat(n int, f func(int) error) error {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		first error
		slots = make(chan struct{}, 8)
	)
	for i := 0; i < n; i++ {
		slots <- struct{}{}
		wg.Add(1)
		go func(i int) {
			defer wg.Done()
			if err := f(i); err != nil {
				mu.Lock()
				first = err
				mu.Unlock()
			}
			<-slots
		}(i)
	}
	wg.Wait()
	return first
}

func fetch(client *http.Client, url string, want int) error {
	response, err := client.Get(url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != want {
		return fmt.Errorf("%s: %s", url, response.Status)
	}
	return nil
}

// download saves a dump, or only looks at it if there is no file name.
func download(client *http.Client, url, name string) error {
	response, err := client.Get(url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, response.Status)
	}
	if name == "" {
		return heapdump.Check(response.Body)
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := heapdump.Check(io.TeeReader(response.Body, file)); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}
