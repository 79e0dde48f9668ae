package market

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adze/internal/domain/plugin"
	"adze/internal/platform/proc/osproc"
)

// trap returns a program that creates a marker file if it is run.
func trap(t *testing.T) (program, mark string) {
	t.Helper()
	dir := t.TempDir()
	mark = filepath.Join(dir, "mark")
	write(t, dir, map[string]string{"trap": "#!/bin/sh\necho \"$0 $*\" >>" + mark + "\ncat\n"})
	return filepath.Join(dir, "trap"), mark
}

// sprung fails the test if the trap was run.
func sprung(t *testing.T, mark string) {
	t.Helper()
	if said, err := os.ReadFile(mark); err == nil {
		t.Errorf("something of the repository was run: %s", said)
	}
}

// hostile returns a repository with a marketplace and a plugin that tries to make git run
// something through hooks, attributes, submodules and its configuration.
func hostile(t *testing.T, program string) string {
	t.Helper()
	other, _ := newRepository(t, map[string]string{"x": "x"})
	repo, _ := newRepository(t, merge(list(`{"name": "bad", "source": "./bad"}`), map[string]string{
		"bad/skills/a/SKILL.md": "a", ".gitattributes": "* filter=evil diff=evil merge=evil ident\n*.md text eol=crlf\n", ".lfsconfig": "[lfs]\nurl = ext::" + program,
	}))
	gitIn(t, repo, "submodule", "add", "-q", other, "bad/module")
	gitIn(t, repo, "config", "-f", ".gitmodules", "submodule.bad/module.url", "ext::"+program)
	gitIn(t, repo, "config", "-f", ".gitmodules", "submodule.bad/module.update", "!"+program)
	commitFiles(t, repo, nil)
	for _, hook := range []string{"post-checkout", "post-merge", "pre-push", "reference-transaction", "post-index-change", "pre-receive", "post-upload-pack", "pre-auto-gc", "fsmonitor-watchman"} {
		write(t, repo, map[string]string{".git/hooks/" + hook: "#!/bin/sh\n" + program + " " + hook + "\n"})
	}
	for key, value := range map[string]string{"core.fsmonitor": program, "core.sshCommand": program, "core.gitProxy": program, "uploadpack.packObjectsHook": program, "core.alternateRefsCommand": program,
		"filter.evil.smudge": program, "filter.evil.process": program, "core.pager": program, "core.hooksPath": filepath.Join(repo, ".git", "hooks"), "remote.origin.uploadpack": program} {
		gitIn(t, repo, "config", key, value)
	}
	return repo
}

