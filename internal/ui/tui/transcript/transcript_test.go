package transcript

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/agent"
	"adze/internal/commands"
	"adze/internal/model"
	"adze/internal/model/cost"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/draw"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// A reporter is a test, including a property test.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
}

// A stage feeds a transcript with its own clock, and collects the final rows.
type stage struct {
	*Transcript
	t     reporter
	w, h  int
	at    time.Time
	seq   session.Seq
	final []draw.Row
}

func newStage(t reporter, w, h int, cfg Config) *stage {
	s := &stage{t: t, w: w, h: h, at: time.Date(2026, 11, 17, 9, 0, 0, 0, time.UTC)}
	cfg.Now = func() time.Time { return s.at }
	cfg.Keys = func() Keys { return Keys{Stop: "Esc", Background: "Ctrl+B", All: "Ctrl+O"} }
	s.Transcript = New(cfg)
	return s
}

func (s *stage) after(d time.Duration) { s.at = s.at.Add(d) }

func (s *stage) entry(ev session.Event) {
	s.seq++
	s.Entry(session.Entry{Seq: s.seq, Event: ev})
}

func (s *stage) loop(events ...agent.Event) {
	for _, ev := range events {
		s.entry(session.Loop{Event: ev})
	}
}

// says lets the model write a block of text, in pieces of n bytes.
func (s *stage) says(block int, text string, n int) {
	for from := 0; from < len(text); from += n {
		s.loop(agent.Delta{Event: model.TextDelta{Block: block, Text: text[from:min(len(text), from+n)]}})
	}
}

func (s *stage) said(texts ...string) {
	m := msg.Message{Role: msg.Assistant}
	for _, text := range texts {
		m.Parts = append(m.Parts, &msg.Text{Text: text})
	}
	s.loop(agent.Appended{Entry: msg.Entry{ID: msg.NewID(), Message: m}})
}

// frame draws a frame and returns the live rows.
func (s *stage) frame() []draw.Row {
	s.t.Helper()
	s.final = append(s.final, s.Final(s.w)...)
	live := s.Rows(s.w, s.h)
	if len(live) > s.h {
		s.t.Errorf("%d live rows in %d", len(live), s.h)
	}
	for _, row := range live {
		if row.Width() > s.w-1 {
			s.t.Errorf("a live row has %d cells: %s", row.Width(), row)
		}
	}
	return live
}

