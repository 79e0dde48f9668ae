package recall

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/agent/sidequery"
	"adze/internal/domain/memdir"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/platform/text/texts"
)

// A chooser is a model with a constant answer.
type chooser struct {
	answer string
	hang   bool
	before func() // called before it answers
	asked  []string
}

func (c *chooser) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Event, error] {
	c.asked = append(c.asked, req.Messages[0].Text())
	return func(yield func(model.Event, error) bool) {
		if c.hang {
			<-ctx.Done()
			yield(nil, ctx.Err())
			return
		}
		if c.before != nil {
			c.before()
		}
		_ = yield(model.BlockDone{Part: &msg.Text{Text: c.answer}}, nil) && yield(model.Stop{Reason: model.StopEnd}, nil)
	}
}

// A bench is a recaller over a folder with memories.
type bench struct {
	*Recaller
	model  chooser
	folder memdir.Folder
	off    bool
	seen   []string
}

func newBench(t *testing.T, names ...string) *bench {
	b := &bench{folder: memdir.Folder{Dir: t.TempDir()}}
	for _, name := range names {
		text := fmt.Sprintf("---\nname: %s\ndescription: about %s\ntype: project\n---\nSecret of %s.\n", name, name, name)
		if err := os.WriteFile(filepath.Join(b.folder.Dir, name+".md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.Recaller = New(Config{
		Small:  &sidequery.SmallModel{Asker: sidequery.Asker{Provider: &b.model}, Models: func() (string, string) { return "small", "main" }},
		Folder: b.folder, On: func() bool { return !b.off },
		Language: func() texts.Language { return texts.English }, Seen: func() []string { return b.seen }, Now: time.Now,
	})
	return b
}

// recall sends a message and returns the recalled memories.
func (b *bench) recall(t *testing.T, before ...msg.Entry) string {
	t.Helper()
	f := b.Prefetch([]msg.Part{&msg.Text{Text: "Is the release at risk?"}, msg.Reminder("ignored")}, before)
	if f == nil {
		return ""
	}
	return msg.PlainText(f(t.Context()))
}

// Proves MEM-30, MEM-31, MEM-32.
func TestRecall(t *testing.T) {
	b := newBench(t, "a", "b", "c")
	b.model.answer = `{"memories":["b.md","nobody.md"]}`
	used := msg.Entry{Message: msg.Message{Role: msg.Assistant, Parts: []msg.Part{msg.NewToolUse("1", "Bash", "{}")}}}
	b.seen = []string{b.folder.Path("c.md")}
	if got := b.recall(t, used); !strings.Contains(got, "Secret of b.") || strings.Contains(got, "Secret of a.") {
		t.Error(got)
	}
	asked := b.model.asked[0]
	says(t, asked, "Is the release at risk?", "Tools in recent use: Bash", "a.md", "b.md")
	if strings.Contains(asked, "c.md") || strings.Contains(asked, "ignored") {
		t.Errorf("request contains memories already read, or reminders: %s", asked)
	}
	told := msg.Entry{Message: msg.Message{Role: msg.User, Parts: b.last}}
	if got := b.recall(t, told); got != "" || strings.Contains(b.model.asked[1], "b.md") {
		t.Errorf("recalled again: %s", got)
	}
}

// TestRecallOff checks that nothing is recalled if memory is switched off in the meantime.
func TestRecallOff(t *testing.T) {
	b := newBench(t, "a")
	b.model.answer = `{"memories":["a.md"]}`
	b.model.before = func() { b.off = true }
	if got := b.recall(t); got != "" || len(b.model.asked) != 1 {
		t.Errorf("%d questions: %s", len(b.model.asked), got)
	}
	if got := b.recall(t); got != "" || len(b.model.asked) != 1 {
		t.Error("request sent although memory is off")
	}
}

// TestRecallGivesUp checks that a model that fails or answers nonsense is given up after three
// times.
//
// Proves MEM-33.
func TestRecallGivesUp(t *testing.T) {
	for name, model := range map[string]chooser{"nonsense": {answer: "I would take a.md"}, "silence": {hang: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, "a")
				b.model = model
				began := time.Now()
				for range 5 {
					if got := b.recall(t); got != "" {
						t.Error(got)
					}
				}
				if len(b.model.asked) != 3 || time.Since(began) > 3*maxTime {
					t.Errorf("%d questions in %v", len(b.model.asked), time.Since(began))
				}
			})
		})
	}
}
