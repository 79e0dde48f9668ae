package brief

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/model/tokens"
	"adze/internal/platform/texts"
)

func names(a Assembly) []string {
	var all []string
	for _, p := range a.Pieces {
		all = append(all, p.Name)
	}
	return all
}

// piece returns the text of a section, which must be there.
func piece(t *testing.T, a Assembly, name string) string {
	t.Helper()
	for _, p := range a.Pieces {
		if p.Name == name {
			return p.Text
		}
	}
	t.Fatalf("no section %s", name)
	return ""
}

// static returns what comes before the boundary.
func static(f *Facts) string {
	a := NewRegistry(nil).Assemble(f)
	return (&Block{Pieces: a.Pieces[:a.Boundary]}).Text()
}

// Proves CTX-02.
func TestStaticSections(t *testing.T) {
	checklist := []struct {
		section  string
		keywords []string
	}{
		{"identity", []string{"adze", "agent"}},
		{"intro", []string{"software engineering", "defenders", "learners", "contest", "with permission", "flood", "many victims", "poison", "slip past", "both sides", "plain from the context", "addresses", "made up|make one up"}},
		{"system", []string{"Markdown", "permission mode", "denied call unchanged", "system-reminder", "prompt injection", "hooks", "compacted automatically"}},
		{"tasks", []string{"vague request", "the user's call", "Read code before", "editing a file to creating", "estimates of time", "cause", "really stuck", "vulnerabilities", "features", "abstractions", "defensive", "comment", "history of the task", "Other people's comments", "compatibility", "Verify", "neither better nor more doubtful", "misconceptions", "bugs", "feedback"}},
		{"care", []string{"undone", "who else it reaches", "needs no question", "confirmed", "one case", "standing instructions", "destroying", "hard to take back", "visible to others", "third parties", "skipped checks", "locks", "discarded work", "unfinished work"}},
		{"tools", []string{"dedicated tools", "read, edit and write", "find files", "search their content", "tasks", "tick each off", "independent calls together", "in sequence"}},
		{"tone", []string{"emoji", "short", "`path:line`", "`owner/repo#n`", "colon before a tool call"}},
		{"output", []string{"result first", "reasons", "choices", "progress", "changes the plan", "short sentences"}},
	}
	a := NewRegistry(nil).Assemble(&Facts{Env: env, Model: opus})
	var order []string
	for _, c := range checklist {
		order = append(order, c.section)
		text := piece(t, a, c.section)
		for _, k := range c.keywords {
			if !slices.ContainsFunc(strings.Split(k, "|"), func(k string) bool { return strings.Contains(text, k) }) {
				t.Errorf("%s does not say %q", c.section, k)
			}
		}
	}
	if diff := cmp.Diff(order, names(a)[:a.Boundary]); diff != "" {
		t.Error(diff)
	}
	style := NewRegistry(nil).Assemble(&Facts{Style: &Style{"Teaching", "Explain."}})
	if !strings.Contains(piece(t, style, "intro"), "output style") {
		t.Error("the introduction does not speak of the output style")
	}
}

// Proves CTX-03.
func TestDynamicSections(t *testing.T) {
	parts := map[string]func(from, to *Facts){
		"guidance":   func(from, to *Facts) { to.Guide = from.Guide },
		"memory":     func(from, to *Facts) { to.Memory = from.Memory },
		"model":      func(from, to *Facts) { to.ModelNote = from.ModelNote },
		"language":   func(from, to *Facts) { to.Answer = from.Answer },
		"style":      func(from, to *Facts) { to.Style = from.Style },
		"servers":    func(from, to *Facts) { to.Servers = from.Servers },
		"scratchpad": func(from, to *Facts) { to.Scratchpad = from.Scratchpad },
		"clearing":   func(from, to *Facts) { to.Kept = from.Kept },
		"notedown":   func(from, to *Facts) { to.NoteDown = from.NoteDown },
		"budget":     func(from, to *Facts) { to.Budget = from.Budget },
		"brief":      func(from, to *Facts) { to.Brief = from.Brief },
		"git":        func(from, to *Facts) { to.Git = from.Git },
	}
	order := []string{"guidance", "memory", "model", "environment", "language", "style", "servers", "scratchpad", "clearing", "notedown", "budget", "brief", "git"}
	for _, l := range []texts.Language{texts.English, texts.Chinese} {
		all := NewRegistry(nil).Assemble(full(l))
		if diff := cmp.Diff(order, names(all)[all.Boundary:]); diff != "" {
			t.Error(diff)
		}
		for name, set := range parts {
			with, without, nothing := &Facts{Language: l, Env: env}, full(l), &Facts{Language: l}
			set(full(l), with)
			set(nothing, without)
			want := slices.DeleteFunc(slices.Clone(order), func(n string) bool { return n != name && n != "environment" })
			a := NewRegistry(nil).Assemble(with)
			if diff := cmp.Diff(want, names(a)[a.Boundary:]); diff != "" {
				t.Errorf("only %s: %s", name, diff)
			}
			if got, want := piece(t, a, name), piece(t, all, name); got != want {
				t.Errorf("%s: %s", name, cmp.Diff(want, got))
			}
			want = slices.DeleteFunc(slices.Clone(order), func(n string) bool { return n == name })
			a = NewRegistry(nil).Assemble(without)
			if diff := cmp.Diff(want, names(a)[a.Boundary:]); diff != "" {
				t.Errorf("all but %s: %s", name, diff)
			}
		}
	}
	a := NewRegistry(nil).Assemble(full(texts.English))
	for name, keywords := range map[string][]string{
		"guidance":   {"AskUserQuestion", "`! <command>`", "sub-agent", "exploration agent", "`/<name>`", "only skills that are listed", "DiscoverSkills", "verification agent"},
		"scratchpad": {"/tmp/adze-1", "temporary directory", "unless the user wants otherwise", "no approval"},
		"servers":    {"MCP servers", "## db\nAsk in SQL.", "## web\nBe polite."},
		"language":   {"français", "identifiers"},
		"clearing":   {"latest 5"},
	} {
		for _, k := range keywords {
			if !strings.Contains(piece(t, a, name), k) {
				t.Errorf("%s does not say %q", name, k)
			}
		}
	}
}

