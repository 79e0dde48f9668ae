package session

import (
	"context"
	"iter"
	"sync"
	"time"

	"adze/internal/agent"
	"adze/internal/msg"
)

// A Seq is the number of a session entry, starting at 1. Numbers increase; skipped live entries
// leave gaps.
type Seq int64

// An Entry is a numbered event of a session.
type Entry struct {
	Seq  Seq
	Time time.Time
	// Live marks an entry that shows progress: a piece of text, or the progress of a call. The
	// complete form follows in an entry that is not live, so late readers do not need it.
	Live  bool
	Event Event
}

// A Pace determines how a reader gets live entries.
type Pace int

// The paces.
const (
	// Latest skips live entries that the reader is too slow for.
	Latest Pace = iota
	// Every makes the session wait for the reader instead of skipping live entries.
	Every
)

// liveKept is the number of live entries kept for slow readers.
const liveKept = 1024

// A feed stores the entries of a session for any number of readers. Entries that are not live
// are kept for the life of the session, older ones without call results. Only the latest live
// entries are kept.
type feed struct {
	now func() time.Time

	mu      sync.Mutex
	changed sync.Cond // signals a new entry, a reader's progress or exit, or a closed feed
	last    Seq
	kept    []Entry       // entries that are not live, by number
	live    []Entry       // live entries, by number
	slim    int           // number of entries in kept that were lightened
	readers map[*Seq]Pace // positions of the readers
	patient int           // number of readers with the pace Every
	closed  bool
}

func newFeed(now func() time.Time) *feed {
	f := &feed{now: now, readers: map[*Seq]Pace{}}
	f.changed.L = &f.mu
	return f
}

// add numbers an event and stores it. It waits for readers with the pace Every until ctx is
// done.
func (f *feed) add(ctx context.Context, ev Event, live bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if live && f.behind() {
		defer context.AfterFunc(ctx, f.wake)()
		for ctx.Err() == nil && f.behind() {
			f.changed.Wait()
		}
	}
	f.last++
	e := Entry{Seq: f.last, Time: f.now(), Live: live, Event: ev}
	if live {
		if len(f.live) >= 2*liveKept { // trim occasionally, not every time
			f.live = append(f.live[:0], f.live[len(f.live)-liveKept+1:]...)
		}
		f.live = append(f.live, e)
	} else {
		f.kept = append(f.kept, e)
		f.lighten()
	}
	f.changed.Broadcast()
}

// lighten drops the large contents of messages and results from old entries once all current
// readers have them. Late readers find them in the history or the log.
func (f *feed) lighten() {
	for ; f.slim < len(f.kept)-maxBatch; f.slim++ {
		e := &f.kept[f.slim]
		for at := range f.readers {
			if *at < e.Seq {
				return
			}
		}
		if l, ok := e.Event.(Loop); ok {
			e.Event = Loop{light(l.Event)}
		}
	}
}

// light returns an event without the contents of messages and results.
func light(ev agent.Event) agent.Event {
	switch ev := ev.(type) {
	case agent.Appended:
		ev.Entry.Structured, ev.Entry.Message.Parts = nil, nil
		return ev
	case agent.ToolStarted:
		ev.Use = withoutInput(ev.Use)
		return ev
	case agent.ToolDone:
		ev.Use, ev.Display = withoutInput(ev.Use), nil
		if r := ev.Result; r != nil {
			ev.Result = &msg.ToolResult{ID: r.ID, IsError: r.IsError}
		}
		return ev
	}
	return ev
}

func withoutInput(use *msg.ToolUse) *msg.ToolUse { return &msg.ToolUse{ID: use.ID, Name: use.Name} }

// behind reports whether another live entry would drop an entry that a reader with the pace
// Every has not read.
func (f *feed) behind() bool {
	if f.patient == 0 || len(f.live) < liveKept {
		return false
	}
	oldest := f.live[len(f.live)-liveKept].Seq
	for at, pace := range f.readers {
		if pace == Every && *at < oldest {
			return true
		}
	}
	return false
}

// wake makes all readers and writers check again. Holding the lock ensures that none of them is
// between its check and its wait.
func (f *feed) wake() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changed.Broadcast()
}

// close closes the feed. Readers still get the existing entries.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.changed.Broadcast()
}

// end returns the number of the last entry.
func (f *feed) end() Seq {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// follow yields the entries after a number, and then new entries, until ctx is done or the feed
// is closed and drained.
func (f *feed) follow(ctx context.Context, after Seq, pace Pace) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		at := after
		f.enter(&at, pace)
		defer f.leave(&at, pace)
		defer context.AfterFunc(ctx, f.wake)()
		var batch []Entry
		for {
			if batch = f.next(ctx, &at, batch[:0]); len(batch) == 0 {
				return
			}
			for _, e := range batch {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// enter registers a reader, and leave removes it.
func (f *feed) enter(at *Seq, pace Pace) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readers[at] = pace
	if pace == Every {
		f.patient++
	}
}

func (f *feed) leave(at *Seq, pace Pace) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.readers, at)
	if pace == Every {
		f.patient--
		f.changed.Broadcast()
	}
}

// maxBatch limits the entries a reader gets at a time, to bound the memory it holds.
const maxBatch = 256

// next waits for entries after at, appends them to batch in order, and advances at. An empty
// result means the end.
func (f *feed) next(ctx context.Context, at *Seq, batch []Entry) []Entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.last <= *at && !f.closed && ctx.Err() == nil {
		f.changed.Wait()
	}
	if ctx.Err() != nil {
		return nil
	}
	kept, live := after(f.kept, *at), after(f.live, *at)
	for len(batch) < maxBatch && len(kept)+len(live) > 0 {
		if len(live) == 0 || len(kept) > 0 && kept[0].Seq < live[0].Seq {
			batch, kept = append(batch, kept[0]), kept[1:]
		} else {
			batch, live = append(batch, live[0]), live[1:]
		}
	}
	if n := len(batch); n > 0 {
		*at = batch[n-1].Seq
		if f.patient > 0 {
			f.changed.Broadcast()
		}
	}
	return batch
}

// after returns the entries numbered above at.
func after(entries []Entry, at Seq) []Entry {
	lo, hi := 0, len(entries)
	for lo < hi {
		if mid := (lo + hi) / 2; entries[mid].Seq > at {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return entries[lo:]
}
