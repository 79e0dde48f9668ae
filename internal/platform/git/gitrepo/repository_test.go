package gitrepo

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adze/internal/platform/fs/cachefile"
)

var testFormat = cachefile.Format{Mark: "test 1\n", Max: 1 << 20}

// save saves the repository r once all its files are old enough.
func (b *bench) save(path string) {
	b.t.Helper()
	for range 1000 {
		w := &cachefile.Writer{}
		repo := b.of("r").Repository()
		if repo == nil {
			b.t.Fatalf("it is doubted: %v", b.of("r").Unjailed())
		}
		if repo.Save(b.t.Context(), w, b.path("r")) {
			if err := testFormat.Save(path, w); err != nil {
				b.t.Fatal(err)
			}
			return
		}
		time.Sleep(settling / 10) // wait until file timestamps have advanced
	}
	b.t.Fatal("it is never saved")
}

func (b *bench) load(j *Judge, path string) *Repository {
	r := testFormat.Load(path)
	if r == nil {
		return nil
	}
	return j.Load(r, b.path("r"))
}

// TestLoad checks that a saved repository is discarded after any change to a file that the
// verdict depends on.
func TestLoad(t *testing.T) {
	same := func(b *bench, name, old, text string) { // same size and time as before
		path := b.path(name)
		info, err := os.Stat(path)
		if err != nil {
			b.t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(data), old) || len(old) != len(text) {
			b.t.Fatalf("%q cannot take the place of %q in %q: %v", text, old, data, err)
		}
		b.write(name, strings.Replace(string(data), old, text, 1))
		if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
			b.t.Fatal(err)
		}
	}
	tests := map[string]struct {
		change func(b *bench)
		holds  bool
	}{
		"nothing":                      {func(*bench) {}, true},
		"a file of the work tree":      {func(b *bench) { b.write("r/f", "b\n") }, true},
		"a commit":                     {func(b *bench) { b.git("r", "commit", "-q", "--allow-empty", "-m", "two") }, true},
		"settings":                     {func(b *bench) { b.git("r", "config", "core.fsmonitor", "evil") }, false},
		"settings, same size and age":  {func(b *bench) { same(b, "r/.git/config", "logallrefupdates = true", "fsmonitor = /tmp/evil//") }, false},
		"settings of the user":         {func(b *bench) { b.write("home/.gitconfig", "[user]\n\tname = X\n") }, false},
		"settings of the user, new":    {func(b *bench) { b.write("home/.config/git/config", "[user]\n\tname = X\n") }, false},
		"an include of the user":       {func(b *bench) { b.write("home/more", "[user]\n\tname = X\n") }, false},
		"settings of the work tree":    {func(b *bench) { b.write("r/.git/config.worktree", "[core]\n\tfsmonitor = evil\n") }, false},
		"commondir":                    {func(b *bench) { b.write("r/.git/commondir", "../other/.git\n") }, false},
		"alternates":                   {func(b *bench) { b.write("r/.git/objects/info/alternates", b.path("other")+"\n") }, false},
		"attributes of the repository": {func(b *bench) { b.write("r/.git/info/attributes", "* filter=x\n") }, false},
		"a branch":                     {func(b *bench) { b.git("r", "checkout", "-qb", "x") }, false},
		"another .git": {func(b *bench) {
			b.rename("r/.git", "r/.old")
			b.git("r", "init", "-q")
		}, false},
		"a .git that is a file": {func(b *bench) {
			b.rename("r/.git", "moved")
			b.write("r/.git", "gitdir: "+b.path("moved")+"\n")
		}, false},
		"a .git that is a link": {func(b *bench) {
			b.rename("r/.git", "moved")
			b.link("moved", "r/.git")
		}, false},
		"another directory": {func(b *bench) {
			b.rename("r", "was")
			b.link("was", "r")
		}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.write("home/.gitconfig", "[user]\n\tname = Ada\n\temail = a\n[include]\n\tpath = more\n[includeIf \"onbranch:x\"]\n\tpath = ~/x\n")
			b.repository("r")
			path := b.path("kept")
			b.save(path)
			if b.load(b.judge(), path) == nil {
				t.Fatal("it is not loaded")
			}
			tt.change(b)
			if got := b.load(b.judge(), path) != nil; got != tt.holds {
				t.Errorf("it is loaded: %t", got)
			}
		})
	}
}

