package transcript

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"adze/internal/agent"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/draw"
)

// TestAnyOrder checks random event orders with frames at any time and dropped deltas: live rows
// fit, answers that were not withdrawn and finished calls become final once and in order, and
// nothing is left live at the end of a turn.
func TestAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newStage(t, rapid.IntRange(10, 120).Draw(t, "w"), rapid.IntRange(1, 30).Draw(t, "h"), Config{
			Thinking: func() bool { return rapid.Bool().Draw(t, "thinking") },
		})
		w := &world{stage: s, t: t}
		s.entry(session.Started{})
		s.loop(agent.Requesting{})
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			w.step()
		}
		w.complete()
		s.entry(session.Finished{Ended: agent.Ended{Reason: agent.Completed}})
		if live := s.frame(); len(live) > 1 {
			t.Fatalf("left: %v", live)
		}
		var got []string
		for _, row := range s.final {
			for _, word := range strings.FieldsFunc(row.String(), func(r rune) bool { return r == ' ' || r == ',' || r == ':' }) {
				if strings.HasPrefix(word, "say") || strings.HasPrefix(word, "call") || strings.HasPrefix(word, "note") {
					got = append(got, word)
				}
			}
		}
		missing := slices.DeleteFunc(slices.Clone(w.want), func(word string) bool { return slices.Contains(got, word) })
		if len(missing) > 0 {
			t.Fatalf("missing %v in\n%s", missing, draw.Palette{}.Text(s.final))
		}
		for _, word := range w.want {
			if n := strings.Count(strings.Join(got, " ")+" ", word+" "); n != 1 {
				t.Fatalf("%s is there %d times in\n%s", word, n, draw.Palette{}.Text(s.final))
			}
		}
		a := s.All(80)
		for i := range a.Len() {
			a.Row(i)
		}
	})
}

// A world is a simulated session.
type world struct {
	*stage
	t       *rapid.T
	n       int
	block   int
	spoken  int      // block of the last text
	texts   []string // texts of the response
	running []string
	want    []string // words expected to be final in the end
}

func (w *world) word(kind string) string {
	w.n++
	return fmt.Sprintf("%s%d.", kind, w.n)
}

func (w *world) step() {
	switch rapid.IntRange(0, 10).Draw(w.t, "what") {
	case 0, 1, 2:
		if len(w.texts) == 0 || w.spoken != w.block || rapid.Bool().Draw(w.t, "new block") {
			w.texts = append(w.texts, "")
			w.block++
			w.spoken = w.block
		}
		word := w.word("say") + rapid.SampledFrom([]string{" ", "\n\n", "\n"}).Draw(w.t, "gap")
		w.texts[len(w.texts)-1] += word
		if rapid.IntRange(0, 9).Draw(w.t, "missed") == 0 {
			w.seq++
			return
		}
		w.says(w.block, word, rapid.IntRange(1, 9).Draw(w.t, "size"))
	case 3:
		w.block++
		w.loop(agent.Delta{Event: model.ThinkingDelta{Block: w.block, Text: "Hm. "}})
	case 4:
		id := w.word("call")
		fold := rapid.SampledFrom([]tool.Fold{tool.NoFold, tool.FoldRead, tool.FoldSearch}).Draw(w.t, "fold")
		w.loop(agent.ToolStarted{Use: use(id), Title: id, Verb: rapid.SampledFrom([]string{"", "Read"}).Draw(w.t, "verb"), Object: id, Fold: fold})
		w.running = append(w.running, id)
	case 5:
		w.end()
	case 6:
		w.loop(agent.Withdrawn{}, agent.Requesting{})
		w.texts = nil
	case 7:
		w.complete()
		w.loop(agent.Requesting{})
	case 8:
		word := w.word("note")
		w.Say(word)
		w.want = append(w.want, word)
	case 10:
		w.Settle()
	case 9:
		w.after(time.Duration(rapid.IntRange(0, 5000).Draw(w.t, "ms")) * time.Millisecond)
	}
	if rapid.Bool().Draw(w.t, "frame") {
		w.frame()
	}
}

// end ends the first running call. Folded names may not fit, so only other names are checked.
func (w *world) end() {
	if len(w.running) == 0 {
		return
	}
	id := w.running[0]
	w.running = w.running[1:]
	if w.calls.find(id).Fold == tool.NoFold && w.w > 30 {
		w.want = append(w.want, id)
	}
	w.loop(agent.ToolDone{Use: use(id), Result: ok("done"), Display: tool.File{Path: "/x"}})
}

// complete completes the response and its calls.
func (w *world) complete() {
	m := msg.Message{Role: msg.Assistant}
	for _, text := range w.texts {
		m.Parts = append(m.Parts, &msg.Text{Text: text})
		w.want = append(w.want, strings.Fields(text)...)
	}
	w.loop(agent.Appended{Entry: msg.Entry{Message: m}})
	w.texts = nil
	for len(w.running) > 0 {
		w.end()
	}
}
