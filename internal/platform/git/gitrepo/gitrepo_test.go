package gitrepo

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A bench is a home directory and a place for repositories, with a judge that started after
// they were created.
type bench struct {
	t    *testing.T
	base string
	home string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	base := real(t.TempDir())
	b := &bench{t: t, base: base, home: filepath.Join(base, "home")}
	b.write("home/.gitconfig", "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n")
	return b
}

func (b *bench) path(name string) string { return filepath.Join(b.base, filepath.FromSlash(name)) }

func (b *bench) environ() []string {
	return []string{"HOME=" + b.home, "PATH=" + os.Getenv("PATH"), "GIT_DIR=/nowhere"}
}

func (b *bench) write(name, text string) {
	b.t.Helper()
	path := b.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) git(dir string, args ...string) string {
	b.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = b.path(dir), append(b.environ()[:2:2], "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// repository creates a repository with a commit.
func (b *bench) repository(name string) {
	b.t.Helper()
	b.write(name+"/f", "a\n")
	b.git(name, "init", "-q")
	b.git(name, "add", ".")
	b.git(name, "commit", "-qm", "one")
}

func (b *bench) judge() *Judge {
	j := New(Config{Environ: b.environ, Roots: func() []string { return []string{b.path("r")} }})
	j.began = time.Now().Add(time.Minute)
	return j
}

// of returns a new judge's verdict on a directory.
func (b *bench) of(name string) *Verdict { return b.judge().Of(b.path(name)) }

func TestHarmlessRepositories(t *testing.T) {
	b := newBench(t)
	b.repository("r")
	b.write("r/a/b/c", "")
	b.git("r", "remote", "add", "origin", "https://example.org/x.git")
	b.git("r", "config", "branch.main.remote", "origin")
	b.git("r", "config", "core.hooksPath", ".husky/_")
	b.git("r", "config", "core.fsmonitor", "false")
	b.git("r", "config", "blame.ignoreRevsFile", ".git-blame-ignore-revs")
	b.git("r", "config", "format.pretty", "%h %s")
	b.git("r", "worktree", "add", "-q", "../tree")
	b.repository("lib")
	b.git("r", "submodule", "add", "-q", b.path("lib"), "lib")
	b.git("r", "commit", "-qm", "sub")
	if err := os.Mkdir(b.path("none"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"r", "r/a/b", "tree", "r/lib", "none", "r/gone"} {
		v := b.of(dir)
		if err := v.Unjailed(); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
		if v.Replaces() || v.Plain() {
			t.Errorf("%s: there is something to replace: %v", dir, v.overrides)
		}
	}
	if v := b.of("tree"); v.Top != b.path("tree") || v.Common != b.path("r/.git") || v.Dir != b.path("r/.git/worktrees/tree") {
		t.Errorf("%+v", v)
	}
}

// TestHostileRepositories checks that repositories as in F3, and others, are distrusted.
func TestHostileRepositories(t *testing.T) {
	evil := "touch /tmp/never"
	tests := []struct {
		name string
		dir  string // directory to run git in; empty means r
		make func(b *bench)
	}{
		{"F3a a comment that ends in a backslash", "", func(b *bench) {
			b.write("r/.git/config", "[core]\n\tbare = false\n[filter \"x\"]\n# note \\\nclean = "+evil+"\n")
		}},
		{"F3b two headers on a line", "", func(b *bench) { b.write("r/.git/config", "[user][filter \"x\"] clean = "+evil+"\n") }},
		{"F3c a byte order mark", "", func(b *bench) { b.write("r/.git/config", "\ufeff[filter \"x\"]\nclean = "+evil+"\n") }},
		{"F3d commondir in a plain .git", "", func(b *bench) {
			b.repository("r/other")
			b.git("r/other", "config", "filter.x.clean", evil)
			b.write("r/.git/commondir", "../other/.git\n")
		}},
		{"F3e commondir behind a submodule", "r/lib", func(b *bench) {
			b.submodule()
			b.repository("r/other")
			b.git("r/other", "config", "filter.x.clean", evil)
			b.write("r/.git/modules/lib/commondir", "../../../other/.git")
		}},
		{"F3e commondir with two lines", "", func(b *bench) {
			b.repository("r/other")
			b.write("r/.git/commondir", "../other/.git\n\n")
		}},
		{"F3f an invalid .git below a hostile one", "r/sub", func(b *bench) {
			b.git("r", "config", "filter.x.clean", evil)
			b.write("r/sub/.git/x", "")
		}},
		{"F3f an empty .git file below a hostile one", "r/sub", func(b *bench) {
			b.git("r", "config", "filter.x.clean", evil)
			b.write("r/sub/.git", "")
		}},
		{"F3g through a link", "link", func(b *bench) {
			b.git("r", "config", "filter.x.clean", evil)
			b.write("r/sub/f", "")
			b.link("r/sub", "link")
		}},
		{"F3h a partial clone", "", func(b *bench) {
			b.git("r", "config", "extensions.partialClone", "x")
			b.git("r", "config", "remote.x.url", ".")
		}},
		{"F3h a promisor", "", func(b *bench) { b.git("r", "config", "remote.x.promisor", "true") }},
		{"F3h a filter of a promisor", "", func(b *bench) { b.git("r", "config", "remote.x.partialCloneFilter", "blob:none") }},
		{"F3h upload-pack", "", func(b *bench) { b.git("r", "config", "remote.x.uploadpack", evil) }},
		{"F3h a remote helper", "", func(b *bench) { b.git("r", "config", "remote.x.url", "ext::sh -c x") }},
		{"F3h vcs", "", func(b *bench) { b.git("r", "config", "remote.x.vcs", "evil") }},
		{"F3i a submodule with a filter", "", func(b *bench) {
			b.submodule()
			b.git("r/lib", "config", "filter.x.clean", evil)
		}},
		{"F3j a submodule with a textconv", "", func(b *bench) {
			b.submodule()
			b.git("r/lib", "config", "diff.x.textconv", evil)
		}},
		{"F3j diff.submodule", "", func(b *bench) { b.git("r", "config", "diff.submodule", "diff") }},
		{"F3k an embedded repository", "", func(b *bench) {
			b.repository("r/emb")
			b.git("r", "add", "emb")
			b.git("r/emb", "config", "filter.x.clean", evil)
		}},
		{"F3l a work tree elsewhere", "", func(b *bench) { b.git("r", "config", "core.worktree", b.home) }},
		{"F3l a work tree above", "", func(b *bench) { b.git("r", "config", "core.worktree", b.base) }},
		{"F3m format.pretty", "", func(b *bench) { b.git("r", "config", "format.pretty", "%h%+G?") }},
		{"F3m a named format", "", func(b *bench) { b.git("r", "config", "pretty.x", "% GS") }},
		{"fsmonitor", "", func(b *bench) { b.git("r", "config", "core.fsmonitor", evil) }},
		{"in upper case", "", func(b *bench) { b.write("r/.git/config", "[CORE]\n\tFSMonitor = ./evil\n") }},
		{"continued", "", func(b *bench) { b.write("r/.git/config", "[core]\nfsmonitor = \\\n./evil\n") }},
		{"quoted", "", func(b *bench) { b.write("r/.git/config", "[core]\nfsmonitor = \"./e\"v\"il\"\n") }},
		{"a bracket in a name", "", func(b *bench) { b.write("r/.git/config", "[diff \"a]b\"]\ntextconv = ./evil\n") }},
		{"an old section", "", func(b *bench) { b.write("r/.git/config", "[filter.x]\nsmudge = ./evil\n") }},
		{"a broken file", "", func(b *bench) { b.write("r/.git/config", "[core\n\tfsmonitor = x\n") }},
		{"UTF-16", "", func(b *bench) {
			b.write("r/.git/config", "\xff\xfe[\x00c\x00o\x00r\x00e\x00]\x00\n\x00")
		}},
		{"textconv", "", func(b *bench) { b.git("r", "config", "diff.x.textconv", evil) }},
		{"diff command", "", func(b *bench) { b.git("r", "config", "diff.x.command", evil) }},
		{"diff external", "", func(b *bench) { b.git("r", "config", "diff.external", evil) }},
		{"order file", "", func(b *bench) { b.git("r", "config", "diff.orderFile", b.home+"/x") }},
		{"xfuncname", "", func(b *bench) { b.git("r", "config", "diff.x.xfuncname", "((a*)*)*b") }},
		{"merge driver", "", func(b *bench) { b.git("r", "config", "merge.x.driver", evil) }},
		{"gpg", "", func(b *bench) { b.git("r", "config", "gpg.program", evil) }},
		{"gpg of ssh", "", func(b *bench) { b.git("r", "config", "gpg.ssh.defaultKeyCommand", evil) }},
		{"ssh", "", func(b *bench) { b.git("r", "config", "core.sshCommand", evil) }},
		{"askpass", "", func(b *bench) { b.git("r", "config", "core.askPass", evil) }},
		{"proxy", "", func(b *bench) { b.git("r", "config", "core.gitProxy", evil) }},
		{"editor", "", func(b *bench) { b.git("r", "config", "core.editor", evil) }},
		{"pager", "", func(b *bench) { b.git("r", "config", "pager.log", evil) }},
		{"alternate refs", "", func(b *bench) { b.git("r", "config", "core.alternateRefsCommand", evil) }},
		{"alias", "", func(b *bench) { b.git("r", "config", "alias.rev-parse", "!"+evil) }},
		{"credential helper", "", func(b *bench) { b.git("r", "config", "credential.helper", evil) }},
		{"attributes file", "", func(b *bench) { b.git("r", "config", "core.attributesFile", b.home+"/x") }},
		{"excludes file", "", func(b *bench) { b.git("r", "config", "core.excludesFile", b.home+"/x") }},
		{"blame.ignoreRevsFile outside", "", func(b *bench) {
			b.write("home/.ssh/id_rsa", "secret")
			b.git("r", "config", "blame.ignoreRevsFile", "../home/.ssh/id_rsa")
		}},
		{"blame.ignoreRevsFile through a link", "", func(b *bench) {
			b.write("home/.ssh/id_rsa", "secret")
			b.link("home/.ssh/id_rsa", "r/revs")
			b.git("r", "config", "blame.ignoreRevsFile", "revs")
		}},
		{"blame.ignoreRevsFile at home", "", func(b *bench) { b.git("r", "config", "blame.ignoreRevsFile", "~/.ssh/id_rsa") }},
		{"mailmap outside", "", func(b *bench) {
			b.write("home/.ssh/id_rsa", "secret")
			b.git("r", "config", "mailmap.file", b.home+"/.ssh/id_rsa")
		}},
		{"an extension of git-lfs", "", func(b *bench) { b.git("r", "config", "lfs.extension.x.clean", evil) }},
		{"trace2", "", func(b *bench) { b.git("r", "config", "trace2.eventTarget", b.base+"/trace") }},
		{"include", "", func(b *bench) { b.git("r", "config", "include.path", "x") }},
		{"includeIf", "", func(b *bench) { b.git("r", "config", "includeIf.gitdir:/.path", "x") }},
		{"hook of uploadpack", "", func(b *bench) { b.git("r", "config", "uploadpack.packObjectsHook", evil) }},
		{"update command of a submodule", "", func(b *bench) { b.git("r", "config", "submodule.x.update", "!"+evil) }},
		{"submodule summary", "", func(b *bench) { b.git("r", "config", "status.submoduleSummary", "true") }},
		{"recent objects hook", "", func(b *bench) { b.git("r", "config", "gc.recentObjectsHook", evil) }},
		{"worktree settings", "", func(b *bench) {
			b.git("r", "config", "extensions.worktreeConfig", "true")
			b.write("r/.git/config.worktree", "[filter \"x\"]\nclean = "+evil+"\n")
		}},
		{"unknown extension", "", func(b *bench) {
			b.git("r", "config", "core.repositoryFormatVersion", "1")
			b.git("r", "config", "extensions.evil", "true")
		}},
		{"bare by setting", "", func(b *bench) { b.git("r", "config", "core.bare", "true") }},
		{"bare by layout", "r/bare", func(b *bench) { b.git("r", "init", "-q", "--bare", "bare") }},
		{"below a bare one", "r/bare/x", func(b *bench) {
			b.git("r", "init", "-q", "--bare", "bare")
			b.write("r/bare/x/y", "")
		}},
		{"inside .git", "r/.git", func(b *bench) {}},
		{".git is a link", "", func(b *bench) {
			b.rename("r/.git", "r/store")
			b.link("r/store", "r/.git")
		}},
		{"config is a link", "", func(b *bench) {
			b.rename("r/.git/config", "r/config")
			b.link("r/config", "r/.git/config")
		}},
		{"objects is a link", "", func(b *bench) {
			b.rename("r/.git/objects", "r/objects")
			b.link("r/objects", "r/.git/objects")
		}},
		{"exclude is a link", "", func(b *bench) {
			b.write("home/.ssh/id_rsa", "secret")
			b.remove("r/.git/info/exclude")
			b.link("home/.ssh/id_rsa", "r/.git/info/exclude")
		}},
		{"attributes is a link", "", func(b *bench) { b.link("home/x", "r/.git/info/attributes") }},
		{"index is a link", "", func(b *bench) {
			b.rename("r/.git/index", "r/index")
			b.link("r/index", "r/.git/index")
		}},
		{"a forged .git file", "forged", func(b *bench) {
			b.git("r", "worktree", "add", "-q", "../tree")
			b.write("forged/.git", "gitdir: "+b.path("r/.git/worktrees/tree")+"\n")
		}},
		{"a .git file that names another's .git", "forged", func(b *bench) { b.write("forged/.git", "gitdir: "+b.path("r/.git")+"\n") }},
		{"a separate git directory", "", func(b *bench) {
			b.rename("r/.git", "r/store")
			b.write("r/.git", "gitdir: store\n")
		}},
		{"a .git file with two lines", "tree", func(b *bench) {
			b.git("r", "worktree", "add", "-q", "../tree")
			b.write("tree/.git", "gitdir: "+b.path("r/.git/worktrees/tree")+"\nx\n")
		}},
		{"alternates outside", "", func(b *bench) {
			b.repository("other")
			b.write("r/.git/objects/info/alternates", b.path("other/.git/objects")+"\n")
		}},
		{"alternates behind alternates", "", func(b *bench) {
			b.repository("other")
			b.repository("r/near")
			b.write("r/.git/objects/info/alternates", b.path("r/near/.git/objects")+"\n")
			b.write("r/near/.git/objects/info/alternates", b.path("other/.git/objects")+"\n")
		}},
		{"an index entry above", "", func(b *bench) {
			hash := b.git("r", "hash-object", "f")
			b.git("r", "update-index", "--add", "--cacheinfo", "100644,"+hash+",xx/key")
			b.patch("r/.git/index", "xx/key", "../key")
		}},
		{"a huge file of settings", "", func(b *bench) { b.write("r/.git/config", "[core]\n"+strings.Repeat("# x\n", 1<<19)) }},
		{"a pipe as settings", "", func(b *bench) {
			b.remove("r/.git/config")
			b.pipe("r/.git/config")
		}},
		{"a pipe as HEAD", "", func(b *bench) {
			b.remove("r/.git/HEAD")
			b.pipe("r/.git/HEAD")
		}},
		{"a pipe as .git", "r/sub", func(b *bench) {
			b.write("r/sub/f", "")
			b.pipe("r/sub/.git")
		}},
		{"a pipe that is included", "", func(b *bench) {
			b.pipe("r/pipe")
			b.git("r", "config", "include.path", b.path("r/pipe"))
		}},
		{"no HEAD", "", func(b *bench) { b.remove("r/.git/HEAD") }},
		{"a submodule with a link of its own", "", func(b *bench) {
			b.submodule()
			b.repository("r/lib/deep")
			b.git("r/lib", "add", "deep")
			b.git("r/lib/deep", "config", "core.fsmonitor", evil)
		}},
		{"a submodule that is another repository", "", func(b *bench) {
			b.submodule()
			b.repository("other")
			b.write("r/lib/.git", "gitdir: "+b.path("other/.git")+"\n")
		}},
		{"a submodule with an empty .git", "", func(b *bench) {
			b.submodule()
			b.write("r/lib/.git", "")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.repository("r")
			tt.make(b)
			if tt.dir == "" {
				tt.dir = "r"
			}
			began := time.Now()
			v := b.of(tt.dir)
			if v.Doubt() == nil {
				t.Errorf("it is not doubted: %+v", v)
			}
			if took := time.Since(began); took > 10*verdictTimeout { // the machine may be busy; git would hang forever
				t.Errorf("it took %v", took)
			}
			t.Log(v.Doubt())
		})
	}
}

// submodule adds lib to r.
func (b *bench) submodule() {
	b.t.Helper()
	b.repository("origin")
	b.git("r", "submodule", "add", "-q", b.path("origin"), "lib")
	b.git("r", "commit", "-qm", "sub")
}

func (b *bench) link(target, name string) {
	b.t.Helper()
	if err := os.Symlink(b.path(target), b.path(name)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) rename(from, to string) {
	b.t.Helper()
	if err := os.Rename(b.path(from), b.path(to)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) remove(name string) {
	b.t.Helper()
	if err := os.Remove(b.path(name)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) pipe(name string) {
	b.t.Helper()
	if out, err := exec.Command("mkfifo", b.path(name)).CombinedOutput(); err != nil {
		b.t.Fatalf("%v\n%s", err, out)
	}
}

// patch replaces bytes of the index and its checksum.
func (b *bench) patch(name, old, with string) {
	b.t.Helper()
	data, err := os.ReadFile(b.path(name))
	if err != nil {
		b.t.Fatal(err)
	}
	data = []byte(strings.Replace(string(data[:len(data)-20]), old, with, 1))
	b.write(name, string(data)+strings.Repeat("\x00", 20)) // no checksum, as with index.skipHash
}

// TestNothingRuns checks that real git runs no program that a repository configures: either the
// environment prevents it, or the judge distrusts the repository.
//
// Proves SHRO-03.
func TestNothingRuns(t *testing.T) {
	for _, key := range []string{
		"core.fsmonitor", "core.pager", "diff.external", "diff.x.textconv", "diff.x.command", "filter.x.clean", "filter.x.process", "gpg.program",
		"core.hooksPath", "core.sshCommand", "core.askPass",
	} {
		t.Run(key, func(t *testing.T) {
			b := newBench(t)
			b.repository("r")
			evil, trace := b.path("hooks/post-index-change"), b.path("ran")
			b.write("hooks/post-index-change", "#!/bin/sh\necho ran >> '"+trace+"'\ncat\n")
			if err := os.Chmod(evil, 0o755); err != nil {
				t.Fatal(err)
			}
			b.write("r/.gitattributes", "f diff=x filter=x\n")
			value := evil
			if key == "core.hooksPath" {
				value = b.path("hooks")
			}
			b.git("r", "config", key, value)
			b.git("r", "config", "log.showSignature", "true")
			b.write("r/f", "b\n")
			v := b.of("r")
			if v.Unjailed() != nil {
				return
			}
			program, env := v.Program()
			for _, args := range []string{"status", "diff", "log -p", "show HEAD", "blame f", "ls-files -m", "branch -v", "describe --always --dirty"} {
				cmd := exec.Command(program, Harden(append([]string{"git"}, strings.Fields(args)...))[1:]...)
				cmd.Dir, cmd.Env = b.path("r"), env
				cmd.CombinedOutput() // ok: may fail for lack of the helper
				if _, err := os.Stat(trace); err == nil {
					t.Fatalf("git %s ran a program of the repository", args)
				}
			}
		})
	}
}

func TestHarden(t *testing.T) {
	for line, want := range map[string]string{
		"git diff a":            "git diff --no-ext-diff --no-textconv a",
		"git --no-pager log -1": "git --no-pager log --no-ext-diff --no-textconv -1",
		"git -C diff show":      "git -C diff show --no-ext-diff --no-textconv",
		"git status":            "git status",
		"git":                   "git",
	} {
		if got := strings.Join(Harden(strings.Fields(line)), " "); got != want {
			t.Errorf("%s: %s", line, got)
		}
	}
}

// TestAnswersAreKept checks that verdicts are cached until a file they depend on changes.
func TestAnswersAreKept(t *testing.T) {
	for name, change := range map[string]func(*bench){
		"settings":             func(b *bench) { b.git("r", "config", "core.fsmonitor", "evil") },
		"a .git between":       func(b *bench) { b.write("r/sub/.git", "gitdir: ../x\n") },
		"a bare one between":   func(b *bench) { b.git("r", "init", "-q", "--bare", "sub") },
		"commondir":            func(b *bench) { b.write("r/.git/commondir", "../x\n") },
		"alternates":           func(b *bench) { b.write("r/.git/objects/info/alternates", b.path("other")+"\n") },
		"settings of the user": func(b *bench) { b.write("home/.gitconfig", "[") },
		"another work tree":    func(b *bench) { b.write("r/.git/config.worktree", "[x") },
		"a link instead": func(b *bench) {
			b.rename("r/sub", "r/old")
			b.repository("other")
			b.git("other", "config", "core.fsmonitor", "evil")
			b.link("other", "r/sub")
		},
		"a submodule": func(b *bench) { b.git("r/lib", "config", "core.fsmonitor", "evil") },
		"a gitlink": func(b *bench) {
			b.repository("r/emb")
			b.git("r/emb", "config", "core.fsmonitor", "evil")
			b.git("r", "add", "emb")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.repository("r")
			b.submodule()
			b.git("r", "config", "extensions.worktreeConfig", "true")
			b.write("r/sub/f", "")
			j := b.judge()
			time.Sleep(2 * settling)
			first := j.Of(b.path("r/sub"))
			if first.Doubt() != nil || j.Of(b.path("r/sub")) != first {
				t.Fatalf("it asked again, or doubts: %v", first.Doubt())
			}
			change(b)
			if j.Of(b.path("r/sub")).Doubt() == nil {
				t.Error("the change is not noticed")
			}
		})
	}
}

// TestMadeDuringTheSession checks that repositories created during the session are distrusted:
// within the working directory always, elsewhere if nothing else confines git (F2).
func TestMadeDuringTheSession(t *testing.T) {
	b := newBench(t)
	b.repository("r")
	j := New(Config{Environ: b.environ, Roots: func() []string { return []string{b.path("r")} }})
	time.Sleep(2 * settling) // file timestamps are coarse
	b.repository("r/emb")
	b.repository("other")
	if err := j.Of(b.path("r")).Unjailed(); err != nil {
		t.Error(err)
	}
	if j.Of(b.path("r/emb")).Doubt() == nil {
		t.Error("a repository within is not doubted")
	}
	if v := j.Of(b.path("other")); v.Doubt() != nil || v.Unjailed() == nil {
		t.Errorf("another one: %v, %v", v.Doubt(), v.Unjailed())
	}
}

// TestSettingsOfTheUser checks that the user's own settings are trusted, and that settings that
// cannot work in a jail are replaced or refused there.
func TestSettingsOfTheUser(t *testing.T) {
	b := newBench(t)
	b.repository("r")
	b.git("r", "config", "--global", "filter.lfs.process", "git-lfs filter-process")
	b.git("r", "config", "--global", "filter.lfs.required", "true")
	b.git("r", "config", "--global", "diff.pdf.textconv", "pdftotext")
	b.git("r", "config", "--global", "core.pager", "delta")
	b.git("r", "config", "--global", "core.hooksPath", "~/hooks")
	b.git("r", "config", "--global", "alias.st", "!status")
	v := b.of("r")
	if v.Unjailed() != nil || v.Replaces() || v.Plain() || v.Command([]string{"status"}, true) != nil {
		t.Errorf("unused settings count: %+v", v)
	}
	b.write("r/.gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n*.pdf diff=pdf\n")
	b.git("r", "config", "--global", "core.fsmonitor", "true")
	b.git("r", "config", "--global", "log.showSignature", "true")
	b.write("r/x.pdf", "x")
	b.git("r", "-c", "core.fsmonitor=false", "add", ".")
	v = b.of("r")
	env := strings.Join(Env([]*Verdict{v}, false), " ")
	if v.Doubt() != nil || !v.Plain() || !strings.Contains(env, "'core.fsmonitor=' 'log.showsignature=false'") {
		t.Errorf("%v: %s", v.Doubt(), env)
	}
	if strings.Contains(strings.Join(Env([]*Verdict{v}, true), " "), "GIT_CONFIG") {
		t.Error("a line that shows settings has other ones")
	}
	if v.Command([]string{"status"}, true) != nil {
		t.Error("a filter without files counts")
	}
	b.git("r", "config", "--global", "--unset", "filter.lfs.process")
	b.git("r", "config", "--global", "filter.lfs.clean", "cat")
	b.write("r/x.bin", "x")
	b.git("r", "-c", "core.fsmonitor=false", "add", ".")
	v = b.of("r")
	if v.Command([]string{"status"}, true) == nil || v.Command([]string{"log"}, true) != nil || v.Command([]string{"status"}, false) != nil {
		t.Errorf("a filter of the user: %v", v.filtered)
	}
}

// TestHomeIsAWorkTree checks that a home directory that is a work tree does not become readable
// for a project inside it.
func TestHomeIsAWorkTree(t *testing.T) {
	b := newBench(t)
	b.repository("home")
	b.write("home/project/f", "")
	j := New(Config{Environ: b.environ, Roots: func() []string { return []string{b.path("home/project")} }})
	v := j.Of(b.path("home/project"))
	if v.Doubt() != nil || v.Top != b.home || slices.Contains(v.Reads(), b.home) {
		t.Errorf("%v: %v", v.Doubt(), v.Reads())
	}
	if v.Command([]string{"status"}, true) == nil || v.Command([]string{"log"}, true) != nil {
		t.Error("its files are compared, or its history is not shown")
	}
	b.repository("mono")
	b.write("mono/project/f", "")
	j = New(Config{Environ: b.environ, Roots: func() []string { return []string{b.path("mono/project")} }})
	if v := j.Of(b.path("mono/project")); v.Command([]string{"status"}, true) != nil || !slices.Contains(v.Reads(), b.path("mono")) {
		t.Errorf("a project in a larger repository: %v", v.Reads())
	}
}

// TestSecretSettings checks that secret settings are not shown.
func TestSecretSettings(t *testing.T) {
	b := newBench(t)
	b.repository("r")
	b.git("r", "remote", "add", "origin", "https://ada:pass@example.org/x.git")
	b.git("r", "config", "http.https://example.org/.extraheader", "AUTHORIZATION: basic x")
	v := b.of("r")
	for line, shows := range map[string]bool{
		"config --get user.name": false, "config user.name": false, "config --get remote.origin.url": true, "config --list": true, "config -l": true,
		"config --get-regexp ^user": true, "config": false, "config --get-all http.https://example.org/.extraheader": true, "remote -v": true, "log": false, "config --local user.name": false,
	} {
		if err := v.Command(strings.Fields(line), true); (err != nil) != shows {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// TestGitIsMissing checks that a missing git, or a git inside the project, is not run, and that
// a git installed later is.
func TestGitIsMissing(t *testing.T) {
	b := newBench(t)
	b.repository("r")
	b.write("r/bin/git", "#!/bin/sh\ntouch "+b.path("ran")+"\n")
	if err := os.Chmod(b.path("r/bin/git"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.link("r/bin", "bin")
	path := b.path("r/bin") + ":" + b.path("bin") + ":bin"
	j := New(Config{
		Environ: func() []string { return []string{"HOME=" + b.home, "PATH=" + path} },
		Roots:   func() []string { return []string{b.path("r")} },
	})
	if j.Of(b.path("r")).Doubt() == nil {
		t.Error("no git, and no doubt")
	}
	path = os.Getenv("PATH")
	if err := j.Of(b.path("r")).Doubt(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(b.path("ran")); err == nil {
		t.Error("the git of the project was run")
	}
}

// TestMade checks that a new worktree is trusted only if adze created it.
func TestMade(t *testing.T) {
	b := newBench(t)
	b.repository("r")
	j := b.judge()
	j.began = time.Now()
	b.git("r", "worktree", "add", "-q", "own")
	b.git("r", "worktree", "add", "-q", "other")
	j.Made(b.path("r/own"))
	if err := j.Of(b.path("r/own")).Unjailed(); err != nil {
		t.Error(err)
	}
	if j.Of(b.path("r/other")).Doubt() == nil {
		t.Error("the worktree of another is not doubted")
	}
	b.git("r", "worktree", "remove", "own")
	b.git("r", "worktree", "add", "-q", "own", "HEAD", "--detach")
	if j.Of(b.path("r/own")).Doubt() == nil {
		t.Error("one in its place is not doubted")
	}
	j.Made(b.path("nowhere"))
}
