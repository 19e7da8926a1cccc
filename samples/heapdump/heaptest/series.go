package heaptest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"
)

// exitGrew is the exit status that says that something grew in every interval.
const exitGrew = 4

// series is the dumps of one test.
type series struct {
	program, exe, dir string
	names             []string // of the dumps, oldest first
	isStripped        bool     // the executable has no symbols
}

func findProgram() (string, error) {
	if name := os.Getenv("GO2HEAPSNAPSHOT"); name != "" {
		path, err := exec.LookPath(name)
		if err != nil {
			err = fmt.Errorf("GO2HEAPSNAPSHOT: %w", err)
		}
		return path, err
	}
	path, err := exec.LookPath("go2heapsnapshot")
	if err != nil {
		err = errors.New("go2heapsnapshot is not in PATH, and GO2HEAPSNAPSHOT is not set")
	}
	return path, err
}

func isCI() bool {
	ci := os.Getenv("CI")
	is, err := strconv.ParseBool(ci)
	return ci != "" && (is || err != nil)
}

// directoryPattern makes a name for os.MkdirTemp of a test's name.
func directoryPattern(test string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '_'
	}, test)
	return "heaptest-" + name + "-*"
}

// settle collects garbage and waits for goroutines that are about to end. The
// second collection frees what finalizers and sync.Pool kept in the first one.
func settle() {
	for i := 0; i < 2; i++ {
		runtime.GC()
		last, same := runtime.NumGoroutine(), 0
		for tries := 0; tries < 100 && same < 3; tries++ {
			time.Sleep(time.Millisecond)
			n := runtime.NumGoroutine()
			same++
			if n != last {
				last, same = n, 0
			}
		}
	}
}

// writeDump writes a heap dump to a file. A reader of a pipe in this process
// would be stopped like all of it, and deadlock.
func writeDump(name string) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	debug.WriteHeapDump(file.Fd())
	return file.Close()
}

// run runs go2heapsnapshot and returns its output.
func (s *series) run(args ...string) ([]byte, error) {
	var out, messages bytes.Buffer
	command := exec.Command(s.program, args...)
	command.Stdout, command.Stderr = &out, &messages
	err := command.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == exitGrew {
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", s.program, err, bytes.TrimSpace(messages.Bytes()))
	}
	s.isStripped = s.isStripped || strings.Contains(messages.String(), "is stripped")
	return out.Bytes(), nil
}

// place is one that grew in every interval: steady[] in docs/watch.md.
type place struct {
	Names    []string `json:"place"`
	NowIn    []string `json:"now_in"`
	Count    int64    `json:"count_grown"`
	Retained int64    `json:"retained_grown"`
	HeldBy   string   `json:"held_by"`
	Example  string   `json:"example"` // one of a container's entries, if HeldBy leads to the container
}

// goroutines are those at one location: goroutines[] in docs/report.md.
type goroutines struct {
	Place   string `json:"place"`
	Started string `json:"started_at"`
	Count   int64  `json:"count"`
	Leaked  int64  `json:"leaked"`
	Grown   int64  `json:"grown"` // bytes
}

// trend is the report of a series.
type trend struct {
	Heaps  []heap  `json:"heaps"`
	Steady []place `json:"steady"`
}

type heap struct {
	Objects   int64 `json:"objects"`
	Reachable int64 `json:"reachable"`
}

// compare returns a line for each place that grows. The first report is made
// without the executable, which saves the analysis of its machine code, most of
// the time. Names are missing in that report, but not objects or pointers. If
// the heap cannot have a place that grows, there is no second one.
func (s *series) compare(c *config) ([]string, error) {
	lines, may, err := s.find(c, false)
	if err == nil && (may || len(lines) > 0) {
		lines, _, err = s.find(c, true)
	}
	return lines, err
}

// mayGrow returns whether all heaps together suggest growth. The places of a
// report without types are not enough: what a map holds is in another place
// when its array has another size.
func (t *trend) mayGrow() bool {
	intervals, objects, bytes := len(t.Heaps)-1, 0, 0
	var grown, largest int64 // objects, in all intervals and in one
	for i := 1; i <= intervals; i++ {
		n := t.Heaps[i].Objects - t.Heaps[i-1].Objects
		if grown += n; n > largest {
			largest = n
		}
		if n > 0 {
			objects++
		}
		if t.Heaps[i].Reachable > t.Heaps[i-1].Reachable {
			bytes++
		}
	}
	most := intervals * 2 / 3
	return objects > most || bytes > most || grown-largest >= int64(intervals)
}

// find returns a line for each place that grows, and whether there may be
// others; named tells whether to read names from the executable.
func (s *series) find(c *config, named bool) (lines []string, may bool, err error) {
	var trend trend
	if err := s.report(&trend, named, s.names...); err != nil {
		return nil, false, err
	}
	for i := range trend.Steady {
		if p := &trend.Steady[i]; p.Example != "" {
			p.HeldBy = p.Example
		}
	}
	var stuck []goroutines
	if c.goroutines || named && haveGoroutines(trend.Steady) {
		var report struct {
			Goroutines []goroutines `json:"goroutines"`
		}
		if err := s.report(&report, named, "--base", s.names[0], s.names[len(s.names)-1]); err != nil {
			return nil, false, err
		}
		stuck = report.Goroutines
	}
	if !named {
		// Allowed places need names.
		all := *c
		all.allowed, all.perCall = nil, 0
		c = &all
	}
	lines = c.growth(trend.Steady, stuck)
	if c.goroutines && len(lines) == 0 {
		lines = c.stuck(stuck)
	}
	return lines, trend.mayGrow(), nil
}

