package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"adze/internal/agent"
	"adze/internal/agent/prompt"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/session"
)

// Proves CTX-10, CTX-14, CTX-61.
func TestPromptAndSettings(t *testing.T) {
	p := newPlace(t)
	p.env.Now = time.Now
	b := p.following()
	write, err := b.prompt()
	if err != nil {
		t.Fatal(err)
	}
	look := func() (text string, hour bool) {
		parts, marks := write(t.Context(), agent.Model{ID: "m"}, make([]msg.ToolSpec, 2))
		return msg.PlainText(parts), slices.ContainsFunc(marks, func(m model.Mark) bool { return m.Hour })
	}
	if text, hour := look(); !strings.Contains(text, "Acting with care") || hour {
		t.Error(text)
	}
	p.write("home/.adze/settings.json", `{"promptLanguage":"chn","language":"Deutsch","cache1h":["s*"],"communication":"explained"}`)
	b.poll(t)
	text, hour := look()
	if !strings.Contains(text, "谨慎行事") || !strings.Contains(text, "用Deutsch回答") || strings.Contains(text, "没有在旁观看") {
		t.Error("the language counts at once, the way to talk from the next conversation on:", text)
	}
	if hour {
		t.Error("the lifetime changed during a session")
	}
	b = p.following()
	if write, err = b.prompt(); err != nil {
		t.Fatal(err)
	}
	if text, hour := look(); !hour || !strings.Contains(text, "没有在旁观看") {
		t.Error("a new session does not follow the settings:", text)
	}
}

// Proves CTX-10.
func TestToolsAreTranslated(t *testing.T) {
	p := newPlace(t)
	p.env.Now = time.Now
	for _, eager := range []string{"eager", "restrained"} {
		p.write("home/.adze/settings.json", `{"promptLanguage":"chn","planEagerness":"`+eager+`"}`)
		b := p.following()
		var specs []msg.ToolSpec
		for _, t := range append(b.tools(), &b.output) {
			specs = append(specs, t.Spec())
		}
		if len(specs) < 10 {
			t.Errorf("only %d tools", len(specs))
		}
		for _, line := range prompt.Untranslated(prompt.Chinese, specs) {
			t.Errorf("not in tools.chn.md: %s", line)
		}
		if got := b.describeTools(specs); got[0].Description == specs[0].Description {
			t.Error("the descriptions are still English")
		}
	}
}

// Proves CTX-21.
func TestBackground(t *testing.T) {
	p := newPlace(t)
	now := time.Date(2026, 11, 15, 23, 59, 0, 0, time.UTC)
	p.env.Now = func() time.Time { return now }
	p.write("work/CLAUDE.md", "Use tabs.")
	b, err := newBuilder(&p.env, &options{trust: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.close)
	var cfg session.Config
	b.openBackground(&cfg)
	heard := func() string { return msg.PlainText(cfg.Heard(t.Context(), session.Prompt{}).Context) }
	if got := heard(); got != "" {
		t.Errorf("news before the beginning: %s", got)
	}
	first := cfg.Context(t.Context())
	text := msg.PlainText(first)
	for _, want := range []string{"<system-reminder>\n", "may or may not be relevant", p.path("work/CLAUDE.md"), "Use tabs.", "2026-11-15"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	now = now.Add(time.Hour)
	p.write("work/CLAUDE.md", "Use spaces.")
	if got := heard(); !strings.Contains(got, "2026-11-16") || !strings.Contains(got, "Use spaces.") || !strings.HasPrefix(got, "<system-reminder>") {
		t.Errorf("news: %s", got)
	}
	if got := heard(); got != "" {
		t.Errorf("old news: %s", got)
	}
	if again := cfg.Context(t.Context()); again[0] != first[0] {
		t.Error("the first message changed")
	}
	b.told.Reset()
	if text := msg.PlainText(cfg.Context(t.Context())); !strings.Contains(text, "Use spaces.") || !strings.Contains(text, "2026-11-16") {
		t.Errorf("after a reset: %s", text)
	}
}

// Over a long session each request begins with the bytes of the one before it.
func TestPrefixIsStable(t *testing.T) {
	const turns = 50
	p := newPlace(t)
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	p.env.Now = func() time.Time { return now }
	p.write("work/CLAUDE.md", "Rule 0.")
	p.write("work/deep/AGENTS.md", "Deep rule.")
	p.write("work/deep/a.txt", "a\n")
	var script strings.Builder
	for i := range turns {
		fmt.Fprintf(&script, "use Write {\"file_path\":\"f%d.txt\",\"content\":\"%d\"}\nuse Read {\"file_path\":\"deep/a.txt\"}\n---\nsay Turn %d.\n---\n", i, i, i)
	}
	p.write("model.replay", strings.TrimSuffix(script.String(), "---\n"))
	o := &options{trust: true, model: replayPrefix + p.path("model.replay"), record: p.path("sent"), mode: "acceptEdits", ephemeral: true}
	b, err := newBuilder(&p.env, o)
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	system, err := b.prompt()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.chooseModel(); err != nil {
		t.Fatal(err)
	}
	s, err := b.session(t.Context(), system)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range turns {
		switch i {
		case 10:
			now = now.Add(24 * time.Hour)
		case 20:
			p.write("work/CLAUDE.md", "Rule 1.")
		case 30:
			p.write("work/ADZE.local.md", "Private rule.")
		}
		if err := s.Submit(t.Context(), session.Prompt{Parts: []msg.Part{&msg.Text{Text: fmt.Sprintf("Step %d.", i)}}}); err != nil {
			t.Fatal(err)
		}
		if err := s.Idle(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	var before []byte
	for i := range 2 * turns {
		sent := unmarked(t, p.path(fmt.Sprintf("sent/%d.json", i+1)))
		if !bytes.HasPrefix(sent, before) {
			t.Fatalf("request %d does not begin with request %d", i+1, i)
		}
		before = sent
	}
	for _, told := range []string{"2026-11-16", "Rule 1.", "Private rule.", "Deep rule."} {
		if n := bytes.Count(before, []byte(told)); n != 1 {
			t.Errorf("%s was told %d times", told, n)
		}
	}
}

// unmarked returns what a request says, up to the end of its messages, without cache marks.
func unmarked(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var request struct {
		System, Tools, Messages []map[string]any
	}
	if err := json.Unmarshal(data, &request); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	for _, list := range [][]map[string]any{request.System, request.Tools, request.Messages} {
		for _, item := range list {
			delete(item, "cache_control")
			if content, ok := item["content"].([]any); ok {
				for _, block := range content {
					delete(block.(map[string]any), "cache_control")
				}
			}
			if err := enc.Encode(item); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out.Bytes()
}