// Proves CTX-04.
func TestStaticPartIsTheSameForEveryone(t *testing.T) {
	for _, l := range []texts.Language{texts.English, texts.Chinese} {
		want := static(&Facts{Language: l})
		for bits := range 1 << 6 {
			f := &Facts{Language: l}
			all := full(l)
			for i, set := range []func(){
				func() { f.Guide = all.Guide },
				func() { f.Env, f.Model = all.Env, all.Model },
				func() { f.Memory, f.ModelNote, f.Answer = all.Memory, all.ModelNote, all.Answer },
				func() { f.Servers, f.Scratchpad = all.Servers, all.Scratchpad },
				func() { f.Kept, f.NoteDown, f.Budget, f.Brief = 3, true, 9, "Brief" },
				func() { f.Git = all.Git },
			} {
				if bits>>i&1 == 1 {
					set()
				}
			}
			if got := static(f); got != want {
				t.Fatalf("%s, features %b: %s", l, bits, cmp.Diff(want, got))
			}
		}
	}
}

// Proves CTX-61.
func TestTwoWaysOfTalking(t *testing.T) {
	for _, l := range []texts.Language{texts.English, texts.Chinese} {
		terse := NewRegistry(nil).Assemble(&Facts{Language: l, Env: env, Model: opus})
		explained := NewRegistry(nil).Assemble(&Facts{Language: l, Env: env, Model: opus, Explained: true})
		var differ []string
		for i, p := range terse.Pieces {
			if p != explained.Pieces[i] {
				differ = append(differ, p.Name)
			}
		}
		if diff := cmp.Diff([]string{"tone", "output"}, differ); diff != "" {
			t.Error(diff)
		}
		if short := say(l, "tone.short"); strings.Contains(piece(t, explained, "tone"), short) || !strings.Contains(piece(t, terse, "tone"), short) {
			t.Error("the wish for short answers is in the wrong variant")
		}
	}
	text := piece(t, NewRegistry(nil).Assemble(&Facts{Explained: true}), "output")
	for _, k := range []string{"not watching", "Before the first tool call", "decisive", "direction changes", "silent stretch", "whole sentences", "abbreviations", "what the reader knows", "Plain prose", "tables only", "length to the question", "not affected"} {
		if !strings.Contains(text, k) {
			t.Errorf("it does not say %q", k)
		}
	}
}

// Proves CTX-06.
func TestRegistry(t *testing.T) {
	kept, fresh := 0, 0
	r := newRegistry(
		[]Section{Cached("kept", func(*Facts) (string, error) { kept++; return "k", nil })},
		[]Section{
			Uncached("fresh", "it counts", func(*Facts) (string, error) { fresh++; return "f", nil }),
			Cached("broken", func(*Facts) (string, error) { return "half", errors.New("no luck") }),
			Cached("silent", func(*Facts) (string, error) { return "", nil }),
		}, nil)
	f := &Facts{Language: texts.English}
	for range 3 {
		if diff := cmp.Diff([]string{"kept", "fresh"}, names(r.Assemble(f))); diff != "" {
			t.Error(diff)
		}
	}
	if kept != 1 || fresh != 3 {
		t.Errorf("computed %d and %d times", kept, fresh)
	}
	r.Reset()
	r.Assemble(f)
	r.Assemble(&Facts{Language: texts.Chinese})
	if kept != 3 {
		t.Errorf("computed %d times after a reset and in another language", kept)
	}
	defer func() {
		if recover() == nil {
			t.Error("a section may break the cache without a reason")
		}
	}()
	Uncached("hasty", "", nil)
}

// Proves CTX-10.
func TestTexts(t *testing.T) {
	for _, problem := range catalogue.Check() {
		t.Error(problem)
	}
}

func TestPromptIsSmall(t *testing.T) {
	for _, explained := range []bool{false, true} {
		english := static(&Facts{Language: texts.English, Explained: explained})
		chinese := static(&Facts{Language: texts.Chinese, Explained: explained})
		if n := len(english); n > 6500 {
			t.Errorf("%d bytes", n)
		}
		if n, limit := tokens.New("claude").Text(chinese), 6500/4; n > limit {
			t.Errorf("about %d tokens in texts.Chinese, at most %d", n, limit)
		}
	}
}
