package archive

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/model/cost"
	"adze/internal/msg"
	"adze/internal/session/store"
)

// Stats summarizes the work of many sessions.
type Stats struct {
	// Sessions is the number of sessions counted. Left is the number skipped for lack of time,
	// which are the oldest.
	Sessions, Left int
	// Sum is the total over all days.
	Sum Work
	// Days lists the days with any work, latest first.
	Days []Day
	// Models, Tools and Files are ordered by use.
	Models []ModelUse
	Tools  []Use
	Files  []Use // edited files
	// Detail is nil unless requested.
	Detail *Detail
}

// Work is the amount of work in a period.
type Work struct {
	// Prompts is the number of prompts.
	Prompts int
	// Input and Output are tokens, cached or not. Cached is the cached part of the input.
	Input, Output, Cached int
	CostUSD               float64
	// Unknown reports that the cost is incomplete because some price is unknown.
	Unknown bool
}

// A Day is the work of one day.
type Day struct {
	Date string // YYYY-MM-DD
	Work
}

// ModelUse is the work done by a model.
type ModelUse struct {
	Name string
	Work
}

// Use is the number of times something was used.
type Use struct {
	Name  string
	Times int
}

// StatsOptions selects the work to count.
type StatsOptions struct {
	// Dir restricts the count to the project in this folder; empty means all projects.
	Dir string
	// Since is the start of the period; zero means no limit.
	Since time.Time
	// Zone determines the boundaries of days; nil means UTC.
	Zone *time.Location
	// Detail requests a [Detail]. Calls is the directory whose calls are counted; empty means
	// none.
	Detail bool
	Calls  string
}

// Measure counts the work done in sessions, most recently changed first. When ctx ends, it
// returns the counts so far. Messages that a fork copied from its original count once.
func Measure(ctx context.Context, home string, o StatsOptions) (*Stats, error) {
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	files, err := byAge(home, o.Dir)
	if err != nil {
		return nil, err
	}
	if !o.Since.IsZero() {
		files = slices.DeleteFunc(files, func(f file) bool { return f.stamp.MTime < o.Since.UnixNano() })
	}
	next := make(chan string)
	total := newCount(&o)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		wg.Go(func() {
			sum := newCount(&o)
			for path := range next {
				sum.session(ctx, path, &o)
			}
			mu.Lock()
			defer mu.Unlock()
			total.add(sum)
		})
	}
	for i := range files {
		if ctx.Err() != nil {
			break
		}
		select {
		case next <- files[i].path():
		case <-ctx.Done():
		}
	}
	close(next)
	wg.Wait()
	return total.stats(len(files)), nil
}

// costKind is the type of the records that hold the session's cost.
const costKind = "cost-state"

// maxNames limits the distinct tools and files counted, and maxNameSize the length of a name.
const (
	maxNames    = 20_000
	maxNameSize = 1000
)

// count accumulates statistics.
type count struct {
	sessions, empty int // sessions with nothing to count are empty
	days, models    map[string]Work
	tools, files    map[string]int
	close           *detailCount // nil if not requested
}

func newCount(o *StatsOptions) *count {
	c := &count{days: map[string]Work{}, models: map[string]Work{}, tools: map[string]int{}, files: map[string]int{}}
	if o.Detail {
		c.close = newCloseCount()
	}
	return c
}

func (w *Work) add(more Work) {
	w.Prompts += more.Prompts
	w.Input += more.Input
	w.Output += more.Output
	w.Cached += more.Cached
	w.CostUSD += more.CostUSD
	w.Unknown = w.Unknown || more.Unknown
}

// book adds work to the entry for name.
func book(all map[string]Work, name string, more Work) {
	w := all[name]
	w.add(more)
	all[name] = w
}

// used counts a name unless the limit of distinct names is reached.
func used(all map[string]int, name string, times int) {
	if _, known := all[name]; len(name) > maxNameSize || !known && len(all) >= maxNames {
		return
	}
	all[strings.Clone(name)] += times
}

func (c *count) add(more *count) {
	c.sessions += more.sessions
	c.empty += more.empty
	for name, w := range more.days {
		book(c.days, name, w)
	}
	for name, w := range more.models {
		book(c.models, name, w)
	}
	for name, n := range more.tools {
		used(c.tools, name, n)
	}
	for name, n := range more.files {
		used(c.files, name, n)
	}
	if c.close != nil {
		c.close.add(more.close)
	}
}