// environ returns an environment in which the user's git configuration runs a trap for
// everything a checkout or clone would run, as Git LFS does.
func environ(t *testing.T, program string) []string {
	t.Helper()
	home := t.TempDir()
	write(t, home, map[string]string{
		".gitconfig": fmt.Sprintf("[filter \"evil\"]\n\tsmudge = %[1]s\n\tprocess = %[1]s\n\tclean = %[1]s\n\trequired = true\n[core]\n\tfsmonitor = %[1]s\n\thooksPath = %[2]s/hooks\n\taskPass = %[1]s\n[init]\n\ttemplateDir = %[2]s/template\n[submodule]\n\trecurse = true\n[protocol]\n\tallow = always\n",
			program, home),
		"template/hooks/post-checkout":         "#!/bin/sh\n" + program,
		"hooks/reference-transaction":          "#!/bin/sh\n" + program,
		"hooks/post-checkout":                  "#!/bin/sh\n" + program,
		"template/config":                      "[core]\n\tfsmonitor = " + program + "\n",
		"template/hooks/reference-transaction": "#!/bin/sh\n" + program,
	})
	env := []string{"HOME=" + home, "GIT_DIR=/nonexistent", "GIT_TEMPLATE_DIR=" + home + "/template", "GIT_EXEC_PATH=" + filepath.Dir(program), "GIT_ASKPASS=" + program, "SSH_ASKPASS=" + program,
		"GIT_EXTERNAL_DIFF=" + program, "GIT_TRACE=" + home + "/trace", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=" + program}
	for _, entry := range os.Environ() {
		if strings.HasPrefix(entry, "PATH=") {
			env = append(env, entry)
		}
	}
	return env
}

// TestNothingRuns checks that fetching runs nothing from the repository, nor anything the
// user's git configuration runs on checkout.
//
// Proves X-071.
func TestNothingRuns(t *testing.T) {
	program, mark := trap(t)
	repo := hostile(t, program)
	env := environ(t, program)
	clone := exec.Command("git", "clone", "-q", repo, filepath.Join(t.TempDir(), "clone"))
	clone.Env = slices.DeleteFunc(slices.Clone(env), func(entry string) bool { return strings.HasPrefix(entry, "GIT_") })
	_ = clone.Run() // ok: the trap interferes with the clone
	if err := os.Remove(mark); err != nil {
		t.Fatal("the trap has no effect on git itself:", err)
	}
	b := newBench(t)
	b.cfg.Environ = func() []string { return env }
	b.add(repo)
	c, err := b.Fetch(t.Context(), plugin.ID{Name: "bad", Market: "team"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Install(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sprung(t, mark)
	if text, err := os.ReadFile(filepath.Join(p.Dir, "skills/a/SKILL.md")); err != nil || string(text) != "a" {
		t.Errorf("the file is %q, %v", text, err)
	}
	if _, err := os.Lstat(filepath.Join(p.Dir, "module")); err == nil {
		t.Error("a submodule is there")
	}
}

// TestSubmodule checks that a plugin in its own repository is installed without its submodule,
// and that this is reported.
func TestSubmodule(t *testing.T) {
	program, mark := trap(t)
	repo := hostile(t, program)
	_ = os.Remove(mark) // ok: making the repository may run it
	b := newBench(t)
	market := filepath.Join(t.TempDir(), "market")
	write(t, market, list(fmt.Sprintf(`{"name": "bad", "source": {"source": "url", "url": %q}}`, repo)))
	b.add(market)
	c, err := b.Fetch(t.Context(), plugin.ID{Name: "bad", Market: "team"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Discard()
	if len(c.Problems) != 1 || !strings.Contains(c.Problems[0].Error(), "bad/module: it is a submodule") {
		t.Error("problems are", c.Problems)
	}
	sprung(t, mark)
}

// TestOddPath checks that shell metacharacters in a path have no effect.
func TestOddPath(t *testing.T) {
	program, mark := trap(t)
	parent, _ := newRepository(t, list(`{"name": "a", "source": "./a"}`))
	write(t, parent, map[string]string{"a/x": "x"})
	commitFiles(t, parent, nil)
	for _, name := range []string{"it's; $(trap) `trap` | trap; trap &", "-x", "--upload-pack=" + filepath.Base(program), "a:b", "x::y", " "} {
		repo := filepath.Join(t.TempDir(), name)
		if err := os.Rename(parent, repo); err != nil {
			t.Fatal(err)
		}
		b := newBench(t)
		b.cfg.Environ = func() []string {
			return append(os.Environ(), "PATH="+os.Getenv("PATH")+string(os.PathListSeparator)+filepath.Dir(program))
		}
		if _, err := b.Add(t.Context(), plugin.Source{Kind: plugin.Git, At: repo}); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		sprung(t, mark)
		parent = repo
	}
}

// rawTree creates a commit with a single tree of arbitrary entry names, and returns its
// repository.
func rawTree(t *testing.T, entries ...rawEntry) string {
	t.Helper()
	repo, _ := newRepository(t, map[string]string{"x": "x"})
	var tree bytes.Buffer
	for _, e := range entries {
		fmt.Fprintf(&tree, "%s %s\x00", e.mode, e.name)
		var id []byte
		fmt.Sscanf(object(t, repo, e.kind, e.content), "%x", &id)
		tree.Write(id)
	}
	commit := gitIn(t, repo, "commit-tree", "-m", "x", object(t, repo, "tree", tree.Bytes()))
	gitIn(t, repo, "update-ref", "refs/heads/main", commit)
	return repo
}

type rawEntry struct {
	mode, name, kind string
	content          []byte
}

// object writes a git object without validation.
func object(t *testing.T, repo, kind string, content []byte) string {
	t.Helper()
	cmd := exec.Command("git", "hash-object", "-t", kind, "-w", "--stdin", "--literally")
	cmd.Dir, cmd.Stdin = repo, bytes.NewReader(content)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// TestHostileTrees checks that names that escape the directory, mean something else on another
// system or occur twice are refused even if git accepts them, and that nothing is left behind.
//
// Proves X-071.
func TestHostileTrees(t *testing.T) {
	file := func(name string) rawEntry { return rawEntry{"100644", name, "blob", []byte("x")} }
	link := func(name, target string) rawEntry { return rawEntry{"120000", name, "blob", []byte(target)} }
	folder := func(name string, inner string) rawEntry {
		sum := "\x58\x79\x32\x2d\xed\x0d\x4a\x5d\xf9\xc2\x6b\x4b\x0b\x3c\x6c\x5b\x45\x6a\x6c\x5f" // nonexistent object
		return rawEntry{"40000", name, "tree", []byte("100644 " + inner + "\x00" + sum)}
	}
	outside := filepath.Join(t.TempDir(), "outside")
	for name, entries := range map[string][]rawEntry{
		"parent":                 {file("..")},
		"path":                   {file("../../evil")},
		"absolute":               {file(outside)},
		"git":                    {file(".git")},
		"git in another case":    {file(".Git")},
		"git with a hidden sign": {file(".g\u200cit")},
		"git as a short name":    {file("GIT~1")},
		"newline":                {file("a\nb")},
		"escape":                 {file("a\x1b[2Jb")},
		"direction":              {file("a\u202eb")},
		"backslash":              {file(`..\evil`)},
		"not UTF-8":              {file("a\xff")},
		"same name":              {file("a"), file("a")},
		"another case":           {file("A"), file("a")},
		"another form":           {file("\u00e9"), file("e\u0301")},
		"another sign":           {file("\u017f"), file("S")},
		"link and folder":        {link("a", outside), folder("a", "b")},
		"link out":               {link("a", outside)},
		"link out, relative":     {link("a", "../../../x")},
		"link to nothing":        {link("a", "b")},
		"long link":              {link("a", strings.Repeat("x", maxTarget+1))},
		"link with a zero":       {link("a", "b\x00c")},
		"empty link":             {link("a", "")},
		"missing object":         {folder("a", "b")},
		"dot":                    {file("a.")},
		"empty name":             {file("")},
		"current folder":         {file(".")},
		"manifest is a link":     {{"40000", ".claude-plugin", "tree", nil}, link(".adze-plugin", "/etc")},
		"git as a folder":        {folder(".git", "config")},
	} {
		t.Run(name, func(t *testing.T) {
			repo := rawTree(t, entries...)
			b := newBench(t)
			market := filepath.Join(t.TempDir(), "market")
			write(t, market, list(fmt.Sprintf(`{"name": "bad", "source": {"source": "url", "url": %q}}`, repo)))
			b.add(market)
			c, err := b.Fetch(t.Context(), plugin.ID{Name: "bad", Market: "team"})
			if err == nil {
				_, err = c.Install(t.Context())
			}
			if err == nil {
				t.Fatalf("it is installed: %+v", c.Plugin)
			}
			if strings.ContainsAny(err.Error(), "\x1b\n\u202e") {
				t.Errorf("the error has control characters: %q", err)
			}
			if _, err := os.Lstat(outside); err == nil {
				t.Error("something was written outside")
			}
			if left := b.left(); len(left) > 0 {
				t.Error("left are", left)
			}
			if all, err := b.store.Installed(); err != nil || len(all) > 0 {
				t.Error("installed are", all, err)
			}
		})
	}
}

// TestLargeTrees checks that a commit with too many or too large files is refused before any
// file is written.
func TestLargeTrees(t *testing.T) {
	repo, _ := newRepository(t, map[string]string{"x": "x"})
	blob := object(t, repo, "blob", bytes.Repeat([]byte("0"), plugin.MaxTree/64))
	small := object(t, repo, "blob", nil)
	tree := func(n int, kind, object string) string {
		var lines strings.Builder
		for i := range n {
			fmt.Fprintf(&lines, "%s %s\tf%05d\n", kind, object, i)
		}
		cmd := exec.Command("git", "mktree")
		cmd.Dir, cmd.Stdin = repo, strings.NewReader(lines.String())
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	bomb := tree(10, "100644 blob", small)
	for range 10 { // each directory holds ten times the previous one
		bomb = tree(10, "040000 tree", bomb)
	}
	for name, tree := range map[string]string{"many": tree(plugin.MaxFiles+1, "100644 blob", small), "large": tree(65, "100644 blob", blob), "nested": bomb} {
		t.Run(name, func(t *testing.T) {
			gitIn(t, repo, "update-ref", "refs/heads/main", gitIn(t, repo, "commit-tree", "-m", "x", tree))
			b := newBench(t)
			if _, err := b.Add(t.Context(), plugin.Source{Kind: plugin.Git, At: repo}); err == nil || !strings.Contains(err.Error(), "more than") {
				t.Error(err)
			}
			if left := b.left(); len(left) > 0 {
				t.Error("left are", left)
			}
		})
	}
}

// TestKilled checks that a process killed during a fetch leaves the old version in place, and
// that the next one cleans up.
func TestKilled(t *testing.T) {
	if home := os.Getenv("MARKET_TEST_HOME"); home != "" {
		m := New(Config{Store: plugin.OpenStore(home), Run: &osproc.Runner{}, Environ: os.Environ})
		if _, err := m.Update(t.Context(), "team"); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Fetch(t.Context(), plugin.ID{Name: "tidy", Market: "team"}); err != nil {
			t.Fatal(err)
		}
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		t.Fatal("it lives:", err)
	}
	b := newBench(t)
	repo, _ := newRepository(t, merge(list(`{"name": "tidy", "source": "./tidy"}`), map[string]string{"tidy/a": "1"}))
	b.add(repo)
	old := b.install("tidy")
	commitFiles(t, repo, map[string]string{"tidy/a": "2"})
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
	cmd.Env = append(os.Environ(), "MARKET_TEST_HOME="+b.home)
	if out, err := cmd.CombinedOutput(); err == nil || bytes.Contains(out, []byte("FAIL")) {
		t.Fatalf("it was not killed: %s", out)
	}
	if len(b.left()) != 1 {
		t.Fatal("left are", b.left())
	}
	if l := b.store.Load(old.ID)[0]; l.Err != nil || l.Plugin.Hash != old.Hash {
		t.Error("the old version is gone:", l)
	}
	if p := b.install("tidy"); p.Hash == old.Hash {
		t.Error("it is not updated")
	}
	if left := b.left(); len(left) > 0 {
		t.Error("left are", left)
	}
}
