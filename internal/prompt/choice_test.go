package prompt

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/platform/text/texts"
)

var update = flag.Bool("update", false, "rewrite golden files")

var env = Environment{
	Dir: "/home/u/project", Extra: []string{"/home/u/lib"}, Repository: true,
	Platform: "linux/amd64", Shell: "bash", System: "Linux 6.8", Date: "2026-11-15",
}

var opus = Model{ID: "claude-opus-5-5", Name: "Claude Opus 5.5", Cutoff: "2026-06"}

// usual is the normal tool set of a conversation.
var usual = Toolset{Shell: "Bash", Dedicated: []string{"Read", "Edit", "Write", "Glob", "Grep"}, Usual: true}

// full returns facts with every section filled in.
func full(l texts.Language) *Facts {
	return &Facts{
		Language: l, Env: env, Model: opus, Tools: usual,
		Style:  &Style{Name: "Teaching", Text: "Explain each step."},
		Guide:  Guidance{"TaskCreate", "AskUserQuestion", true, true, Unattended{"acceptEdits", true, "Bash(go test:*)"}},
		Memory: "# Memory\nThe user likes tabs.", ModelNote: "You are a small model.", Answer: "français",
		Servers: func() []Server { return []Server{{"db", "Ask in SQL."}, {"silent", ""}, {"web", "Be polite."}} },
		Kept:    5, Budget: 500_000, Brief: "Brief",
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("run with -update if this is meant:\n%s", diff)
	}
}

// shown formats a prompt with its blocks and marks.
func shown(a Assembly, l Layout) string {
	var b strings.Builder
	for _, block := range a.Blocks(l) {
		b.WriteString("---- block")
		if block.Marked {
			b.WriteString(", cached")
		}
		if block.Global {
			b.WriteString(" for all")
		}
		b.WriteString("\n" + block.Text() + "\n")
	}
	return b.String()
}