// text returns all visible text.
func (s *stage) text() string {
	s.t.Helper()
	live := s.frame()
	return draw.Palette{}.Text(s.final) + "\n--- live\n" + draw.Palette{}.Text(live) + "\n"
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func use(id string) *msg.ToolUse { return &msg.ToolUse{ID: id, Name: "Any"} }

func ok(text string) *msg.ToolResult {
	return &msg.ToolResult{Parts: []msg.Part{&msg.Text{Text: text}}}
}

func bad(text string) *msg.ToolResult {
	return &msg.ToolResult{IsError: true, Parts: []msg.Part{&msg.Text{Text: text}}}
}

// read simulates calls that read files.
func (s *stage) read(names ...string) {
	for _, name := range names {
		id := msg.NewID()
		s.loop(agent.ToolStarted{Use: use(id), Title: "Read " + name, Activity: "Reading " + name, Verb: "Read", Object: name, Fold: tool.FoldRead},
			agent.ToolDone{Use: use(id), Result: ok("text of " + name), Display: tool.File{Path: "/src/" + name, Count: 10, Len: 10}})
	}
}

func (s *stage) search(pattern string, list tool.List) {
	id := msg.NewID()
	s.loop(agent.ToolStarted{Use: use(id), Title: "Grep " + pattern, Activity: "Searching for " + pattern, Verb: "Searched", Object: pattern, Fold: tool.FoldSearch},
		agent.ToolDone{Use: use(id), Result: ok(strings.Join(list.Items, "\n")), Display: list})
}

func (s *stage) start(id, command string) {
	s.loop(agent.ToolStarted{Use: use(id), Title: "Run " + command, Activity: "Running " + command, Object: command})
}

func code(n int) *int { return &n }

// TestJourney checks a typical session: reading, searching, an answer, an edit, a command with
// its output, and a failure.
//
// Proves TOOL-16, TOOL-17, TOOL-18, X-123.
func TestJourney(t *testing.T) {
	for _, size := range []struct{ w, h int }{{80, 24}, {40, 12}} {
		t.Run(fmt.Sprintf("%dx%d", size.w, size.h), func(t *testing.T) {
			s := newStage(t, size.w, size.h, Config{Dir: "/src"})
			var steps []string
			step := func(name string) { steps = append(steps, "=== "+name+"\n"+s.text()) }
			s.Say("adze 0.2 ∙ opus 5.5 ∙ ~/src/shop (main +2)")
			s.Prompt("why does checkout round wrong?", "why does checkout round wrong?")
			s.entry(session.Started{})
			s.loop(agent.Requesting{})
			s.after(3 * time.Second)
			step("waiting")
			s.read("cart.go", "money.go")
			s.search("Round( in *.go", tool.List{Total: 7, Unit: "lines", Files: []string{"cart.go", "money.go", "tax.go"}, Items: []string{"cart.go:1:Round("}, Marks: [][]tool.Mark{{{From: 10, To: 16}}}})
			s.read("tax.go", "cart_test.go", "cart.go")
			step("a run of reads and searches")
			s.loop(agent.Requesting{})
			answer := "The tax is rounded **per line** and the sum again at the end. In `money.go:41`\n\n```go\nfunc (m Money) Tax(r Rate) Money {\n\treturn m.Mul(r).Round() // first rounding\n}\n```\n\nand cart.go:88 rounds once more, so three items at 0.335 come to 1.02"
			s.says(0, answer, 7)
			s.after(6 * time.Second)
			step("streaming")
			s.said(answer)
			s.loop(agent.ToolStarted{Use: use("e"), Title: "Edit cart.go", Activity: "Editing cart.go"},
				agent.ToolDone{Use: use("e"), Result: ok("done"), Display: tool.Diff{Path: "/src/cart.go", Added: 2, Removed: 1, Hunks: []tool.Hunk{{OldStart: 86, NewStart: 86,
					Lines: []string{" \tfor _, l := range c.Lines {", "-\t\tsum = sum.Add(l.Total().Round())", "+\t\tsum = sum.Add(l.Total())", " \t}", "+\treturn sum.Round()"}}}}})
			s.start("c", "go test ./...")
			s.loop(agent.ToolProgress{ID: "c", Display: tool.Output{Command: "go test ./...", Lines: 212, Text: "1\n2\n3\nok  \tshop/cart\t0.412s\n--- FAIL: TestTax (0.00s)\n    tax_test.go:31: got 1.02, want 1.01"}})
			s.after(34 * time.Second)
			s.entry(session.Task{ID: "a1", Type: "explore", Title: "Look at the export", News: session.TaskBegan})
			s.entry(session.Task{ID: "a1", Type: "explore", Title: "Look at the export", Doing: "Reading export.go", News: session.TaskWorks, Used: session.TaskUse{Tokens: 9123, Calls: 4, CostUSD: 0.021}})
			step("running")
			s.entry(session.Task{ID: "a1", Type: "explore", News: session.TaskEnded})
			s.loop(agent.ToolDone{Use: use("c"), Result: bad("..."), Elapsed: 34 * time.Second, Display: tool.Output{Command: "go test ./...", Lines: 4, Exit: code(1), Text: "ok  \tshop/cart\t0.412s\n--- FAIL: TestTax (0.00s)\n    tax_test.go:31: got 1.02, want 1.01\nFAIL\n"}})
			s.loop(agent.ToolStarted{Use: use("r"), Title: "Read nosuch.go", Activity: "Reading nosuch.go", Verb: "Read", Object: "nosuch.go", Fold: tool.FoldRead},
				agent.ToolDone{Use: use("r"), Result: bad("nosuch.go does not exist in this directory. Did you mean such.go? It is in the directory above.")})
			s.loop(agent.ToolStarted{Use: use("n"), Title: "Run rm -rf /", Object: "rm -rf /"}, agent.ToolDone{Use: use("n"), Denied: true, Refusal: "you said no", Result: bad("no")})
			s.loop(agent.ToolStarted{Use: use("b"), Title: "Run make", Object: "make"}, agent.ToolDone{Use: use("b"), Result: ok("x"), Display: tool.Output{Command: "make", Lines: 12, Exit: code(0), Text: "8\n9\n10\n11\n12"}})
			s.loop(agent.ToolStarted{Use: use("l"), Title: "Update the to-do list"}, agent.ToolDone{Use: use("l"), Result: ok("x"), Display: tool.Checklist{{Text: "round once", State: tool.Done}, {Text: "test it", State: tool.Doing}, {Text: "tell"}}})
			s.said("Done.")
			s.entry(session.Finished{Ended: agent.Ended{Reason: agent.Completed}, After: cost.Totals{Usage: msg.Usage{Output: 9}}, Took: 95 * time.Second})
			s.Fail(errors.New("the sandbox is not there"))
			s.Page(commands.Page{Blocks: []commands.Block{commands.Fields{{Name: "Model", Value: "opus 5.5"}}}})
			step("end")
			golden(t, fmt.Sprintf("journey-%dx%d", size.w, size.h), strings.Join(steps, "\n"))
		})
	}
}

// TestHostile checks that names, output and answers can neither control the terminal nor break
// rows.
//
// Proves X-123.
func TestHostile(t *testing.T) {
	nasty := "a\x1b[2J\x1b]0;x\x07b\u202ec\u200bd\r\te" + strings.Repeat("x", 10000)
	s := newStage(t, 60, 20, Config{Thinking: func() bool { return true }})
	s.Prompt(nasty+"\n"+nasty, nasty+"\n"+nasty)
	s.Say(nasty)
	s.Fail(errors.New(nasty))
	s.entry(session.Started{})
	s.loop(agent.Delta{Event: model.ThinkingDelta{Block: 0, Text: nasty}})
	s.says(1, nasty+"\n\n|"+nasty+"|\n|--|\n", 1)
	s.frame()
	s.loop(agent.Delta{Event: model.InputDelta{Block: 2, Name: nasty}})
	s.frame()
	s.start("c", nasty)
	s.loop(agent.ToolProgress{ID: "c", Display: tool.Output{Command: nasty, Text: nasty + "\n" + nasty, Lines: 2}})
	s.entry(session.Task{ID: "t", Type: nasty, Title: nasty, Doing: nasty})
	s.after(time.Minute)
	s.frame()
	s.read(nasty, nasty+"2")
	s.search(nasty, tool.List{Items: []string{nasty}, Marks: [][]tool.Mark{{{From: 1, To: 4}}}, Total: 1, Files: []string{nasty}})
	s.frame()
	s.loop(agent.ToolDone{Use: use("c"), Result: bad(nasty), Display: tool.Output{Command: nasty, Text: nasty, Lines: 1, Exit: code(1)}})
	s.loop(agent.ToolDone{Use: use("d"), Result: bad(nasty + "\n" + nasty)})
	s.loop(agent.ToolDone{Use: use("e"), Result: ok(""), Display: tool.Diff{Path: nasty, Added: 1, Hunks: []tool.Hunk{{Lines: []string{"+" + nasty}}}}})
	s.loop(agent.ToolDone{Use: use("f"), Result: ok(""), Denied: true, Refusal: nasty})
	text := s.text()
	all := s.All(60)
	for i := range all.Len() {
		text += draw.Palette{}.Paint(all.Row(i)) + "\n"
	}
	if strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\t' || r == 0x202e || r == 0x200b || r == 0x7f
	}) {
		t.Errorf("not safe: %q", text)
	}
}

