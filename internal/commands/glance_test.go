package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/agent"
	"adze/internal/model/catalog"
	"adze/internal/msg"
	"adze/internal/prompt"
	"adze/internal/session"
	"adze/internal/tool"
)

// glanceOf returns the glance of a session with that many tokens in its last response, and a
// window of 100,000.
func glanceOf(t *testing.T, model string, used int, later string) Glance {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".git", "HEAD"), []byte("ref: refs/heads/topic\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	resolve := func(name string) (agent.Model, error) {
		return agent.Model{ID: name, Window: 100_000, MaxOutput: 20_000}, nil
	}
	history := []msg.Entry{{ID: "e1", Time: time.Now(), Message: msg.UserText("hi")}}
	if used > 0 {
		history = append(history, msg.Entry{ID: "e2", Time: time.Now(), Message: msg.Message{Role: msg.Assistant, Parts: []msg.Part{&msg.Text{Text: "ok"}}}, Usage: &msg.Usage{Input: used - 100, Output: 100}})
	}
	if later != "" {
		history = append(history, msg.Entry{ID: "e3", Time: time.Now(), Message: msg.UserText(later)})
	}
	s := session.Open(t.Context(), session.Config{Tools: session.Tools{Registry: tool.NewRegistry()}, Models: session.Models{Main: model, Resolve: resolve}, Records: session.Records{History: history}})
	t.Cleanup(s.Close)
	return New(Config{
		Session: s, Dir: dir, Models: Models{Catalog: catalog.Table{}}, Permission: Permission{Mode: func() string { return "plan" }},
		Preamble: Preamble{
			Resolve: resolve, Describe: func(specs []msg.ToolSpec) []msg.ToolSpec { return specs },
			Blocks: func(agent.Model, []msg.ToolSpec) []prompt.Block {
				return []prompt.Block{{Pieces: []prompt.Piece{{Name: "rules", Text: strings.Repeat("word ", 6000)}}}}
			},
		}, Env: Env{CompactPercent: func() int { return 85 }},
	}).Glance()
}

// TestGlance checks the fill levels. The usable window is 80,000 tokens: the warning begins at
// three quarters of it, and 3,000 before its end nothing is sent.
//
// Proves SESS-46, X-191, CTX-30.
func TestGlance(t *testing.T) {
	tests := []struct {
		used    int
		later   string
		percent int
		fill    FillLevel
	}{
		{0, "", 6, Roomy} /* the system prompt and the tools count */, {14_000, "", 14, Roomy}, {60_000, "", 60, Roomy}, {60_001, "", 60, Tight}, {77_000, "", 77, Tight}, {77_001, "", 77, Full}, {200_000, "", 100, Full},
		{59_999, "several more words that the user has said since then", 60, Tight},
	}
	for _, tt := range tests {
		g := glanceOf(t, "m", tt.used, tt.later)
		if g.Percent != tt.percent || g.Fill != tt.fill {
			t.Errorf("%d tokens: %d %%, %d", tt.used, g.Percent, g.Fill)
		}
		g.Percent, g.Fill = 0, 0
		if diff := cmp.Diff(Glance{Mode: "plan", Model: "m", Cost: "$0.00", Branch: "topic"}, g); diff != "" {
			t.Error(diff)
		}
	}
}

func TestShortModel(t *testing.T) {
	for id, want := range map[string]string{
		"claude-opus-5-5": "opus 5.5", "opus": "opus 5.5", "gpt-6-sol": "gpt-6 sol", "gemini-3.8-flash": "gemini 3.8 flash", "some/one/long-name": "long-name", "m": "m",
	} {
		if got := glanceOf(t, id, 0, "").Model; got != want {
			t.Errorf("%s: %s, not %s", id, got, want)
		}
	}
}