// session counts a log. If it cannot be read completely or ctx ends, the counts so far are
// kept.
func (c *count) session(ctx context.Context, path string, o *StatsOptions) {
	f, err := os.Open(path)
	if err != nil {
		c.empty++
		return
	}
	defer f.Close()
	any := false
	var before cost.Totals
	var look *detailReader
	if c.close != nil {
		look = &detailReader{detailCount: c.close, wanted: o.Calls, made: map[string]string{}}
	}
	for rec, err := range store.Records(f) {
		if err != nil || ctx.Err() != nil {
			break
		}
		switch {
		case rec.Type == costKind:
			totals, ok := totalsOf(rec.Line)
			if !ok {
				continue
			}
			if at, counts := timeOf(rec.Time, o); counts && any {
				c.spent(at, look, &before, &totals)
			}
			before = totals
		case rec.Message():
			at, counts := timeOf(rec.Time, o)
			if !counts || forked(&rec) {
				continue
			}
			any = true
			c.message(at, look, &rec)
		}
	}
	if any {
		c.sessions++
	} else if ctx.Err() == nil {
		c.empty++
	}
}

// forked reports whether a message was copied from another session.
func forked(rec *store.Record) bool {
	tail := rec.Line[max(0, len(rec.Line)-300):]
	return strings.Contains(string(tail), `"forkedFrom":{`)
}

// timeOf parses a timestamp and reports whether it is within the period.
func timeOf(text string, o *StatsOptions) (time.Time, bool) {
	at, err := time.Parse(time.RFC3339Nano, text)
	return at.In(o.Zone), err == nil && !at.Before(o.Since)
}

// totalsOf returns the totals in a cost record.
func totalsOf(line []byte) (cost.Totals, bool) {
	var n struct{ Cost *cost.Totals }
	if json.Unmarshal(line, &n) != nil || n.Cost == nil {
		return cost.Totals{}, false
	}
	return *n.Cost, true
}

// spent counts the difference between two totals. Totals that were reset count in full. Look
// may be nil.
func (c *count) spent(at time.Time, look *detailReader, before, now *cost.Totals) {
	if now.CostUSD < before.CostUSD || len(now.Models) < len(before.Models) {
		before = &cost.Totals{}
	}
	for name, m := range now.Models {
		was := before.Models[name]
		w := Work{
			Input:   max(0, m.Input+m.CacheRead+m.CacheWrite-was.Input-was.CacheRead-was.CacheWrite),
			Output:  max(0, m.Output-was.Output),
			Cached:  max(0, m.CacheRead-was.CacheRead),
			CostUSD: max(0, m.CostUSD-was.CostUSD),
		}
		if w == (Work{}) {
			continue
		}
		w.Unknown = m.HasUnknownCost
		book(c.models, name, w)
		book(c.days, at.Format(time.DateOnly), w)
		if look != nil {
			look.spent(w)
		}
	}
}

// message counts a prompt, the calls of an answer, or the files edited by calls. Look may be
// nil.
func (c *count) message(at time.Time, look *detailReader, rec *store.Record) {
	e, err := rec.Entry()
	if err != nil {
		return
	}
	prompt := rec.Type == string(msg.User) && readable(rec.Line) && !e.Hidden
	if prompt {
		book(c.days, at.Format(time.DateOnly), Work{Prompts: 1})
	}
	if look != nil {
		look.message(at, rec, e.Message.Parts, prompt)
	}
	for _, p := range e.Message.Parts {
		if u, ok := p.(*msg.ToolUse); ok {
			used(c.tools, u.Name, 1)
		}
	}
	for _, value := range e.Structured {
		var changed struct {
			FilePath        string
			StructuredPatch json.RawMessage
		}
		if json.Unmarshal(value, &changed) == nil && changed.FilePath != "" && len(changed.StructuredPatch) > 0 {
			used(c.files, filepath.Clean(changed.FilePath), 1)
		}
	}
}

// stats returns the sorted counts; all is the number of logs.
func (c *count) stats(all int) *Stats {
	s := &Stats{Sessions: c.sessions, Left: all - c.sessions - c.empty, Tools: byTimes(c.tools), Files: byTimes(c.files), Detail: c.close.detail()}
	for _, date := range slices.Backward(slices.Sorted(maps.Keys(c.days))) {
		s.Days = append(s.Days, Day{date, c.days[date]})
		s.Sum.add(c.days[date])
	}
	for _, name := range slices.Sorted(maps.Keys(c.models)) {
		s.Models = append(s.Models, ModelUse{name, c.models[name]})
	}
	slices.SortStableFunc(s.Models, func(a, b ModelUse) int { return cmp.Compare(b.Input+b.Output, a.Input+a.Output) })
	return s
}

func byTimes(all map[string]int) []Use {
	var uses []Use
	for name, n := range all {
		uses = append(uses, Use{name, n})
	}
	slices.SortFunc(uses, func(a, b Use) int {
		return cmp.Or(cmp.Compare(b.Times, a.Times), strings.Compare(a.Name, b.Name))
	})
	return uses
}