// Proves CTX-05, CTX-10, CTX-12.
func TestGolden(t *testing.T) {
	shared := Layout{Client: "adze/1.0 (headless)", Shared: true, Tools: 2}
	for _, l := range []texts.Language{texts.English, texts.Chinese} {
		plain := Facts{Language: l, Env: env, Model: opus, Tools: usual}
		explained := plain
		explained.Explained = true
		styled := plain
		styled.Style = &Style{Name: "Teaching", Text: "Explain each step."}
		coding := plain
		coding.Style = &Style{Name: "Teaching", Text: "Explain each step.", Coding: true}
		selected := func(c Choice) Assembly {
			a, err := c.Select(func() Assembly { return NewRegistry(nil).Assemble(&plain) })
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		own := "Speak in rhymes."
		away := Environment{Dir: `C:\work`, Original: `C:\main`, Platform: "windows/amd64", Fast: true}
		few := plain
		few.Tools = Toolset{Shell: "PowerShell", Dedicated: []string{"Read", "Grep"}}
		for name, a := range map[string]Assembly{
			"few":       NewRegistry(nil).Assemble(&few),
			"default":   NewRegistry(nil).Assemble(&plain),
			"explained": NewRegistry(nil).Assemble(&explained),
			"style":     NewRegistry(nil).Assemble(&styled),
			"coding":    NewRegistry(nil).Assemble(&coding),
			"append":    selected(Choice{Append: "Use tabs."}),
			"custom":    selected(Choice{Custom: &own, Append: "Use tabs."}),
			"override":  selected(Choice{Override: &own, Append: "Use tabs."}),
			"full":      NewRegistry(nil).Assemble(full(l)),
			"simple":    Simple(l, env),
			"worktree":  single("environment", away.describe(l, Model{ID: "own-model"})),
		} {
			t.Run(string(l)+"."+name, func(t *testing.T) { golden(t, string(l)+"."+name, shown(a, shared)) })
		}
	}
	a := NewRegistry(nil).Assemble(&Facts{Env: env, Model: opus})
	foreign, other := shared, shared
	foreign.Foreign, other.Shared = true, false
	t.Run("with tools of servers", func(t *testing.T) { golden(t, "blocks.foreign", outline(a, foreign)) })
	t.Run("shared", func(t *testing.T) { golden(t, "blocks.shared", outline(a, shared)) })
	t.Run("another provider", func(t *testing.T) { golden(t, "blocks.other", outline(a, other)) })
}

// outline lists the names of the pieces in each block.
func outline(a Assembly, l Layout) string {
	var b strings.Builder
	for _, block := range a.Blocks(l) {
		for _, p := range block.Pieces {
			b.WriteString(p.Name + " ")
		}
		b.WriteString(map[[2]bool]string{{}: "(none)", {true, false}: "(org)", {true, true}: "(global)"}[[2]bool{block.Marked, block.Global}] + "\n")
	}
	return b.String()
}

// Proves CTX-01, CTX-08.
func TestSelect(t *testing.T) {
	text := func(s string) *string { return &s }
	standard := func() Assembly {
		return Assembly{Pieces: []Piece{{"identity", "I."}, {"intro", "S."}, {"environment", "D."}}, Boundary: 2}
	}
	tests := []struct {
		name     string
		c        Choice
		want     []string
		boundary int
	}{
		{"default", Choice{}, []string{"I.", "S.", "D."}, 2},
		{"appended", Choice{Append: "More."}, []string{"I.", "S.", "D.", "More."}, 2},
		{"custom", Choice{Custom: text("C.")}, []string{"C."}, 0},
		{"custom, appended", Choice{Custom: text("C."), Append: "More."}, []string{"C.", "More."}, 0},
		{"nothing", Choice{Custom: text("")}, nil, 0},
		{"agent before custom", Choice{Custom: text("C."), Agent: text("A.")}, []string{"A."}, 0},
		{"proactive agent", Choice{Custom: text("C."), Agent: text("A."), Proactive: true, Append: "More."}, []string{"I.", "S.", "D.", "A.", "More."}, 2},
		{"coordinator before agent", Choice{Coordinator: text("K."), Agent: text("A."), Append: "More."}, []string{"K.", "More."}, 0},
		{"override before all", Choice{Override: text("O."), Coordinator: text("K."), Agent: text("A."), Custom: text("C."), Append: "More."}, []string{"O."}, 0},
		{"empty override", Choice{Override: text(""), Append: "More."}, nil, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := tt.c.Select(standard)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range a.Pieces {
				got = append(got, p.Text)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || a.Boundary != tt.boundary {
				t.Errorf("boundary %d: %s", a.Boundary, diff)
			}
		})
	}
	if _, err := (Choice{}).Select(func() Assembly { return Assembly{} }); !errors.Is(err, errEmpty) {
		t.Errorf("an empty assembly: %v", err)
	}
}

// TestMarks checks that one mark stays free for the messages: finding W4.
//
// Proves CTX-12.
func TestMarks(t *testing.T) {
	a := Assembly{Pieces: []Piece{{"identity", "I."}, {"intro", "S."}, {"environment", "D."}}, Boundary: 2}
	system := func(i int) model.Mark { return model.Mark{Place: model.InSystem, Index: i} }
	lastTool := func(i int) model.Mark { return model.Mark{Place: model.InTools, Index: i} }
	last := model.Mark{Place: model.InMessages}
	global := model.Mark{Place: model.InSystem, Index: 2, Global: true}
	hour := func(m model.Mark) model.Mark { m.Hour = true; return m }
	tests := []struct {
		name string
		a    Assembly
		l    Layout
		want []model.Mark
	}{
		{"shared", a, Layout{Client: "adze/1.0", Shared: true, Tools: 2}, []model.Mark{global, lastTool(1), last}},
		{"for an hour", a, Layout{Client: "adze/1.0", Shared: true, Tools: 2, Hour: true}, []model.Mark{hour(global), hour(lastTool(1)), hour(last)}},
		{"with foreign tools", a, Layout{Client: "adze/1.0", Shared: true, Tools: 2, Foreign: true}, []model.Mark{system(2), lastTool(1), last}},
		{"not shared", a, Layout{Tools: 2}, []model.Mark{system(1), lastTool(1), last}},
		{"no tools", a, Layout{}, []model.Mark{system(1), last}},
		{"custom", single("custom", "C."), Layout{Client: "adze/1.0", Shared: true, Tools: 1}, []model.Mark{system(1), lastTool(0), last}},
		{"the client alone is never cached", Assembly{}, Layout{Client: "adze/1.0", Tools: 1}, []model.Mark{lastTool(0), last}},
		{"switched off", a, Layout{Client: "adze/1.0", Tools: 2, None: true}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			parts, marks := tt.a.Parts(tt.l)
			if diff := cmp.Diff(tt.want, marks); diff != "" {
				t.Error(diff)
			}
			if len(marks) > 3 {
				t.Errorf("%d marks", len(marks))
			}
			for _, m := range marks {
				if m.Place == model.InSystem && strings.HasPrefix(parts[m.Index].(*msg.Text).Text, "adze/") {
					t.Error("the client's block is cached")
				}
			}
		})
	}
}

// Proves CTX-09.
func TestSimpleIsShort(t *testing.T) {
	for _, l := range []texts.Language{texts.English, texts.Chinese} {
		a := Simple(l, env)
		text := a.Pieces[0].Text
		if len(a.Pieces) != 1 || len(text) >= 300 || !strings.Contains(text, env.Dir) || !strings.Contains(text, env.Date) {
			t.Errorf("%d bytes: %s", len(text), text)
		}
	}
}