// TestCompaction checks that compaction in progress has no row of its own, but its result does.
func TestCompaction(t *testing.T) {
	s := newStage(t, 80, 12, Config{})
	s.loop(agent.Notice{Text: "It is being summarised.", Compacting: true})
	if got := s.text(); strings.Contains(got, "It is being") || !strings.Contains(got, "Summarising the conversation") {
		t.Errorf("while it goes on:\n%s", got)
	}
	s.loop(agent.Compacted{Before: 180_000, After: 9_600})
	s.entry(session.Finished{Ended: agent.Ended{Reason: agent.Completed}})
	if got := s.text(); strings.Contains(got, "ummarising") || !strings.Contains(got, "from about 180k tokens to 10k tokens") {
		t.Errorf("after it:\n%s", got)
	}
}

// TestWithdrawn checks that void text is not shown, and that a row notes if some of it was
// already final.
func TestWithdrawn(t *testing.T) {
	s := newStage(t, 60, 20, Config{})
	s.Prompt("go", "go")
	s.loop(agent.Requesting{})
	s.says(0, "Short.", 3)
	s.frame()
	s.loop(agent.Withdrawn{})
	if got := s.text(); strings.Contains(got, "Short") || strings.Contains(got, "broke off") {
		t.Error(got)
	}
	s.loop(agent.Requesting{})
	s.says(0, "A paragraph.\n\nAnd the beginning of", 5)
	s.frame()
	s.loop(agent.Withdrawn{}, agent.Requesting{})
	s.says(0, "All of it.", 5)
	s.said("All of it.")
	want := "❯ go\n\nA paragraph.\n\n⋯ The answer broke off here. Retrying.\n\nAll of it.\n"
	if got := s.text(); !strings.HasPrefix(got, want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestMissedDelta checks that a reader that missed deltas shows the whole answer once.
func TestMissedDelta(t *testing.T) {
	s := newStage(t, 60, 20, Config{})
	s.loop(agent.Requesting{})
	s.says(0, "One two ", 4)
	s.frame()
	s.seq += 3
	s.says(0, "five", 4)
	s.said("One two three four five")
	if got := s.text(); !strings.HasPrefix(got, "One two three four five\n---") {
		t.Error(got)
	}
	s.loop(agent.Requesting{})
	s.said("Not streamed.", "Another.")
	if got := s.text(); !strings.HasPrefix(got, "One two three four five\n\nNot streamed.\n\nAnother.\n---") {
		t.Error(got)
	}
}

// TestCallEndsWhileTheModelWrites checks that a call that ends while the model writes is shown
// after the text is complete.
func TestCallEndsWhileTheModelWrites(t *testing.T) {
	s := newStage(t, 60, 20, Config{})
	s.loop(agent.Requesting{})
	s.says(0, "Before. ", 4)
	s.loop(agent.Delta{Event: model.BlockDone{Block: 0, Part: &msg.Text{Text: "Before. "}}})
	s.start("c", "ls")
	s.says(2, "In the mid", 5)
	s.frame()
	s.loop(agent.ToolDone{Use: use("c"), Result: ok("x"), Display: tool.Output{Command: "ls", Exit: code(0)}})
	s.frame()
	s.says(2, "dle.", 5)
	s.said("Before. ", "In the middle.")
	if got := s.text(); !strings.HasPrefix(got, "Before.\n\nIn the middle.\n\n✓ ls\n") {
		t.Error(got)
	}
}

// TestBesideTheTurn checks that a command running alongside the turn is shown until it is over,
// even if the turn has ended before.
func TestBesideTheTurn(t *testing.T) {
	s := newStage(t, 60, 20, Config{})
	s.loop(agent.Requesting{}, agent.ToolStarted{Use: &msg.ToolUse{ID: "u"}, Object: "of the turn"})
	s.Began("typed", "!make")
	s.Entry(session.Entry{Event: session.Finished{Ended: agent.Ended{Reason: agent.Completed}}})
	if got := s.text(); !strings.Contains(got, "▸ !make") || strings.Contains(got, "of the turn") {
		t.Error(got)
	}
	s.Over("typed")
	if got := s.text(); strings.Contains(got, "make") {
		t.Error(got)
	}
}

// TestThinkingFlips checks that thinking can be shown and hidden while it arrives, without
// duplicates.
func TestThinkingFlips(t *testing.T) {
	shown := false
	s := newStage(t, 60, 20, Config{Thinking: func() bool { return shown }})
	thinks := func(text string) {
		s.loop(agent.Delta{Event: model.ThinkingDelta{Text: text}})
	}
	s.loop(agent.Requesting{})
	thinks("First.\n\nSec")
	if got := s.text(); strings.Contains(got, "First") {
		t.Error(got)
	}
	shown = true
	if got := s.text(); !strings.Contains(got, "▾ Thinking\n  First.") || !strings.Contains(got, "  Sec") {
		t.Error(got)
	}
	shown = false
	thinks("ond.\n\nThird")
	if got := s.text(); strings.Contains(got, "Sec") || strings.Contains(got, "Third") {
		t.Error(got)
	}
	shown = true
	thinks(".")
	s.loop(agent.Delta{Event: model.BlockDone{Block: 0, Part: &msg.Thinking{}}})
	s.said("Yes.")
	got := s.text()
	for _, word := range []string{"First.", "Second.", "Third."} {
		if strings.Count(got, word) != 1 {
			t.Errorf("%s is not there once:\n%s", word, got)
		}
	}
}

// TestThinking checks that thinking is folded, or shown faint.
//
// Proves PROV-42.
func TestThinking(t *testing.T) {
	for shown, want := range map[bool]string{
		false: "❯ go\n\n▸ Thought 12s\n\nYes.\n---",
		true:  "❯ go\n\n▾ Thinking\n  Is it **so**?\n\n  Perhaps.\n\nYes.\n---",
	} {
		s := newStage(t, 60, 20, Config{Thinking: func() bool { return shown }, Marks: true})
		s.Prompt("go", "go")
		s.loop(agent.Requesting{}, agent.Delta{Event: model.ThinkingDelta{Text: "Is it **so**?\n\nPer"}})
		s.after(12 * time.Second)
		got := s.text()
		if !strings.Contains(got, "▸ Thinking 12s ∙ Esc stops") || strings.Contains(got, "  Per") != shown {
			t.Error(got)
		}
		s.loop(agent.Delta{Event: model.ThinkingDelta{Text: "haps."}}, agent.Delta{Event: model.BlockDone{Block: 0, Part: &msg.Thinking{}}})
		s.says(1, "Yes.", 2)
		s.said("Yes.")
		if got := s.text(); !strings.HasPrefix(got, want) {
			t.Errorf("%s\nwant\n%s", got, want)
		}
		for _, row := range s.final {
			if strings.Contains(row.String(), "Perhaps") && row[len(row)-1].Role != draw.Faint {
				t.Errorf("not faint: %v", row)
			}
		}
		var all strings.Builder
		a := s.All(60)
		for i := range a.Len() {
			all.WriteString(a.Row(i).String() + "\n")
		}
		if !strings.Contains(all.String(), "▾ Thought 12s\n  Is it **so**?\n\n  Perhaps.\n") {
			t.Errorf("all: %s", all.String())
		}
	}
}

// TestUpdatesAreShown checks that text between calls is shown although it arrives as thinking.
//
// Proves PROV-42.
func TestUpdatesAreShown(t *testing.T) {
	s := newStage(t, 60, 20, Config{})
	s.loop(agent.Requesting{}, agent.Delta{Event: model.ThinkingDelta{Text: "I look at the tax.", Update: true}}, agent.Delta{Event: model.BlockDone{Part: &msg.Thinking{}}})
	if got := s.text(); !strings.HasPrefix(got, "I look at the tax.\n") {
		t.Error(got)
	}
}

// TestRunning checks that a running command is shown with a clock after two seconds and the end
// of its output, but not during a question, and that nothing of it remains live when the turn
// is over.
//
// Proves SHC-03.
func TestRunning(t *testing.T) {
	s := newStage(t, 60, 20, Config{})
	s.entry(session.Started{})
	s.start("c", "make")
	s.loop(agent.ToolProgress{ID: "c", Display: tool.Output{Command: "make", Text: "x", Lines: 1}})
	for _, step := range []struct {
		after time.Duration
		want  string
	}{
		{time.Second, "▸ make\n  x\n"}, {2 * time.Second, "▸ make 3s\n  x\n  ⋯ Ctrl+B background\n"},
		{2 * time.Minute, "▸ make 2m3s\n"}, {time.Hour, "▸ make 1h2m\n"},
	} {
		s.after(step.after)
		if got := s.text(); !strings.Contains(got, "--- live\n"+step.want) {
			t.Errorf("%s\nwant\n%s", got, step.want)
		}
	}
	s.loop(agent.ToolProgress{ID: "c", Display: tool.Output{Command: "make", Text: "x", Lines: 1, Stays: true}})
	if got := s.text(); strings.Contains(got, "background") {
		t.Errorf("a key is named that does nothing:\n%s", got)
	}
	s.entry(session.Asked{ID: "q"})
	if got := s.text(); strings.Contains(got, "make") {
		t.Error(got)
	}
	s.entry(session.Settled{ID: "q"})
	if got := s.text(); !strings.Contains(got, "▸ make") {
		t.Error(got)
	}
	s.entry(session.Finished{Ended: agent.Ended{Reason: agent.AbortedStreaming}})
	if got := s.text(); !strings.HasPrefix(got, "Stopped.") || strings.Contains(got, "make") {
		t.Error(got)
	}
}

// TestAll checks that the whole transcript contains everything: unfolded runs, and all output,
// from files if available.
//
// Proves TOOL-18, SHC-03.
func TestAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	var out strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&out, "line %d\n", i)
	}
	if err := os.WriteFile(path, []byte(out.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newStage(t, 60, 20, Config{})
	a := s.All(60)
	if a.Len() != 0 || a.Row(0) != nil {
		t.Error("not empty")
	}
	s.Prompt(strings.Repeat("many lines\n", 100), strings.Repeat("many lines\n", 100))
	s.read("a.go", "b.go")
	s.search("x", tool.List{Items: []string{"a.go:1:axb"}, Total: 1, Unit: "lines", Files: []string{"a.go"}, Marks: [][]tool.Mark{{{From: 8, To: 9}}}})
	s.start("c", "make")
	s.loop(agent.ToolDone{Use: use("c"), Result: ok("line 9999"), Display: tool.Output{Command: "make", Text: "line 9999", Lines: 10000, Exit: code(0), File: path}})
	s.says(0, "An answer", 3)
	s.frame()
	text := func() string {
		var b strings.Builder
		for i := range a.Len() {
			b.WriteString(a.Row(i).String() + "\n")
		}
		return b.String()
	}
	got := text()
	if !a.Part(0) || a.Part(1) || a.Part(102) {
		t.Error("the prompt is not the only part")
	}
	if want := strings.Repeat("  many lines\n", 99); !strings.Contains(got, want) {
		t.Error("the prompt is not whole")
	}
	want := "\n✓ Read a.go: 10 lines\n  text of a.go\n✓ Read b.go: 10 lines\n  text of b.go\n✓ Searched x: 1 line\n  a.go:1:axb\n✓ make: 10000 lines\n  " + strings.ReplaceAll(strings.TrimSuffix(out.String(), "\n"), "\n", "\n  ") + "\n\nAn answer\n"
	if !strings.HasSuffix(got, want) {
		t.Errorf("%.300s\nwant\n%.300s\n%s", got[1300:], want, got[len(got)-100:])
	}
	s.says(0, " that grows", 3)
	if got := text(); !strings.HasSuffix(got, "An answer that grows\n") {
		t.Error(got[len(got)-100:])
	}
	s.loop(agent.Withdrawn{})
	if got := text(); !strings.HasSuffix(got, "line 9999\n") {
		t.Error(got[len(got)-100:])
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	a = s.All(60)
	if got := text(); !strings.Contains(got, "The output cannot be read: ") {
		t.Error(got[len(got)-100:])
	}
}

// TestBackground checks that background tasks are shown in addition to the model's activity.
func TestBackground(t *testing.T) {
	s := newStage(t, 60, 20, Config{})
	s.loop(agent.Requesting{})
	s.entry(session.Task{ID: "b1", Title: "npm run dev", News: session.TaskMoved, Background: true})
	s.entry(session.Task{ID: "b2", Title: "look for news", Background: true, Chore: true})
	s.after(3 * time.Second)
	if got := s.text(); got != "\n--- live\n▸ npm run dev                                    background\n▸ Waiting for the model 3s ∙ Esc stops\n" {
		t.Error(got)
	}
	s.entry(session.Finished{Ended: agent.Ended{Reason: agent.Completed}})
	s.entry(session.Task{ID: "b1", News: session.TaskEnded})
	if got := s.text(); strings.Contains(got, "npm") || strings.Contains(got, "Waiting") {
		t.Error(got)
	}
}

// TestEndings checks that a command's row shows how it ended.
func TestEndings(t *testing.T) {
	for _, tt := range []struct {
		d    tool.Output
		bad  bool
		want string
	}{
		{tool.Output{Exit: code(0)}, false, "✓ make 1m5s"},
		{tool.Output{Exit: code(2), Note: "Exit code 2"}, true, "✗ make: exit code 2, 1m5s"},
		{tool.Output{Note: "The command was interrupted after 1m5s. The output is incomplete; its changes up to then remain.\nMore."}, true, "✗ make: The command was interrupted after 1m5s"},
		{tool.Output{Note: "runs in the background as b1"}, false, "✓ make: runs in the background as b1"},
		{tool.Output{Note: strings.Repeat("very long ", 20)}, false, "✓ make: " + strings.Repeat("very long ", 5) + "⋯"},
	} {
		s := newStage(t, 60, 20, Config{})
		s.start("c", "make")
		result := ok("")
		result.IsError = tt.bad
		s.loop(agent.ToolDone{Use: use("c"), Result: result, Display: tt.d, Elapsed: 65 * time.Second})
		if got, _, _ := strings.Cut(s.text(), "\n"); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// TestAnswersAreShown checks that the user's answers are shown in full, below the call if its
// row has no room.
func TestAnswersAreShown(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"blue", "✓ Ask the user: Which colour?: blue, 19s\n"},
		{"Colour: the blue of the sea on a day in May", "✓ Ask the user: Which colour? 19s\n  Colour: the blue of the sea on a day in May\n"},
		{"Colour: blue\nSize: 4", "✓ Ask the user: Which colour? 19s\n  Colour: blue\n  Size: 4\n"},
		{"1\n2\n3\n4\n5\n6\n7", "✓ Ask the user: Which colour? 19s\n  1\n  2\n  3\n  4\n  5\n  ⋯ 2 more lines ∙ Ctrl+O all\n"},
		{strings.Repeat("long ", 30), "✓ Ask the user: Which colou⋯: long long long ⋯, 19s\n"},
	} {
		s := newStage(t, 52, 20, Config{})
		s.start("c", "Ask the user: Which colour?")
		s.loop(agent.ToolDone{Use: use("c"), Result: ok(""), Display: tool.Plain{Text: tt.text}, Elapsed: 19 * time.Second})
		s.entry(session.Finished{Ended: agent.Ended{Reason: agent.Completed}})
		if got := s.text(); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s\nwant\n%s", got, tt.want)
		}
	}
}

// TestAnswerBeside checks that the answer to a side question is rendered like an answer.
func TestAnswerBeside(t *testing.T) {
	s := newStage(t, 60, 20, Config{})
	s.entry(session.Finished{Ended: agent.Ended{Reason: agent.Completed}, Local: &session.Outcome{Text: "It is **here**:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", Markdown: true}})
	if got := s.text(); !strings.HasPrefix(got, "It is here:\n\na  b\n─  ─\n1  2\n") {
		t.Error(got)
	}
}

// TestClockWaitsForTheAnswer checks that a call's clock excludes the time the user takes to
// allow it.
func TestClockWaitsForTheAnswer(t *testing.T) {
	s := newStage(t, 60, 20, Config{})
	s.entry(session.Started{})
	s.start("c", "make")
	s.entry(session.Asked{ID: "q", Question: session.Permission{Question: permission.Question{ID: "c"}}})
	s.after(time.Minute)
	s.entry(session.Settled{ID: "q"})
	s.after(5 * time.Second)
	if got := s.text(); !strings.Contains(got, "▸ make 5s\n") {
		t.Error(got)
	}
}

// TestRefusedChangeIsKept checks that the pager shows a change that the user refused.
func TestRefusedChangeIsKept(t *testing.T) {
	s := newStage(t, 80, 20, Config{})
	s.start("a", "make")
	s.Shown("a", []draw.Row{draw.Line(draw.Added, "+ the new line")})
	s.loop(agent.ToolDone{Use: use("a"), Denied: true, Refusal: "you said no", Result: bad("no")})
	if got := s.text(); strings.Contains(got, "the new line") {
		t.Errorf("it is shown again:\n%s", got)
	}
	var rows []draw.Row
	all := s.All(80)
	for i := range all.Len() {
		rows = append(rows, all.Row(i))
	}
	if got := (draw.Palette{}).Text(rows); !strings.Contains(got, "+ the new line") || !strings.Contains(got, "you said no") {
		t.Errorf("the pager shows\n%s", got)
	}
}
