package library

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/domain/skill"
)

// write creates files, with paths relative to dir.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func link(t testing.TB, target, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

// open opens a library and closes it when the test ends.
func open(t testing.TB, cfg Config) *Library {
	t.Helper()
	if cfg.Roots == nil {
		cfg.Roots = func() []Root { return nil }
	}
	l := Open(cfg)
	t.Cleanup(l.Close)
	return l
}

func fixed(roots ...Root) func() []Root { return func() []Root { return roots } }

func user(dir string) Root { return Root{Dir: dir, Origin: skill.Origin{Kind: skill.User}} }

func commands(dir string) Root {
	return Root{Dir: dir, Origin: skill.Origin{Kind: skill.User, Command: true}}
}

func names(s *Set) string {
	var list []string
	for _, s := range s.Skills {
		list = append(list, s.Name)
	}
	return strings.Join(list, " ")
}

// problems returns a set's problems, keyed by file path relative to dir.
func problems(dir string, s *Set) map[string]string {
	texts := map[string]string{}
	for _, p := range s.Problems {
		rel, err := filepath.Rel(dir, p.File)
		if err != nil {
			rel = p.File
		}
		rel = filepath.ToSlash(rel)
		texts[rel] = strings.TrimPrefix(texts[rel]+"; "+strings.TrimPrefix(p.Field+": "+p.Text, ": "), "; ")
	}
	return texts
}

// TestFixtures reads a directory with valid and invalid skills of many kinds, as found in
// practice.
//
// Proves SKILL-03, SKILL-10.
func TestFixtures(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/skills")); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("All work and no play.\n", 1<<20/22-100)
	write(t, dir, map[string]string{
		"long/SKILL.md":         "---\ndescription: has a long text\n---\n" + long,
		"long-plain/SKILL.md":   "The first paragraph.\n\n" + long,
		"long-head/SKILL.md":    "---\nmetadata:\n  a: " + strings.Repeat("x", 5000) + "\ndescription: comes late\n---\nGo.",
		"too-long/SKILL.md":     "---\ndescription: x\n---\n" + strings.Repeat("x", skill.MaxFile),
		"folder/SKILL.md/x":     "",
		"../outside/SKILL.md":   "---\ndescription: lies elsewhere\n---\nGo.",
		"../elsewhere/x.md":     "---\ndescription: a file elsewhere\n---\nGo.",
		"same-content/SKILL.md": "---\ndescription: minimal\n---\nGo.",
	})
	link(t, "../outside", filepath.Join(dir, "linked"))
	link(t, filepath.Join(dir, "..", "elsewhere", "x.md"), filepath.Join(dir, "linked-file", "SKILL.md"))
	write(t, dir, map[string]string{"../secrets/id_key": "-----BEGIN KEY-----"})
	link(t, filepath.Join(dir, "..", "secrets", "id_key"), filepath.Join(dir, "linked-key", "SKILL.md"))
	link(t, "circle-b", filepath.Join(dir, "circle-a"))
	link(t, "circle-a", filepath.Join(dir, "circle-b"))
	link(t, "nowhere", filepath.Join(dir, "dangling"))
	link(t, ".", filepath.Join(dir, "itself-again"))

	l := open(t, Config{Roots: fixed(user(dir)), Reserved: func(name string) bool { return name == "help" }})
	s := l.Set(t.Context())
	want := "anchors bad-pattern blanks-after-dashes bom chinese colons crlf empty explore folded guard heading linked linked-file " +
		"long long-head long-plain minimal nothing-but-a-head pdf-forms quoted react release rule-in-text same-content under_score.and-dot unknown-fields wrong-types"
	if diff := cmp.Diff(strings.Fields(want), strings.Fields(names(s))); diff != "" {
		t.Error(diff)
	}
	if len(s.Shadowed) != 1 || s.Shadowed[0].Skill.Name != "help" || s.Shadowed[0].By != nil {
		t.Errorf("shadowed: %v", s.Shadowed)
	}
	wanted := map[string]string{
		"tabs/SKILL.md": "line 3", "open/SKILL.md": "not closed", "not-yaml/SKILL.md": "line 1", "bomb/SKILL.md": "too large",
		"itself/SKILL.md": "repeats itself", "twice/SKILL.md": "again", "bad-rules/SKILL.md": "allowed-tools: ", "rules-in-a-map/SKILL.md": "allowed-tools: ",
		"bad-hooks/SKILL.md": "hooks: ", "utf-16/SKILL.md": "UTF-8", "binary/SKILL.md": "UTF-8", "bad name/SKILL.md": `called "bad name"`,
		"linked-key/SKILL.md": "a link to a file whose name does not end in .md",
		"loose.md":            "loose/SKILL.md", "too-long/SKILL.md": "more than 1048576", "folder/SKILL.md": "not a regular file",
		"circle-a/SKILL.md": "symbolic links", "circle-b/SKILL.md": "symbolic links", "bad-pattern/SKILL.md": "paths: ", "wrong-types/SKILL.md": "name: ",
	}
	got := problems(dir, s)
	for file, text := range wanted {
		if !strings.Contains(got[file], text) {
			t.Errorf("%s: %q", file, got[file])
		}
		delete(got, file)
	}
	if len(got) > 0 {
		t.Errorf("more problems: %v", got)
	}
	for name, want := range map[string]string{
		"linked": "lies elsewhere", "linked-file": "a file elsewhere", "crlf": "has the line ends of Windows", "bom": "begins with a mark", "heading": "The first paragraph in two lines.",
		"long-plain": "The first paragraph.", "long-head": "comes late", "colons": "Use this: when that happens", "minimal": "Say hello.", "wrong-types": "The text.",
	} {
		if s := s.Find(name); s == nil || s.Description != want || s.File != filepath.Join(dir, name, "SKILL.md") || s.Dir != filepath.Join(dir, name) {
			t.Errorf("%s: %+v", name, s)
		}
	}
	for name, want := range map[string]string{"linked-file": "Go.", "long": strings.TrimSpace(long), "crlf": "Go.", "rule-in-text": "One\n\n---\n\nTwo", "chinese": "请检查。", "empty": ""} {
		if text, err := s.Find(name).Text(t.Context()); text != want || err != nil {
			t.Errorf("%s: %.50q, %v", name, text, err)
		}
	}
	if n := len(strings.Fields(names(s))) + len(wanted); n < 40 {
		t.Errorf("%d fixtures", n)
	}
}

