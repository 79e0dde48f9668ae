package transcript

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/agent"
	"adze/internal/model"
	"adze/internal/tool"
	"adze/internal/ui/draw"
)

// numbered returns a text of numbered lines.
func numbered(name string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s, line %d of the output\n", name, i)
	}
	return b.String()
}

// busy ends n calls of each kind.
func busy(s *stage, n int) {
	for i := range n {
		s.loop(agent.Requesting{})
		s.loop(agent.Delta{Event: model.ThinkingDelta{Block: 1, Text: numbered(fmt.Sprint("thought ", i), 3)}})
		s.says(2, fmt.Sprintf("Answer *%d*\n\n- item\n", i), 8)
		s.said(fmt.Sprintf("Answer *%d*\n\n- item\n", i))
		for j, done := range []agent.ToolDone{
			{Result: ok(numbered("whole", 500)), Display: tool.Output{Command: "make", Text: numbered("end", 5), Lines: 500, Exit: code(0)}},
			{Result: ok("x"), Display: tool.Output{Command: "make", Text: numbered("end", 5), Lines: 9000, Exit: code(1), File: "/gone"}},
			{Result: ok(numbered("read", 40)), Display: tool.File{Path: "/x", Count: 40}},
			{Result: ok("a.go\nb.go"), Display: tool.List{Items: []string{"a.go", "b.go"}, Total: 2, Unit: "files"}},
			{Result: ok(numbered("found", 300)), Display: tool.List{Items: []string{"a.go"}, Total: 300, Unit: "files"}},
			{Result: ok("changed"), Display: tool.Diff{Path: "/x", Added: 1, Hunks: []tool.Hunk{{NewStart: 1, NewLines: 1, Lines: []string{"+a"}}}}},
			{Result: bad(numbered("failed", 30))},
			{Denied: true, Refusal: "no"},
			{Result: ok("done"), Display: tool.Changes{}},
			{Result: ok("done"), Display: tool.Checklist{{Text: "a step"}}},
		} {
			done.Use = use(fmt.Sprint(i, "-", j))
			fold := tool.NoFold
			if j == 2 || j == 3 {
				fold = tool.FoldRead
			}
			s.loop(agent.ToolStarted{Use: done.Use, Title: "Call", Verb: "Did", Object: fmt.Sprint(i), Fold: fold}, done)
		}
	}
	s.Settle()
}

// everything returns all rows, read from the end to the beginning.
func everything(s *stage) []string {
	a := s.All(80)
	rows := make([]string, a.Len())
	for i := len(rows) - 1; i >= 0; i-- {
		rows[i] = draw.Palette{}.Text([]draw.Row{a.Row(i)})
	}
	return rows
}

// TestStowed checks that the pager shows old and recent output alike.
func TestStowed(t *testing.T) {
	s := newStage(t, 80, 24, Config{})
	busy(s, 30)
	want := everything(s)
	if s.stowed != 0 {
		t.Fatalf("%d parts are on the shelf before they are final", s.stowed)
	}
	s.Final(80)
	if s.stowed != len(s.book)-recent {
		t.Fatalf("%d of %d parts are on the shelf", s.stowed, len(s.book))
	}
	if diff := cmp.Diff(want, everything(s)); diff != "" {
		t.Errorf("-before +after:\n%s", diff)
	}
}

// TestStowedInRun checks that a long run of reads looks the same, and that old results are on
// the shelf.
func TestStowedInRun(t *testing.T) {
	s := newStage(t, 80, 24, Config{})
	read := func(id, verb string, d tool.Display) {
		s.loop(agent.ToolStarted{Use: use(id), Title: id, Verb: verb, Object: id, Fold: tool.FoldRead}, agent.ToolDone{Use: use(id), Result: ok(numbered(id, 30)), Display: d})
	}
	read("once", "Looked at", nil)
	for i := range 3 * recent {
		read(fmt.Sprint("file", i%5), "Read", tool.File{Path: "/x", Count: 30})
	}
	r := s.book[0].content.(*run)
	for i, o := range r.calls {
		if stowed := o.below != nil; stowed != (i > 0 && i < len(r.calls)-recent) {
			t.Errorf("call %d of %d on the shelf: %v", i, len(r.calls), stowed)
		}
	}
	want := "✓ Looked at once: once, line 0 of the output once, line 1 of the output once, ⋯\n✓ Read file0, file1, file2, file3, file4\n▸ Working ∙ Esc stops"
	if got := (draw.Palette{}).Text(s.Rows(80, 20)); got != want {
		t.Errorf("%s", got)
	}
	if n := s.All(80).Len(); n != 31*len(r.calls) {
		t.Errorf("%d rows", n)
	}
}

// TestStowedMemory checks that the output of old calls takes little memory.
func TestStowedMemory(t *testing.T) {
	s := newStage(t, 80, 24, Config{})
	before := heap()
	for i := range 1000 {
		id := fmt.Sprint(i)
		text := numbered(id, 500)
		s.start(id, "go test ./...")
		s.loop(agent.ToolDone{Use: use(id), Result: ok(text), Display: tool.Output{Command: "go test ./...", Text: strings.Clone(text), Lines: 500, Exit: code(0)}})
		s.Final(80)
	}
	if kept := heap() - before; kept > 6<<20 {
		t.Errorf("%d KB are kept", kept>>10)
	}
	if n := s.All(80).Len(); n < 500_000 {
		t.Errorf("%d rows", n)
	}
}
