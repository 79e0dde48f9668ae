package session_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/agent"
	"adze/internal/agent/compact"
	"adze/internal/agent/sidequery"
	"adze/internal/session"
	"adze/internal/session/notes"
	"adze/internal/session/store"
)

const (
	wantNotes = "when text \"<notes>\"\n"
	openWork  = "_Open work, and what comes next._"
)

// A noted is a session with notes and a large window.
type noted struct {
	*dwelling
	path string
}

// newNoted opens the session. In the script, NOTE is replaced by an answer that adds a line to
// the notes.
func newNoted(t *testing.T, script string, opt store.Options, change func(*session.Config)) *noted {
	t.Helper()
	n := &noted{path: filepath.Join(opt.Home, "notes.md")}
	const answer = `text "<notes>\n# Current state\nFixing the parser.\n</notes>"`
	n.dwelling = newDwelling(t, strings.ReplaceAll(script, "NOTE", answer), opt, func(c *session.Config) {
		c.Models.Resolve = func(name string) (agent.Model, error) { // notes are due at 10,000 tokens, and again after 4,000
			return agent.Model{ID: name, Window: 42_000, Output: 1000, MaxOutput: 2000}, nil
		}
		k, err := notes.New(notes.Config{Asker: sidequery.Asker{Provider: c.Provider}, Path: func() string { return n.path }})
		if err != nil {
			t.Fatal(err)
		}
		c.Window.Notes, c.Window.Keep = k, compact.KeepPolicy{MinTokens: 100, MinTexts: 1, MaxTokens: 5_000}
		if change != nil {
			change(c)
		}
	})
	return n
}

// updates returns the number of requests for notes.
func (n *noted) updates() (count int) {
	for _, r := range n.player.Requests() {
		if bytes.Contains(r, []byte("\\u003cnotes\\u003e")) || bytes.Contains(r, []byte("<notes>")) {
			count++
		}
	}
	return count
}

// TestNotesBesideTurns checks that notes are written in the background and turns never wait for
// them.
//
// Proves CTX-59.
func TestNotesBesideTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNoted(t, wantNotes+"forever\ndelay 30s\nNOTE\n---\nwhen last \"call\"\nrepeat 3\nuse Big {\"n\":1}\n---\nforever\nsay Yes.\nusage none", place(t), nil)
		for i, tt := range []struct {
			prompt string
			size   int
			want   int // number of updates so far
		}{
			{"below the first", 9_500, 0},
			{"above it", 700, 1},
			{"while notes are written", 6_000, 1},
			{"below the next", 100, 2}, // the previous prompt counts now
			{"too little", 3_000, 2},
			{"at the end of a turn", 1_200, 3},
		} {
			began := time.Now()
			n.completed(tt.prompt + " " + sized(tt.size))
			if took := time.Since(began); took != 0 {
				t.Errorf("%s: the turn took %s", tt.prompt, took)
			}
			if i != 1 {
				time.Sleep(time.Minute)
			}
			synctest.Wait()
			if got := n.updates(); got != tt.want {
				t.Errorf("%s: %d updates, want %d", tt.prompt, got, tt.want)
			}
		}
		page, err := os.ReadFile(n.path)
		if err != nil || !bytes.Contains(page, []byte("Fixing the parser.")) {
			t.Errorf("%v, the notes are\n%s", err, page)
		}
		n.close()
	})
}

// TestNoNotesAfterTheLastTurn checks that no notes are requested in the last turn, where they
// would come too late.
//
// Proves CTX-59.
func TestNoNotesAfterTheLastTurn(t *testing.T) {
	for _, last := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			n := newNoted(t, wantNotes+"forever\nNOTE\n---\nforever\nsay Yes.\nusage none", place(t), func(c *session.Config) { c.Window.LastTurn = last })
			n.completed("first " + sized(10_500))
			synctest.Wait()
			n.completed("second " + sized(3_950)) // the answer pushes it over the limit
			n.completed("third " + sized(100))
			synctest.Wait()
			before := n.updates()
			n.close()
			if want := 1; last && before != want || !last && before <= want {
				t.Errorf("last %t: %d updates", last, before)
			}
		})
	}
}

