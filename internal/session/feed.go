package session

import (
	"context"
	"iter"
	"sync"
	"time"

	"adze/internal/agent"
	"adze/internal/msg"
)

// A Seq numbers the entries of a session, from 1. Numbers only grow; where live entries were left out
// there are gaps.
type Seq int64

// An Entry is one event of a session, with its number.
type Entry struct {
	Seq  Seq
	Time time.Time
	// Live entries show something in progress: a piece of text, the progress of a call. The complete form
	// follows in an entry that is not live, so that a late reader does not need them.
	Live  bool
	Event Event
}

// A Pace says how a reader gets live entries.
type Pace int

// The paces.
const (
	// Latest leaves out live entries that the reader was too slow for.
	Latest Pace = iota
	// Every makes the session wait for the reader rather than leave out a live entry.
	Every
)

// liveKept is how many live entries are kept for readers that are behind.
const liveKept = 1024

// A feed keeps the entries of a session for any number of readers. Entries that are not live are kept
// as long as the session is, old ones without what calls returned; the last of the live ones are kept beside them.
type feed struct {
	now func() time.Time

	mu      sync.Mutex
	changed sync.Cond // something was added, a reader moved on or left, the feed was closed
	last    Seq
	kept    []Entry       // not live, by number
	live    []Entry       // by number
	slim    int           // how many of kept were made light
	readers map[*Seq]Pace // by how far they have read
	patient int           // how many of them have the pace Every
	closed  bool
}

func newFeed(now func() time.Time) *feed {
	f := &feed{now: now, readers: map[*Seq]Pace{}}
	f.changed.L = &f.mu
	return f
}

// add numbers an event. It waits for readers that want every live entry, but no longer than ctx lasts.
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
		if len(f.live) >= 2*liveKept { // cut now and then, not each time
			f.live = append(f.live[:0], f.live[len(f.live)-liveKept+1:]...)
		}
		f.live = append(f.live, e)
	} else {
		f.kept = append(f.kept, e)
		f.lighten()
	}
	f.changed.Broadcast()
}

// lighten drops the contents of messages and results from old entries, which are large: who comes late finds them in
// the history or the log. Readers that are there get them first.
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

// behind reports whether another live entry would drop one that a reader with the pace Every has not read.
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

// wake makes all readers and writers look again. The lock makes sure that none is between looking and waiting.
func (f *feed) wake() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changed.Broadcast()
}

// close ends the feed: readers get the entries up to now.
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

// follow yields the entries after a number, and then what is added, until ctx is done or the feed is
// closed and read to its end.
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

// enter notes that a reader follows, and leave that it does not any more.
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

// maxBatch bounds how many entries a reader is given at once: what it holds is not kept twice.
const maxBatch = 256

// next waits for entries after at, appends them to batch in order, and moves at on. None means the end.
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

// after returns the entries with a greater number.
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