// growth returns a line for each place whose growth is not allowed.
func (c *config) growth(steady []place, last []goroutines) (lines []string) {
	calls := 0.0
	for i := 0; i < c.loops; i++ {
		calls += float64(c.callsOf(i))
	}
	groups := make(map[string]bool)     // of goroutines whose number grows
	containers := make(map[string]bool) // of objects whose number grows
	for i := range steady {
		p := &steady[i]
		if p.isGoroutines() {
			groups[p.Names[0]] = true
		}
		if !p.isKey() {
			containers[p.container()] = true
		}
	}
	for i := range steady {
		p := &steady[i]
		line := p.line(calls)
		// Goroutines have one line, which counts what they hold, and the
		// keys and values of a map have one.
		isPart := len(p.Names) > 0 && groups[p.Names[0]] && !p.isGoroutines() ||
			p.isKey() && containers[p.container()]
		if isPart || float64(p.Retained)/calls < c.perCall || c.isAllowed(line) {
			continue
		}
		lines = append(lines, "grows: "+line+p.stuck(last))
	}
	return lines
}

// stuck returns a line for each location with more goroutines than before that
// can never run again.
func (c *config) stuck(last []goroutines) (lines []string) {
	for _, g := range last {
		line := fmt.Sprintf("goroutines %s: %d of %d can never run again", g.Place, g.Leaked, g.Count)
		if g.Started != "" {
			line += ", started at " + g.Started
		}
		if g.Leaked > 0 && g.Grown > 0 && !c.isAllowed(line) {
			lines = append(lines, "grows: "+line)
		}
	}
	return lines
}

// report runs a report and decodes it.
func (s *series) report(into interface{}, named bool, dumps ...string) error {
	args := []string{"--format", "report", "--json"}
	if named {
		args = append(args, "--exe", s.exe)
	}
	out, err := s.run(append(args, dumps...)...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(out, into); err != nil {
		return fmt.Errorf("%s: %w: %.200q", s.program, err, out)
	}
	return nil
}

func (c *config) isAllowed(line string) bool {
	for _, allowed := range c.allowed {
		if allowed.MatchString(line) {
			return true
		}
	}
	return false
}

func (p *place) isGoroutines() bool {
	return len(p.Names) > 0 && strings.HasPrefix(p.Names[len(p.Names)-1], "goroutine")
}

// isKey returns whether the objects are keys of a map.
func (p *place) isKey() bool { return strings.HasSuffix(p.HeldBy, " (key)") }

// container returns the names of the place that contains the objects.
func (p *place) container() string {
	if len(p.Names) == 0 {
		return ""
	}
	return strings.Join(p.Names[:len(p.Names)-1], " › ")
}

func haveGoroutines(places []place) bool {
	for i := range places {
		if places[i].isGoroutines() {
			return true
		}
	}
	return false
}

// line describes by how much a place grows, and what holds it.
func (p *place) line(calls float64) string {
	unit := "object"
	if p.isGoroutines() {
		unit = "goroutine"
	}
	each := float64(p.Count) / calls
	if fmt.Sprintf("%.2f", each) != "1.00" {
		unit += "s"
	}
	text := strings.Join(p.Names, " › ")
	if len(p.NowIn) > 0 {
		text += " (now in " + strings.Join(p.NowIn, " › ") + ")"
	}
	text += ": +"
	if each >= 0.005 {
		text += fmt.Sprintf("%.2f %s and ", each, unit)
	}
	text += fmt.Sprintf("%.0f B per call", float64(p.Retained)/calls)
	if p.HeldBy != "" {
		text += ", held by " + p.HeldBy
	}
	return text
}

// stuck describes how many of a place's goroutines can never run again.
func (p *place) stuck(all []goroutines) string {
	if !p.isGoroutines() {
		return ""
	}
	for _, g := range all {
		if g.Leaked > 0 && strings.Contains(strings.Join(p.Names, " › "), g.Place) {
			return fmt.Sprintf(", %d of %d can never run again", g.Leaked, g.Count)
		}
	}
	return ""
}

// explained makes only the first failure explain where names come from.
var explained sync.Once

// message describes what grows, and where the dumps and a page are.
func (s *series) message(c *config, found []string) string {
	text := strings.Join(found, "\n")
	calls := fmt.Sprint(c.calls)
	if c.doubling {
		calls += fmt.Sprintf(" to %d", c.callsOf(c.loops-1))
	}
	text += fmt.Sprintf("\nin each of %d loops of %s calls, after %d to warm up", c.loops, calls, c.warmUp)
	exe := filepath.Join(s.dir, filepath.Base(s.exe))
	if err := copyFile(exe, s.exe); err != nil { // go test removes the original
		text += fmt.Sprintf("\nthe executable is not kept: %v", err)
	}
	page := filepath.Join(s.dir, "page.html")
	if _, err := s.run(append([]string{"--exe", s.exe, "--format", "html", "-o", page}, s.names...)...); err != nil {
		text += fmt.Sprintf("\nno page: %v", err)
	} else {
		text += "\npage: " + page
	}
	text += fmt.Sprintf("\ndumps, which contain all memory of the process: go2heapsnapshot --exe %s %s", exe, filepath.Join(s.dir, "*.dump"))
	if s.isStripped {
		explained.Do(func() {
			text += "\nnames of variables are inferred from machine code, since go test strips symbols: keep them with go test -ldflags=-w=0"
		})
	}
	return text
}

func copyFile(to, from string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o700)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
