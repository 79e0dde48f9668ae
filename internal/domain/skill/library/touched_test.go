package library

import (
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"adze/internal/domain/skill"
)

// TestTouched checks that skill directories next to a touched file are used, deepest first,
// except if they are ignored by git, inside packages, or outside the working directory.
//
// Proves SKILL-30.
func TestTouched(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"w/.claude/skills/top/SKILL.md":              "top",
		"w/.claude/skills/same/SKILL.md":             "top",
		"w/a/.claude/skills/same/SKILL.md":           "a",
		"w/a/.adze/skills/own/SKILL.md":              "own",
		"w/a/b/.claude/skills/same/SKILL.md":         "b",
		"w/a/b/.claude/commands/old.md":              "old",
		"w/a/b/c/file.go":                            "",
		"w/d/file.go":                                "",
		"w/out/.claude/skills/ignored/SKILL.md":      "x",
		"w/out/file.go":                              "",
		"w/node_modules/p/.claude/skills/p/SKILL.md": "x",
		"w/node_modules/p/lib/file.js":               "",
		"w/e/node_modules/.claude/skills/q/SKILL.md": "x",
		"w/e/node_modules/file.js":                   "",
		"x/.claude/skills/outside/SKILL.md":          "x",
		"x/file.go":                                  "",
	})
	in := func(path string) string { return filepath.Join(dir, filepath.FromSlash(path)) }
	link(t, in("x"), in("w/link"))
	link(t, in("w"), in("also-w"))
	roots := Places(Layout{Dir: in("w"), Top: in("w")})
	var told atomic.Int32
	l := open(t, Config{Roots: fixed(roots...), Dir: in("w"), Ignored: func(path string) bool { return strings.Contains(path, "/out/") }})
	defer l.Watch(func() { told.Add(1) })()
	first := l.Set(t.Context())
	for _, path := range []string{"w/file.go", "w/d/file.go", "w/out/file.go", "w/node_modules/p/lib/file.js", "w/e/node_modules/file.js", "x/file.go", "w/link/file.go", "w/none/file.go"} {
		l.Touched(in(path))
	}
	l.Touched("a/b/c/file.go")
	l.Touched("")
	if s := l.Set(t.Context()); s != first || told.Load() != 0 {
		t.Fatalf("found %s, told %d times", names(s), told.Load())
	}
	l.Touched(in("w/a/x.go"))
	if s := l.Set(t.Context()); names(s) != "own same top" || s.Find("same").Description != "a" || told.Load() != 1 {
		t.Errorf("%s, told %d times", names(s), told.Load())
	}
	l.Touched(in("also-w/a/b/c/file.go"))
	s := l.Set(t.Context())
	if names(s) != "old own same top" || s.Find("same").Description != "b" || s.Find("same").Origin.Kind != skill.Project || !s.Find("old").Origin.Command || told.Load() != 2 {
		t.Errorf("%s, told %d times", names(s), told.Load())
	}
	l.Touched(in("w/a/b/c/file.go"))
	if l.Set(t.Context()) != s || told.Load() != 2 {
		t.Error("found again")
	}
	// A changed directory is scanned again.
	write(t, dir, map[string]string{"w/d/.adze/skills/new/SKILL.md": "new"})
	l.Touched(in("w/d/file.go"))
	if l.Find(t.Context(), "new") == nil {
		t.Error("new is not found")
	}
	write(t, dir, map[string]string{"w/d/.adze/commands/newer.md": "newer"})
	l.Touched(in("w/d/file.go"))
	if l.Find(t.Context(), "newer") == nil {
		t.Error("newer is not found")
	}
}

// TestTouchedWithoutTrust checks that no skills are found next to files in an untrusted
// project, and that found ones disappear when trust is revoked.
//
// Proves SKILL-30.
func TestTouchedWithoutTrust(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a/.claude/skills/x/SKILL.md": "x", "a/f": ""})
	for _, cfg := range []Config{{}, {Dir: dir}, {Dir: dir, Roots: fixed(Places(Layout{Own: filepath.Join(dir, ".adze")})...)}} {
		l := open(t, cfg)
		l.Touched(filepath.Join(dir, "a", "f"))
		if s := l.Set(t.Context()); len(s.Skills) > 0 {
			t.Error(names(s))
		}
	}
	layout := Layout{Dir: dir, Top: dir}
	l := open(t, Config{Dir: dir, Roots: func() []Root { return Places(layout) }})
	l.Touched(filepath.Join(dir, "a", "f"))
	if l.Find(t.Context(), "x") == nil {
		t.Error("x is not found")
	}
	layout = Layout{}
	if s := l.Refresh(t.Context()); len(s.Skills) > 0 {
		t.Error(names(s))
	}
}
