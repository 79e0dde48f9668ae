package session_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/msg"
	"adze/internal/session"
)

// partials is a log that records the saves of arriving answers.
type partials struct {
	*memoryLog
	began time.Time

	mu    sync.Mutex
	lines []string
	now   *msg.Entry // the saved entry
}

func (p *partials) SavePartial(e msg.Entry) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines, p.now = append(p.lines, fmt.Sprintf("%v %s", time.Since(p.began), e.Message.Text())), &e
	return nil
}

func (p *partials) AddPartial(e msg.Entry) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, e.Message.Parts[0].(*msg.ToolResult).ID)
	return nil
}

func (p *partials) DropPartial() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines, p.now = append(p.lines, "dropped"), nil
	return nil
}

// TestArrivingAnswerIsSaved checks that an arriving answer is saved about every second, without
// its calls, until it is stored or withdrawn, but not if it arrives within a second. The result
// of a call is saved while other calls run, until all are stored.
//
// Proves SESS-18, SESS-19.
func TestArrivingAnswerIsSaved(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		want         []string
	}{
		{"short", "fragments 9 every=100ms\nsay 012345678", nil},
		{"long", "fragments 9 every=400ms\nsay 012345678", []string{"1s 012", "2.2s 012345", "dropped"}},
		{"pause", "say 0\ndelay 1500ms\nsay+ 1\ndelay 10s\nsay+ 2", []string{"1s 0", "2.5s 01", "dropped"}},
		{"blocks and calls", "say 0\nuse Do {\"text\":\"a\"}\ndelay 500ms\nsay 1\ndelay 2s\n---\nsay 2", []string{"1s 01", "dropped"}},
		{"only a call", "use Do {\"text\":\"a\"}\ndelay 5s\n---\nsay 2", nil},
		{"thinking alone", "think deep\ndelay 5s\nsay 2", nil},
		{"blank", "text \"\\n\"\ndelay 5s", nil},
		{"withdrawn", "say 0\ndelay 2s\ncut\n---\nsay 1", []string{"1s 0", "dropped"}},
		{"calls", "use Do {\"text\":\"a\"}\nuse Do {\"text\":\"b\"}\nuse Do {\"text\":\"c\"}\n---\nuse Do {\"text\":\"d\"}\n---\nsay 1", []string{"toolu_1_1", "toolu_1_2", "dropped"}},
		{"two answers", "say 0\ndelay 2s\nuse Do {\"text\":\"a\"}\n---\nsay 1\ndelay 2s", []string{"1s 0", "dropped", "3s 1", "dropped"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &partials{began: time.Now()}
				b := newBench(t, tt.script, func(b *bench, c *session.Config) {
					p.memoryLog = b.log
					c.Records.Log = p
				})
				b.prompt("go")
				b.Close()
				if diff := cmp.Diff(tt.want, p.lines); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// TestArrivingAnswerFollowsTheLog checks that a partial answer follows the last entry of the
// log and is marked as cut off.
//
// Proves SESS-18.
func TestArrivingAnswerFollowsTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &partials{began: time.Now()}
		b := newBench(t, "use Do {\"text\":\"a\"}\n---\nsay Half\nhang", func(b *bench, c *session.Config) {
			p.memoryLog = b.log
			c.Records.Log = p
		})
		b.submit(say("go"))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		p.mu.Lock()
		e := p.now
		p.mu.Unlock()
		entries := p.memoryLog.entries
		if e == nil || !e.Aborted || e.Message.Role != msg.Assistant || e.Parent != entries[len(entries)-1].ID || e.Model != "small" || e.ResponseID != "msg_2" || e.ID == "" {
			t.Errorf("saved %+v after %d entries", e, len(entries))
		}
		b.Interrupt(session.Interrupt{})
		b.Idle(t.Context())
		if last := p.memoryLog.entries[len(p.memoryLog.entries)-2]; p.now != nil || !strings.Contains(last.Message.Text(), "Half") {
			t.Errorf("saved %+v alongside %+v", p.now, last)
		}
		b.Close()
	})
}
