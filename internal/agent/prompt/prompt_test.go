package prompt

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/model"
	"adze/internal/msg"
)

var update = flag.Bool("update", false, "rewrite golden files")

var env = Environment{
	Dir: "/home/u/project", Extra: []string{"/home/u/lib"}, Repository: true, Branch: "main",
	Platform: "linux/amd64", Shell: "/bin/bash", Date: "2026-11-15",
}

var opus = Model{ID: "claude-opus-5-5", Name: "Claude Opus 5.5", Cutoff: "2026-06"}

func texts(blocks []msg.Part) []string {
	var out []string
	for _, b := range blocks {
		out = append(out, b.(*msg.Text).Text)
	}
	return out
}

func TestGolden(t *testing.T) {
	for name, p := range map[string]Prompt{
		"default": {Client: "adze/1.0 (headless)", Env: env},
		"simple":  {Client: "adze/1.0 (headless)", Env: env, Simple: true},
	} {
		t.Run(name, func(t *testing.T) {
			blocks, _ := p.Blocks(opus, 2)
			got := strings.Join(texts(blocks), "\n----\n") + "\n"
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
		})
	}
}

func TestSources(t *testing.T) {
	own, none := "Only speak in rhymes.", ""
	standard := strings.TrimSpace(defaultText)
	tests := []struct {
		name string
		p    Prompt
		want []string
	}{
		{"default", Prompt{}, []string{standard, env.describe(opus)}},
		{"appended", Prompt{Append: "Use tabs."}, []string{standard, env.describe(opus), "Use tabs."}},
		{"replaced", Prompt{Replace: &own}, []string{own}},
		{"replaced and appended", Prompt{Replace: &own, Append: "Use tabs."}, []string{own, "Use tabs."}},
		{"replaced by nothing", Prompt{Replace: &none}, nil},
		{"replaced beats simple", Prompt{Replace: &own, Simple: true}, []string{own}},
		{"with the client", Prompt{Client: "adze/1.0", Replace: &own}, []string{"adze/1.0", own}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.p.Env = env
			blocks, _ := tt.p.Blocks(opus, 2)
			if diff := cmp.Diff(tt.want, texts(blocks)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMarks(t *testing.T) {
	none, own := "", "Own."
	system := func(i int) model.Mark { return model.Mark{Place: model.InSystem, Index: i} }
	lastTool := func(i int) model.Mark { return model.Mark{Place: model.InTools, Index: i} }
	last := model.Mark{Place: model.InMessages}
	tests := []struct {
		name  string
		p     Prompt
		tools int
		want  []model.Mark
	}{
		{"default", Prompt{Client: "adze/1.0"}, 2, []model.Mark{system(1), lastTool(1), last}},
		{"no client", Prompt{}, 2, []model.Mark{system(0), lastTool(1), last}},
		{"no tools", Prompt{Client: "adze/1.0"}, 0, []model.Mark{system(1), last}},
		{"replaced", Prompt{Client: "adze/1.0", Replace: &own, Append: "More."}, 1, []model.Mark{system(1), lastTool(0), last}},
		{"the client alone is never cached", Prompt{Client: "adze/1.0", Replace: &none}, 1, []model.Mark{lastTool(0), last}},
		{"switched off", Prompt{Client: "adze/1.0", NoCache: true}, 2, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, marks := tt.p.Blocks(opus, tt.tools)
			if diff := cmp.Diff(tt.want, marks); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Proves CTX-09.
func TestSimpleIsShort(t *testing.T) {
	blocks, _ := (&Prompt{Simple: true, Env: env}).Blocks(opus, 2)
	text := strings.Join(texts(blocks), "\n")
	if len(text) >= 300 || !strings.Contains(text, env.Dir) || !strings.Contains(text, env.Date) {
		t.Errorf("%d bytes: %s", len(text), text)
	}
}

func TestDefaultIsShort(t *testing.T) {
	if len(defaultText) > 1500 {
		t.Errorf("%d bytes", len(defaultText))
	}
}
