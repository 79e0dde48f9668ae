package wire

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/internal/agent/compact"
	"adze/internal/app/settings"
	"adze/internal/msg"
	"adze/internal/session"
)

// A place is a user's machine with a workspace.
type place struct {
	t    *testing.T
	root string
	env  Env
	vars map[string]string // further variables
	said bytes.Buffer
}

func newPlace(t *testing.T) *place {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, root: root, vars: map[string]string{}}
	p.env = Env{
		Dir: p.path("work"), Now: time.Now, Version: "test",
		Say: func(text string) { p.said.WriteString(text + "\n") },
		Getenv: func(name string) string {
			if v, ok := p.vars[name]; ok {
				return v
			}
			return map[string]string{"HOME": p.path("home"), "ADZE_HOME": p.path("home/.adze")}[name]
		},
	}
	t.Setenv("HOME", p.path("home")) // start-up files of the shell that runs commands are not the tester's
	p.write("model.replay", "say Hello.")
	p.write("work/file", "")
	return p
}

func (p *place) path(rel string) string { return filepath.Join(p.root, filepath.FromSlash(rel)) }

func (p *place) write(rel, text string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(p.path(rel)), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(p.path(rel), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// open opens the workspace, with the settings that count as the flags in src say.
func (p *place) open(src settings.Source) *Workspace {
	p.t.Helper()
	src.Dir, src.Managed, src.Getenv = p.env.Dir, p.path("etc"), p.env.Getenv
	project, warnings := settings.Open(src)
	for _, w := range warnings {
		p.env.Say(w.String())
	}
	w := Open(p.env, project)
	p.t.Cleanup(w.Close)
	return w
}

// converse opens a conversation in a trusted workspace that leaves nothing behind, with what the model says.
func (p *place) converse(script string, spec Spec) *Conversation {
	p.t.Helper()
	p.write("model.replay", script)
	spec.Session.Ephemeral = true
	spec.Model.Name, spec.Model.Record = replayPrefix+p.path("model.replay"), p.path("sent")
	c, err := p.open(settings.Source{Trust: true}).Converse(p.t.Context(), spec)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(c.Close)
	return c
}

// following opens a conversation in a workspace that is not trusted, and without a model.
func (p *place) following() *Conversation {
	p.t.Helper()
	c, err := p.open(settings.Source{}).Converse(p.t.Context(), Spec{Calls: Single})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(c.Close)
	c.Gate.SetSave(c.ws.saveUpdate)
	return c
}

// poll takes over what changed, as the watch does.
func (c *Conversation) poll(t *testing.T) {
	t.Helper()
	change, ok := c.ws.Project.Poll()
	if !ok {
		t.Fatal("no change was noticed")
	}
	for _, problem := range change.Problems {
		c.ws.Say(problem.String())
	}
	c.settingsChanged(t.Context(), change)
}

// denies reports whether a rule removes a tool altogether.
func (c *Conversation) denies(name string) bool {
	_, ok := c.Gate.Policy().DeniesTool(name)
	return ok
}

// say lets the session have a turn.
func say(t *testing.T, s *session.Session, text string) {
	t.Helper()
	if err := s.Submit(t.Context(), session.Prompt{Parts: []msg.Part{&msg.Text{Text: text}}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Settings that make no sense together are told and replaced by the defaults.
//
// Proves CTX-38.
func TestKeptBesideNotes(t *testing.T) {
	for _, tt := range []struct {
		settings string
		want     compact.Keep
		said     string
	}{
		{`{}`, compact.DefaultKeep, ""},
		{`{"sessionMemoryCompact":{"minTokens":2000,"minTextMessages":1,"maxTokens":3000}}`, compact.Keep{MinTokens: 2000, MinTexts: 1, MaxTokens: 3000}, ""},
		{`{"sessionMemoryCompact":{"minTokens":0,"minTextMessages":0}}`, compact.Keep{MaxTokens: 40_000}, ""},
		{`{"sessionMemoryCompact":{"minTokens":5000,"maxTokens":4000}}`, compact.DefaultKeep, "minTokens is 5000, which is more than maxTokens, 4000"},
		{`{"sessionMemoryCompact":{"minTokens":-1}}`, compact.DefaultKeep, "sessionMemoryCompact.minTokens"},
		{`{"sessionMemoryCompact":{"minTextMessages":-3,"maxTokens":"many"}}`, compact.DefaultKeep, "sessionMemoryCompact.minTextMessages"},
	} {
		p := newPlace(t)
		p.write("home/.adze/settings.json", tt.settings)
		w := p.open(settings.Source{})
		if got := keepNoted(w.values().Window, w.Say); got != tt.want {
			t.Errorf("%s: %+v", tt.settings, got)
		}
		if said := p.said.String(); !strings.Contains(said, tt.said) || tt.said == "" && said != "" {
			t.Errorf("%s: the user was told %q", tt.settings, said)
		}
	}
}
