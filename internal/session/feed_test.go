package session

import (
	"context"
	"encoding/json"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/agent"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/tool"
)

func text(n int) Event { return Loop{agent.Notice{Text: string(rune('0' + n%10))}} }

func delta() Event { return Loop{agent.Delta{Event: model.TextDelta{Text: "piece"}}} }

// TestFollowers checks that every reader, early or late, gets every entry that is not live, in
// order, and that live entries do not accumulate for a slow reader.
func TestFollowers(t *testing.T) {
	const entries, lives = 10_000, 20
	f := newFeed(time.Now)
	slow := make(chan struct{})
	var readers, ready sync.WaitGroup
	follow := func(name string, pace Pace, wait <-chan struct{}) {
		ready.Add(1)
		readers.Go(func() {
			kept, live, last := 0, 0, Seq(0)
			for e := range f.follow(t.Context(), 0, pace) {
				if last == 0 {
					ready.Done()
					if wait != nil {
						<-wait
					}
				}
				if e.Seq <= last {
					t.Errorf("%s: %d after %d", name, e.Seq, last)
					return
				}
				last = e.Seq
				if e.Live {
					live++
				} else {
					kept++
				}
			}
			if kept != entries || pace == Every && live != (entries-1)*lives {
				t.Errorf("%s: %d entries, %d live ones", name, kept, live)
			}
		})
	}
	follow("fast", Latest, nil)
	follow("patient", Every, nil)
	follow("slow", Latest, slow)
	f.add(t.Context(), text(0), false)
	ready.Wait()
	for i := range entries - 1 {
		f.add(t.Context(), text(i), false)
		for range lives {
			f.add(t.Context(), delta(), true)
		}
	}
	if n := cap(f.live); n > 4*liveKept {
		t.Errorf("%d live entries are kept", n)
	}
	close(slow)
	f.close()
	readers.Wait()
	follow("late", Latest, nil)
	readers.Wait()
}

// TestPatientReader checks that the session waits for a reader with the pace Every until the
// reader leaves or ctx is done.
func TestPatientReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed(time.Now)
		ctx, leave := context.WithCancel(t.Context())
		go func() {
			for range f.follow(ctx, 0, Every) {
				<-ctx.Done()
			}
		}()
		f.add(t.Context(), text(0), false)
		synctest.Wait()
		turn, interrupt := context.WithCancel(t.Context())
		added := 0
		go func() {
			for range 3 * liveKept {
				f.add(turn, delta(), true)
				added++
			}
		}()
		synctest.Wait()
		if added < liveKept || added > 2*liveKept {
			t.Errorf("%d live entries were added while nobody read", added)
		}
		at := added
		interrupt()
		synctest.Wait()
		if added != 3*liveKept {
			t.Errorf("%d entries were added after the interrupt, %d before", added, at)
		}
		go func() {
			for range 3 * liveKept {
				f.add(t.Context(), delta(), true)
				added++
			}
		}()
		synctest.Wait()
		leave()
		synctest.Wait()
		if added != 6*liveKept {
			t.Errorf("%d entries: the session still waits for a reader that left", added)
		}
		f.add(t.Context(), text(1), false)
		f.close()
	})
}

// TestFollowFromANumber checks that a reader can resume where it stopped.
func TestFollowFromANumber(t *testing.T) {
	f := newFeed(time.Now)
	for i := range 10 {
		f.add(t.Context(), text(i), i%2 == 1)
	}
	f.close()
	for after := range Seq(12) {
		want := after
		for e := range f.follow(t.Context(), after, Latest) {
			if want++; e.Seq != want {
				t.Errorf("after %d: entry %d, want %d", after, e.Seq, want)
			}
		}
		if want < 10 {
			t.Errorf("after %d: it ended with %d", after, want)
		}
	}
}

func BenchmarkFeed(b *testing.B) {
	f := newFeed(time.Now)
	var reader sync.WaitGroup
	reader.Go(func() {
		for range f.follow(b.Context(), 0, Every) {
			runtime.Gosched()
		}
	})
	for b.Loop() {
		f.add(b.Context(), delta(), true)
	}
	f.close()
	reader.Wait()
}

// TestOldEntriesAreLight checks that call results are kept until all current readers have them,
// and then dropped.
func TestOldEntriesAreLight(t *testing.T) {
	for _, pace := range []Pace{Latest, Every} {
		f := newFeed(time.Now)
		var reader sync.WaitGroup
		begun, goOn := make(chan struct{}), make(chan struct{})
		const entries = 4 * maxBatch
		full := 0
		reader.Go(func() {
			for e := range f.follow(t.Context(), 0, pace) {
				if e.Seq == 1 {
					close(begun)
					<-goOn
				}
				if !slices.Contains(weight(e.Event), false) {
					full++
				}
			}
		})
		f.add(t.Context(), heavy(0), false)
		<-begun
		for i := range entries - 1 {
			f.add(t.Context(), heavy(i+1), false)
		}
		if f.slim > 1 {
			t.Errorf("%d entries are light before they were read", f.slim)
		}
		close(goOn)
		f.close()
		reader.Wait()
		f.add(t.Context(), text(0), false)
		if full != entries {
			t.Errorf("%d of %d results reached the reader", full, entries)
		}
		if f.slim != entries+1-maxBatch {
			t.Errorf("%d entries are light", f.slim)
		}
		for _, e := range f.kept[:f.slim] {
			if slices.Contains(weight(e.Event), true) {
				t.Fatalf("an old entry is heavy: %+v", e.Event)
			}
		}
	}
}

// heavy returns an event with large contents.
func heavy(n int) Event {
	use := &msg.ToolUse{ID: "id", Name: "Bash", Input: json.RawMessage("{}")}
	parts := []msg.Part{&msg.Text{Text: "printed"}}
	return []Event{
		Loop{agent.Appended{Entry: msg.Entry{Structured: map[string]json.RawMessage{"id": json.RawMessage("{}")}, Message: msg.Message{Parts: parts}}}},
		Loop{agent.ToolStarted{Use: use}},
		Loop{agent.ToolDone{Use: use, Result: &msg.ToolResult{ID: "id", Parts: parts}, Display: tool.Output{Text: "printed"}}},
	}[n%3]
}

// weight reports which large contents an event has.
func weight(ev Event) []bool {
	switch ev := ev.(Loop).Event.(type) {
	case agent.Appended:
		return []bool{ev.Entry.Structured != nil, ev.Entry.Message.Parts != nil}
	case agent.ToolStarted:
		return []bool{ev.Use.Input != nil}
	case agent.ToolDone:
		return []bool{ev.Use.Input != nil, ev.Result.Parts != nil, ev.Display != nil}
	}
	return []bool{false}
}
