package prompt

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/internal/domain/instruct"
	"adze/internal/domain/memdir"
	"adze/internal/msg"
	"adze/internal/platform/fs/paths"
	"adze/internal/platform/text/texts"
	"adze/internal/tool"
)

// A project is a directory with instructions, and a clock.
type project struct {
	t      *testing.T
	dir    string
	now    time.Time
	loaded []string
}

func newProject(t *testing.T) *project {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &project{t: t, dir: dir, now: time.Date(2026, 11, 15, 23, 59, 0, 0, time.UTC)}
}

func (p *project) write(name, text string) string {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path
}

func (p *project) announcer() *Announcer {
	return NewAnnouncer(AnnouncerConfig{
		Instructions: &instruct.Config{Dir: p.dir, Root: p.dir},
		Memory:       Memory{memdir.Folder{Dir: filepath.Join(p.dir, "memory")}, func() memdir.Mode { return memdir.Auto }},
		Paths:        paths.Base{Dir: p.dir},
		Language:     func() texts.Language { return texts.English },
		Now:          func() time.Time { return p.now },
		Loaded: func(_ context.Context, files []instruct.File) {
			for _, f := range files {
				p.loaded = append(p.loaded, filepath.Base(f.Path))
			}
		},
		Note: func(text string) { p.t.Error(text) },
	})
}

// Proves CTX-21.
func TestAnnouncer(t *testing.T) {
	p := newProject(t)
	file := p.write("CLAUDE.md", "Use tabs.")
	p.write("memory/MEMORY.md", "- [A](a.md) — x")
	a := p.announcer()
	news := func() string { return strings.Join(a.News(t.Context()), "\n") }
	if got := news(); got != "" {
		t.Errorf("news before the beginning: %s", got)
	}
	first := a.Opening(t.Context())
	text := msg.PlainText(first)
	says(t, text, "<system-reminder>\n", "Follow these instructions", "take precedence", file, "Use tabs.", "- [A](a.md) — x", "2026-11-15")
	p.now = p.now.Add(time.Hour)
	p.write("CLAUDE.md", "Use spaces.")
	says(t, news(), "2026-11-16", "Use spaces.")
	if got := news(); got != "" {
		t.Errorf("old news: %s", got)
	}
	if again := a.Opening(t.Context()); again[0] != first[0] {
		t.Error("the first message changed")
	}
	a.Reset()
	says(t, msg.PlainText(a.Opening(t.Context())), "Use spaces.", "2026-11-16")
	if got := strings.Join(p.loaded, " "); got != "CLAUDE.md CLAUDE.md CLAUDE.md" { // start, change, reset
		t.Errorf("reported as read: %s", got)
	}
}

// A pathCall is a call that works on a file.
type pathCall struct {
	tool.Call
	path string
}

func (c pathCall) Path() string { return c.path }

// TestAnnouncerRewound checks that after a rewind the removed announcements are repeated and
// the opening is unchanged.
func TestAnnouncerRewound(t *testing.T) {
	p := newProject(t)
	p.write("AGENTS.md", "Use tabs.")
	p.write("sub/AGENTS.md", "Here with care.")
	p.write(".adze/rules/go.md", "---\npaths: \"**/*.go\"\n---\nFormat it.")
	a := p.announcer()
	first := msg.PlainText(a.Opening(t.Context()))
	touch := func() string {
		a.mu.Lock()
		defer a.mu.Unlock()
		return found(texts.English, a.set.Touch(filepath.Join(p.dir, "sub", "x.go")))
	}
	for range 2 {
		if text := touch(); !strings.Contains(text, "Here with care.") || !strings.Contains(text, "Format it.") {
			t.Errorf("told: %q", text)
		}
		if text := touch(); text != "" {
			t.Errorf("told twice: %q", text)
		}
		a.Rewound()
		if text := msg.PlainText(a.Opening(t.Context())); text != first {
			t.Errorf("another opening: %q", text)
		}
	}
	if news := a.News(t.Context()); len(news) > 0 {
		t.Errorf("news: %q", news)
	}
	p.write("AGENTS.md", "Use blanks.")
	for range 2 {
		if news := strings.Join(a.News(t.Context()), "\n"); !strings.Contains(news, "Use blanks.") {
			t.Errorf("news: %q", news)
		}
		if news := a.News(t.Context()); len(news) > 0 {
			t.Errorf("old news: %q", news)
		}
		a.Rewound()
	}
}

// TestAnnouncersAreIndependent checks that two conversations in one project each get all
// announcements.
func TestAnnouncersAreIndependent(t *testing.T) {
	p := newProject(t)
	p.write("CLAUDE.md", "Use tabs.")
	p.write("deep/AGENTS.md", "Deep rule.")
	one, two := p.announcer(), p.announcer()
	one.Opening(t.Context())
	two.Opening(t.Context())
	p.write("CLAUDE.md", "Use spaces.")
	for i, a := range []*Announcer{one, two} {
		says(t, strings.Join(a.News(t.Context()), "\n"), "Use spaces.")
		var r tool.Result
		for range 2 {
			if err := a.After(t.Context(), &tool.Use{Call: pathCall{path: "deep/x.go"}}, &r); err != nil {
				t.Fatal(err)
			}
		}
		if len(r.Reminders) != 1 || !strings.Contains(r.Reminders[0], "Deep rule.") {
			t.Errorf("conversation %d: %q", i, r.Reminders)
		}
	}
}

// TestPromptVariants checks that the prompt depends on language and memory, and is stable
// otherwise.
func TestPromptVariants(t *testing.T) {
	language, mode := texts.English, memdir.Off
	p := NewPrompt(PromptConfig{
		Memory:   Memory{memdir.Folder{Dir: "/m"}, func() memdir.Mode { return mode }},
		Model:    func(id string) Model { return Model{ID: id} },
		Language: func() texts.Language { return language },
		Answer:   func() string { return "" },
		Shared:   func() bool { return true },
		Note:     func(text string) { t.Error(text) },
	})
	text := func() string { parts, _ := p.Parts("m", nil); return msg.PlainText(parts) }
	first, _ := p.Parts("m", nil)
	if again, _ := p.Parts("m", nil); again[0] != first[0] {
		t.Error("the prompt was written twice")
	}
	says(t, text(), "Acting with care")
	mode = memdir.Auto
	says(t, text(), "/m", "what you remember")
	language = texts.Chinese
	says(t, text(), "谨慎行事", "/m")
	own := "Speak in rhymes."
	p.SetChoice(Choice{Custom: &own})
	if got := text(); got != own {
		t.Errorf("it is %s", got)
	}
}