// TestLoadElsewhere checks that a saved repository is discarded in another environment, with
// another git, and in a session older than the repository.
func TestLoadElsewhere(t *testing.T) {
	b := newBench(t)
	b.repository("r")
	path := b.path("kept")
	b.save(path)
	bin := b.path("bin")
	b.write("bin/git", "#!/bin/sh\nexit 1\n")
	if err := os.Chmod(filepath.Join(bin, "git"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, env := range map[string][]string{
		"another home":            {"HOME=" + b.path("other"), b.environ()[1]},
		"another configuration":   append(b.environ(), "XDG_CONFIG_HOME="+b.path("xdg")),
		"another global file":     append(b.environ(), "GIT_CONFIG_GLOBAL="+b.path("global")),
		"another system file":     append(b.environ(), "GIT_CONFIG_SYSTEM="+b.path("system")),
		"without the system file": append(b.environ(), "GIT_CONFIG_NOSYSTEM=1"),
		"another git":             {b.environ()[0], "PATH=" + bin + ":" + os.Getenv("PATH")},
		"no git":                  {b.environ()[0], "PATH=" + b.path("none")},
	} {
		j := New(Config{Environ: func() []string { return env }, Roots: func() []string { return []string{b.path("r")} }})
		j.began = time.Now().Add(time.Minute)
		if b.load(j, path) != nil {
			t.Errorf("%s: it is loaded", name)
		}
	}
	older := b.judge()
	older.began = time.Now().Add(-time.Hour)
	if b.load(older, path) != nil {
		t.Error("it is loaded in a session that began before the repository was made")
	}
	if other := b.judge(); other.Load(testFormat.Load(path), b.path("home")) != nil {
		t.Error("it is loaded for another directory")
	}
}

// TestLoadDamaged checks that a truncated, changed or forged file makes git run, and is never
// used as an answer.
func TestLoadDamaged(t *testing.T) {
	b := newBench(t)
	b.repository("r")
	path := b.path("kept")
	b.save(path)
	whole := &cachefile.Writer{}
	if !b.of("r").Repository().Save(t.Context(), whole, b.path("r")) {
		t.Fatal("it is not saved")
	}
	v := b.of("r")
	for name, change := range map[string]func(*Verdict){
		"no roles": func(v *Verdict) { v.roles = nil },
		"a role less": func(v *Verdict) {
			v.roles = slices.DeleteFunc(slices.Clone(v.roles), func(x dependency) bool { return strings.HasSuffix(x.path, ".git/config") })
		},
		"no directory":    func(v *Verdict) { v.dirs = nil },
		"no work tree":    func(v *Verdict) { v.Top = "" },
		"another program": func(v *Verdict) { v.program = "/bin/true" },
		"other variables": func(v *Verdict) { v.environ = []string{"PATH=/bin"} },
	} {
		forged := *v
		change(&forged)
		w := &cachefile.Writer{}
		forged.settled = true
		if !(&Repository{&forged}).Save(t.Context(), w, b.path("r")) {
			continue
		}
		if err := testFormat.Save(path, w); err != nil {
			t.Fatal(err)
		}
		if b.load(b.judge(), path) != nil {
			t.Errorf("%s: it is loaded", name)
		}
	}
}

// TestRepositoryChanges checks that git runs only in an unchanged repository, and with a new
// index only if none of its entries points elsewhere.
func TestRepositoryChanges(t *testing.T) {
	b := newBench(t)
	b.repository("r")
	repo := b.of("r").Repository()
	ask := func(r *Repository) error { _, err := r.Ask(t.Context(), b.path("r"), "status", "--short"); return err }
	if err := ask(repo); err != nil {
		t.Fatal(err)
	}
	b.write("r/new", "")
	b.git("r", "add", "new")
	now := repo.Current()
	if ask(repo) == nil || now == nil || ask(now) != nil {
		t.Error("a new index is not noticed, or not read")
	}
	b.repository("r/emb")
	b.git("r", "add", "emb")
	if now.Current() != nil {
		t.Error("another repository in the index is not noticed")
	}
	b.git("r", "rm", "-qf", "--cached", "emb")
	b.git("r", "config", "filter.x.clean", "touch /tmp/never")
	if now.Current() != nil || ask(now) == nil {
		t.Error("new settings are not noticed")
	}
}

// TestLinks checks that the native index reader agrees with git, and that git runs if it fails.
func TestLinks(t *testing.T) {
	for _, version := range []string{"2", "3", "4"} {
		b := newBench(t)
		b.repository("r")
		b.write("r/a/b/c", "")
		b.repository("r/emb")
		b.git("r", "add", ".")
		b.git("r", "update-index", "--index-version="+version)
		v := b.of("r/a")
		links, _, err := readLinks(v.Dir, v.hash)
		if err != nil || !slices.Equal(links, []string{"emb"}) {
			t.Errorf("version %s: %v, %v", version, links, err)
		}
	}
	b := newBench(t)
	b.repository("r")
	b.git("r", "update-index", "--split-index")
	v := b.of("r")
	if _, _, err := readLinks(v.Dir, v.hash); err == nil || v.Unjailed() != nil || !v.links {
		t.Errorf("a split index: %v, %v", err, v.Unjailed())
	}
}