// TestFolders checks that missing directories are ignored and other unusable ones reported.
//
// Proves SKILL-03.
func TestFolders(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"file": "x", "a/x/SKILL.md": "x"})
	var many []string
	for i := range 12 {
		many = append(many, fmt.Sprintf("loose-%02d.md", i))
		write(t, dir, map[string]string{"b/" + many[i]: "x"})
	}
	s := open(t, Config{Roots: fixed(user(filepath.Join(dir, "none")), user(filepath.Join(dir, "file")), user(filepath.Join(dir, "file", "below")),
		user(filepath.Join(dir, "a")), user(filepath.Join(dir, "b")))}).Set(t.Context())
	want := map[string]string{
		"file":          "it is not a folder",
		"b/loose-00.md": "it is not used: a skill is a folder with a file SKILL.md, here loose-00/SKILL.md; the folder has 11 more such files",
	}
	if diff := cmp.Diff(want, problems(dir, s)); diff != "" || names(s) != "x" {
		t.Error(names(s), diff)
	}
}

// TestSingleSkills checks that a root may be a single skill, without its siblings.
func TestSingleSkills(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a/SKILL.md": "a", "b/SKILL.md": "b", "c/SKILL.md": "c", "loose.md": "x"})
	one := func(name string) Root {
		return Root{Dir: filepath.Join(dir, name, "SKILL.md"), Origin: skill.Origin{Kind: skill.Plugin, By: "docs"}, Prefix: "docs:"}
	}
	s := open(t, Config{Roots: fixed(one("a"), one("c"), one("none"))}).Set(t.Context())
	if got := names(s); got != "docs:a docs:c" || len(s.Problems) > 0 {
		t.Errorf("skills are %q, problems %v", got, s.Problems)
	}
}