// TestNoNotesInANarrowWindow checks that no notes are requested if the window could be full
// after a compaction with notes. /summary still writes them.
//
// Proves CTX-59.
func TestNoNotesInANarrowWindow(t *testing.T) {
	for most, want := range map[int]int{35_000: 1, 40_000: 0} { // the usable window is 40,000 tokens, prompt included
		synctest.Test(t, func(t *testing.T) {
			n := newNoted(t, wantNotes+"forever\nNOTE\n---\nforever\nsay Yes.\nusage none", place(t), func(c *session.Config) { c.Window.Keep.MaxTokens = most })
			n.completed("first " + sized(10_500))
			synctest.Wait()
			if got := n.updates(); got != want {
				t.Errorf("up to %d tokens are kept: %d updates, want %d", most, got, want)
			}
			n.submit(session.Notes{})
			n.idle()
			if got := n.updates(); got != want+1 {
				t.Errorf("/summary: %d updates", got)
			}
			n.close()
		})
	}
}

// TestExitWhileNotesAreWritten checks that closing a session does not wait for notes, and that
// the old notes stay.
//
// Proves CTX-57.
func TestExitWhileNotesAreWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNoted(t, wantNotes+"NOTE\n---\n"+wantNotes+"hang\n---\nforever\nsay Yes.\nusage none", place(t), nil)
		n.completed("first " + sized(10_500))
		synctest.Wait()
		want, err := os.ReadFile(n.path)
		if err != nil {
			t.Fatal(err)
		}
		n.completed("second " + sized(6_000))
		synctest.Wait()
		if got := n.updates(); got != 2 {
			t.Fatalf("%d updates", got)
		}
		began := time.Now()
		n.close()
		if took := time.Since(began); took != 0 {
			t.Errorf("closing took %s", took)
		}
		if got, err := os.ReadFile(n.path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%v, the notes are\n%s", err, got)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(n.path), ".notes*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

// Proves CTX-60.
func TestSummaryCommand(t *testing.T) {
	n := newNoted(t, wantNotes+"NOTE\n---\nsay Yes.\nusage none", place(t), nil)
	n.completed("fix the parser")
	n.submit(session.Notes{})
	n.idle()
	if got := notices(n.all()); len(got) != 1 || !strings.Contains(got[0], openWork+"\nFixing the parser.") || n.updates() != 1 {
		t.Errorf("%d updates, notices %q", n.updates(), got)
	}
	if page, err := os.ReadFile(n.path); err != nil || !bytes.Contains(page, []byte("Fixing the parser.")) {
		t.Errorf("%v, the notes are\n%s", err, page)
	}
	n.close()
	n.played()
}

// TestNotesTakeThePlaceOfASummary checks that notes written during the conversation replace a
// summary, without a request to a model.
//
// Proves CTX-37.
func TestNotesTakeThePlaceOfASummary(t *testing.T) {
	opt := place(t)
	n := newNoted(t, wantNotes+"NOTE\n---\nwhen text \"Summarise this conversation\"\nforever\nerror invalid_request\n---\nuse Big {\"n\":11000}\n---\nforever\nsay Yes.\nusage none", opt, nil)
	n.completed("first")
	for i := range 3 {
		n.completed(fmt.Sprintf("prompt %d", i))
	}
	n.submit(session.Compact{})
	n.idle()
	events := n.completed("last")
	if got := string(n.asked(0)); compactions(n.all()) != 1 || !strings.Contains(got, "Fixing the parser.") || !strings.Contains(got, "prompt 2") {
		t.Errorf("%d compactions, and the last request is %.2000s", compactions(n.all()), got)
	}
	for _, e := range events {
		if f, ok := e.(agent.Failed); ok {
			t.Error(f.Err)
		}
	}
	n.close()
}
