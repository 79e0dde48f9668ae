package wire

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"adze/internal/agent/compact"
	"adze/internal/app/apptest"
	"adze/internal/app/models"
	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/settings"
	"adze/internal/tool"
)

// A place is a user's machine together with the messages shown to the user.
type place struct {
	*apptest.Place
	env  Env
	said bytes.Buffer
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{Place: apptest.New(t)}
	p.env = Env{
		Dir: p.Path("work"), Now: time.Now, Version: "test", Getenv: p.Getenv,
		Say: func(text string) { p.said.WriteString(text + "\n") },
	}
	return p
}

// open opens the workspace with the settings sources in src.
func (p *place) open(src settings.Source) *Workspace {
	p.T.Helper()
	src.Dir, src.Managed, src.Getenv = p.env.Dir, p.Path("etc"), p.env.Getenv
	project, warnings := settings.Open(src)
	for _, w := range warnings {
		p.env.Say(w.String())
	}
	w := Open(p.env, project)
	p.T.Cleanup(w.Close)
	return w
}

// trust trusts the workspace in its current state.
func (p *place) trust() {
	p.T.Helper()
	project, _ := settings.Open(settings.Source{Dir: p.env.Dir, Getenv: p.env.Getenv}) // ok: see open
	if err := project.Trust.Add(p.T.Context(), project.Trust.Offer()); err != nil {
		p.T.Fatal(err)
	}
}

// converse opens an ephemeral conversation with a scripted model in a trusted workspace.
func (p *place) converse(script string, spec Spec) *Conversation {
	p.T.Helper()
	p.Write("model.replay", script)
	spec.Session.Ephemeral = true
	spec.Model.Name, spec.Model.Record = models.ReplayPrefix+p.Path("model.replay"), p.Path("sent")
	c, err := p.open(settings.Source{Trust: true}).Converse(p.T.Context(), spec)
	if err != nil {
		p.T.Fatal(err)
	}
	p.T.Cleanup(c.Close)
	return c
}

// following opens a conversation without a model in an untrusted workspace.
func (p *place) following() *Conversation {
	p.T.Helper()
	c, err := p.open(settings.Source{}).Converse(p.T.Context(), Spec{Calls: Single})
	if err != nil {
		p.T.Fatal(err)
	}
	p.T.Cleanup(c.Close)
	c.Gate.SetSave(c.ws.saveUpdate)
	return c
}

// poll applies changed settings, as the watcher does.
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

// tools returns all built-in tools.
func (c *Conversation) tools() []tool.Tool { return slices.Concat(c.builtinTools(), c.parts.Tools()) }

// denies reports whether a rule removes the tool altogether.
func (c *Conversation) denies(name string) bool {
	_, ok := c.Gate.Policy().DeniesTool(name)
	return ok
}

// say runs one turn of the session.
func say(t *testing.T, s *session.Session, text string) {
	t.Helper()
	if err := s.Submit(t.Context(), session.Prompt{Parts: []msg.Part{&msg.Text{Text: text}}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestKeptBesideNotes checks that inconsistent settings are reported and replaced by the
// defaults.
//
// Proves CTX-38.
func TestKeptBesideNotes(t *testing.T) {
	for _, tt := range []struct {
		settings string
		want     compact.KeepPolicy
		said     string
	}{
		{`{}`, compact.DefaultKeep, ""},
		{`{"sessionMemoryCompact":{"minTokens":2000,"minTextMessages":1,"maxTokens":3000}}`, compact.KeepPolicy{MinTokens: 2000, MinTexts: 1, MaxTokens: 3000}, ""},
		{`{"sessionMemoryCompact":{"minTokens":0,"minTextMessages":0}}`, compact.KeepPolicy{MaxTokens: 40_000}, ""},
		{`{"sessionMemoryCompact":{"minTokens":5000,"maxTokens":4000}}`, compact.DefaultKeep, "minTokens is 5000, which is more than maxTokens, 4000"},
		{`{"sessionMemoryCompact":{"minTokens":-1}}`, compact.DefaultKeep, "sessionMemoryCompact.minTokens"},
		{`{"sessionMemoryCompact":{"minTextMessages":-3,"maxTokens":"many"}}`, compact.DefaultKeep, "sessionMemoryCompact.minTextMessages"},
	} {
		p := newPlace(t)
		p.Write("home/.adze/settings.json", tt.settings)
		w := p.open(settings.Source{})
		if got := keepNoted(w.values().Window, w.Say); got != tt.want {
			t.Errorf("%s: %+v", tt.settings, got)
		}
		if said := p.said.String(); !strings.Contains(said, tt.said) || tt.said == "" && said != "" {
			t.Errorf("%s: unexpected output %q", tt.settings, said)
		}
	}
}