// TestConflicts checks that if every source has a skill named x, the administrator's is used
// and the others are listed as shadowed.
//
// Proves SKILL-01.
func TestConflicts(t *testing.T) {
	dir := t.TempDir()
	origins := []skill.Origin{
		{Kind: skill.Plugin, By: "p"}, {Kind: skill.Project, Command: true}, {Kind: skill.Project}, {Kind: skill.User, Command: true}, {Kind: skill.User}, {Kind: skill.Managed},
	}
	var roots []Root
	for i, o := range origins {
		r := Root{Dir: filepath.Join(dir, fmt.Sprint(i)), Origin: o}
		write(t, r.Dir, map[string]string{"x/SKILL.md": "x", "help/SKILL.md": "x", "bad\tname/SKILL.md": "x"})
		roots = append(roots, r)
	}
	extra := []*skill.Skill{
		{Name: "x", Origin: skill.Origin{Kind: skill.Server, By: "s"}}, {Name: "x", Origin: skill.Origin{Kind: skill.Bundled}},
		{Name: "x y", Origin: skill.Origin{Kind: skill.Server, By: "s"}},
	}
	l := open(t, Config{
		Roots: fixed(roots...), Extra: func() []*skill.Skill { return extra },
		Reserved: func(name string) bool { return name == "help" },
	})
	s := l.Set(t.Context())
	if x := s.Find("x"); x == nil || x.Origin.Kind != skill.Managed || names(s) != "x" {
		t.Fatal(names(s))
	}
	var order []string
	for _, shadowed := range s.Shadowed {
		if shadowed.Skill.Name == "help" {
			if shadowed.By != nil {
				t.Error("a skill instead of a command")
			}
			continue
		}
		if shadowed.By != s.Find("x") {
			t.Error("by another")
		}
		order = append(order, shadowed.Skill.Origin.String()+fmt.Sprint(shadowed.Skill.Origin.Command))
	}
	want := []string{"your filestrue", "your filesfalse", "the projecttrue", "the projectfalse", "adzefalse", "plugin pfalse", "server sfalse"}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Error(diff)
	}
	if n := len(s.Problems); n != len(origins)+1 {
		t.Errorf("%d problems: %v", n, s.Problems)
	}
	if l.Find(t.Context(), "y") != nil {
		t.Error("found a missing skill")
	}
}

// TestDuplicates checks that symlinks and overlapping roots yield a skill once, and that copies
// that share content on disk are separate skills.
//
// Proves SKILL-04.
func TestDuplicates(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a/one/SKILL.md": "x", "a/two/SKILL.md": "x"})
	link(t, filepath.Join(dir, "a"), filepath.Join(dir, "b"))
	link(t, filepath.Join(dir, "a", "one"), filepath.Join(dir, "c", "other-name"))
	link(t, filepath.Join(dir, "a", "one", "SKILL.md"), filepath.Join(dir, "c", "file", "SKILL.md"))
	if err := os.Mkdir(filepath.Join(dir, "c", "copy"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(dir, "a", "one", "SKILL.md"), filepath.Join(dir, "c", "copy", "SKILL.md")); err != nil {
		t.Fatal(err)
	}
	a, b, c := user(filepath.Join(dir, "a")), user(filepath.Join(dir, "b")), user(filepath.Join(dir, "c"))
	s := open(t, Config{Roots: fixed(a, a, b, c)}).Set(t.Context())
	if names(s) != "copy one two" || len(s.Shadowed) != 0 || len(s.Problems) != 0 {
		t.Errorf("%s, %v, %v", names(s), s.Shadowed, s.Problems)
	}
	if s.Find("one").File != filepath.Join(dir, "a", "one", "SKILL.md") {
		t.Error(s.Find("one").File)
	}
}

// Proves SKILL-05.
func TestCommands(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"c/plain.md":             "Do it with $ARGUMENTS.",
		"c/headed.md":            "---\ndescription: has a head\n---\nDo it.",
		"c/team/deploy.md":       "Deploy.",
		"c/team/deep/er.md":      "Deeper.",
		"c/folder/SKILL.md":      "A skill.",
		"c/folder/other.md":      "Belongs to the skill.",
		"c/odd.md/SKILL.md":      "A folder with an odd name.",
		"c/odder.md/x.md":        "Below one.",
		"c/notes.txt":            "no command",
		"c/.hidden.md":           "no command",
		"c/bad name.md":          "x",
		"c/team/help.md":         "Not the built-in one.",
		"single/only.md":         "Just this one.",
		"single/not-this-one.md": "x",
	})
	link(t, "..", filepath.Join(dir, "c", "team", "up"))
	link(t, ".", filepath.Join(dir, "c", "self"))
	l := open(t, Config{Roots: fixed(commands(filepath.Join(dir, "c")), Root{Dir: filepath.Join(dir, "single", "only.md"), Origin: skill.Origin{Kind: skill.Plugin, By: "p", Command: true}, Prefix: "p:"}),
		Reserved: func(name string) bool { return name == "help" }})
	s := l.Set(t.Context())
	if want := "folder headed odd.md odder.md:x p:only plain team:deep:er team:deploy team:help"; names(s) != want {
		t.Errorf("%s\nwant %s", names(s), want)
	}
	if p := problems(dir, s); len(p) != 1 || p["c/bad name.md"] == "" {
		t.Errorf("problems: %v", p)
	}
	for name, want := range map[string]string{"plain": "Do it with $ARGUMENTS.", "headed": "Do it.", "p:only": "Just this one.", "odd.md": "A folder with an odd name."} {
		found := s.Find(name)
		text, err := found.Text(t.Context())
		if text != want || err != nil || !found.Origin.Command || !strings.HasPrefix(found.File, found.Dir) {
			t.Errorf("%s: %q, %v, %+v", name, text, err, found)
		}
	}
	if s.Find("headed").Description != "has a head" || s.Find("plain").Description != "Do it with $ARGUMENTS." {
		t.Error("descriptions")
	}
	if again := l.Refresh(t.Context()); again != s {
		t.Errorf("another set: %s, %v", names(again), again.Problems)
	}
}

// TestCommandsAreBounded checks that an endless tree is not walked to its end.
func TestCommandsAreBounded(t *testing.T) {
	dir := t.TempDir()
	deep := "c"
	for range maxDepth + 3 {
		deep += "/d"
	}
	write(t, dir, map[string]string{deep + "/x.md": "x", "c/d/y.md": "y"})
	for i := range 30 {
		link(t, dir, filepath.Join(dir, "c", fmt.Sprint("link-", i)))
	}
	s := open(t, Config{Roots: fixed(commands(filepath.Join(dir, "c")))}).Set(t.Context())
	if s.Find("d:y") == nil || len(s.Skills) > 100 {
		t.Error(names(s))
	}
}

// TestText checks that the prompt is read on demand. A file whose front matter has changed
// since is a different skill, because the user has not approved its permissions.
func TestText(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "x", "SKILL.md")
	write(t, dir, map[string]string{"x/SKILL.md": "---\nname: x\nallowed-tools: Read\n---\nOne."})
	x := open(t, Config{Roots: fixed(user(dir))}).Find(t.Context(), "x")
	check := func(text, want, problem string) {
		t.Helper()
		if text != "" {
			write(t, dir, map[string]string{"x/SKILL.md": text})
		}
		got, err := x.Text(t.Context())
		if got != want || (err == nil) != (problem == "") || err != nil && !strings.Contains(err.Error(), problem) {
			t.Errorf("%q, %v", got, err)
		}
	}
	check("", "One.", "")
	check("---\nname: x\ndescription: One.\nallowed-tools: Read\n---\nTwo.", "Two.", "")
	check("---\nname: x\ndescription: One.\nallowed-tools: Read, Bash\n---\nTwo.", "", "has just been changed")
	check("---\nname: x\nallowed-tools: Bash(\n---\nTwo.", "", "parentheses")
	check(strings.Repeat("x", skill.MaxFile+1), "", "no longer a regular file")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"key": "One."})
	link(t, "../key", file)
	check("", "", "a link to a file whose name does not end in .md")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	check("", "", "does not exist any more")
}

// Proves SKILL-02.
func TestPlaces(t *testing.T) {
	rel := func(roots []Root) []string {
		var list []string
		for _, r := range roots {
			list = append(list, fmt.Sprintf("%d %s", r.Origin.Kind, filepath.ToSlash(r.Dir)))
			if r.Origin.Command != strings.HasSuffix(r.Dir, "commands") {
				t.Errorf("%+v", r)
			}
		}
		return list
	}
	in := func(dirs ...string) []string {
		list := []string{"1 /etc/adze/skills", "2 /h/.adze/skills", "2 /h/.claude/skills", "2 /h/.adze/commands", "2 /h/.claude/commands"}
		for _, dir := range dirs {
			for _, folder := range []string{"skills", "commands"} {
				list = append(list, "3 "+strings.TrimSuffix(dir, "/")+"/.adze/"+folder, "3 "+strings.TrimSuffix(dir, "/")+"/.claude/"+folder)
			}
		}
		return list
	}
	layout := Layout{Managed: "/etc/adze", Own: "/h/.adze", Other: "/h/.claude", User: "/h"}
	tests := []struct {
		name, dir, top string
		added          []string
		want           []string
	}{
		{"an untrusted workspace", "", "", nil, in()},
		{"at the top", "/h/r", "/h/r", nil, in("/h/r")},
		{"below the top", "/h/r/a/b", "/h/r", nil, in("/h/r/a/b", "/h/r/a", "/h/r")},
		{"a repository elsewhere", "/srv/r/a", "/srv/r", nil, in("/srv/r/a", "/srv/r")},
		{"no repository", "/h/a/b", "", nil, in("/h/a/b", "/h/a")},
		{"no repository, not below home", "/tmp/a/b", "", nil, in("/tmp/a/b")},
		{"home", "/h", "", nil, in()},
		{"home is a repository", "/h/a", "/h", nil, in("/h/a")},
		{"home is in a repository", "/h/a", "/", nil, in("/h/a")},
		{"a top that is elsewhere", "/srv/a/b", "/other", nil, in("/srv/a/b")},
		{"added", "/h/r", "/h/r", []string{"/x/y", "/h"}, in("/h/r", "/x/y")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := layout
			l.Dir, l.Top, l.Added = tt.dir, tt.top, tt.added
			if diff := cmp.Diff(tt.want, rel(Places(l))); diff != "" {
				t.Error(diff)
			}
		})
	}
	if roots := Places(Layout{}); roots != nil {
		t.Errorf("from nothing: %v", roots)
	}
}

// TestPlacesOnDisk checks that skills come from all places of a workspace, the nearest project
// directory first.
//
// Proves SKILL-01, SKILL-02.
func TestPlacesOnDisk(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"etc/skills/managed/SKILL.md": "x", "home/.adze/skills/own/SKILL.md": "x", "home/.claude/skills/other/SKILL.md": "x", "home/.claude/commands/old.md": "x",
		"home/r/.adze/skills/near/SKILL.md": "far", "home/r/.claude/skills/top/SKILL.md": "x", "home/r/.claude/skills/own/SKILL.md": "x", "home/r/.claude/commands/top.md": "old",
		"home/r/a/.adze/skills/near/SKILL.md": "near", "home/r/a/.claude/skills/near/SKILL.md": "the other", "added/.claude/skills/added/SKILL.md": "x",
	})
	in := func(path string) string { return filepath.Join(dir, filepath.FromSlash(path)) }
	roots := Places(Layout{Managed: in("etc"), Own: in("home/.adze"), Other: in("home/.claude"), User: in("home"), Dir: in("home/r/a"), Top: in("home/r"), Added: []string{in("added")}})
	s := open(t, Config{Roots: fixed(roots...)}).Set(t.Context())
	if want := "added managed near old other own top"; names(s) != want {
		t.Errorf("%s, want %s", names(s), want)
	}
	if s.Find("near").Description != "near" || s.Find("own").Origin.Kind != skill.User || s.Find("top").Origin.Command {
		t.Error("the wrong ones are used")
	}
	if len(s.Shadowed) != 4 {
		t.Errorf("shadowed: %v", s.Shadowed)
	}
}

// TestSetEnds checks that a canceled context does not wait for the disk.
func TestSetEnds(t *testing.T) {
	wait := make(chan struct{})
	l := open(t, Config{Roots: func() []Root { <-wait; return nil }})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s := l.Set(ctx); s == nil || len(s.Skills) > 0 {
		t.Error(s)
	}
	if s := l.Refresh(ctx); s == nil || l.Find(ctx, "x") != nil {
		t.Error(s)
	}
	close(wait)
	l.Set(t.Context())
}

// TestProblemsAreBounded checks that a hostile directory reports only a bounded number of
// problems.
func TestProblemsAreBounded(t *testing.T) {
	dir := t.TempDir()
	for i := range maxProblems + 100 {
		write(t, dir, map[string]string{fmt.Sprintf("x%d/SKILL.md", i): "---\nallowed-tools: (\n---\n"})
	}
	s := open(t, Config{Roots: fixed(user(dir))}).Set(t.Context())
	if n := len(s.Problems); n != maxProblems+1 || len(s.Skills) > 0 || slices.ContainsFunc(s.Problems, func(p skill.Problem) bool { return errors.Is(p, os.ErrNotExist) }) {
		t.Errorf("%d problems", n)
	}
}

// TestTooManyNames checks that a command root with too many entries is reported once,
// regardless of its number of subdirectories.
func TestTooManyNames(t *testing.T) {
	dir := t.TempDir()
	for i := range maxEntries / 100 {
		for k := range 101 {
			if err := os.MkdirAll(filepath.Join(dir, fmt.Sprint(i), fmt.Sprint(k)), 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	problems := open(t, Config{Roots: fixed(commands(dir))}).Set(t.Context()).Problems
	if len(problems) != 1 || problems[0].File != dir || !strings.Contains(problems[0].Text, "more than 10000 names") {
		t.Errorf("%d problems: %.300v", len(problems), problems)
	}
}
