//go:build unix

package bash

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/tool"
)

// A gitBench is a home directory next to a directory for repositories.
type gitBench struct {
	*testing.T
	base string
	env  []string
}

func newGitBench(t *testing.T) *gitBench {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g := &gitBench{T: t, base: base}
	g.env = []string{"HOME=" + filepath.Join(base, "home"), "PATH=" + os.Getenv("PATH"), "LANG=C", "TERM=dumb", "PAGER=cat"}
	g.write("home/.gitconfig", "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n[advice]\n\taddEmbeddedRepo = false\n")
	return g
}

func (g *gitBench) write(name, text string) {
	g.Helper()
	path := filepath.Join(g.base, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		g.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		g.Fatal(err)
	}
}

// sh runs a line in bash directly.
func (g *gitBench) sh(dir, line string) string {
	g.Helper()
	cmd := exec.Command("bash", "-c", line)
	cmd.Dir, cmd.Env = filepath.Join(g.base, dir), g.env
	out, _ := cmd.CombinedOutput() // ok: some lines fail with a message
	return strings.TrimSpace(string(out))
}

// repository creates a repository with commits, a branch, a tag, a stash, a dirty submodule and
// changes.
func (g *gitBench) repository() {
	g.Helper()
	g.write("lib/l", "1\n")
	g.sh("lib", "git init -q; git add .; git commit -qm lib")
	g.write("r/f", "one\ntwo\n")
	g.write("r/sub/g", "x\n")
	g.write("r/.gitignore", "*.o\n")
	g.sh("r", `git init -q; git add .; git commit -qm first; git tag -am v1 v1; git branch other; git submodule add -q ../lib lib; git commit -qm 'with lib'
		git remote add origin https://example.org/x.git; git config branch.main.remote origin; git config branch.main.merge refs/heads/main
		git config core.hooksPath .husky; git notes add -m noted
		echo stashed >> f; git stash -q; echo three >> f; echo dirty >> lib/l; touch new.txt old.o; git worktree add -q ../tree other`)
}

// tool returns the output of a line as a call of the tool, and reports whether it is read-only.
func (g *gitBench) tool(dir, line string) (string, bool) {
	g.Helper()
	b := newBench(g.T, func(c *Config) {
		c.Sandbox = nil
		c.Env = func() []string { return g.env }
		c.Roots = func() []string { return []string{filepath.Join(g.base, dir)} }
	})
	b.dir = filepath.Join(g.base, dir)
	call, err := b.Bind(json.RawMessage(input(line)))
	if err != nil {
		g.Fatal(err)
	}
	if own := tool.CommandOf(call); own.Doubt != nil {
		return own.Doubt.Error(), false
	}
	return b.run(g.T, line), true
}

var gitLines = []string{
	"git status", "git status --short --branch", "git status -sb", "git diff", "git diff --stat", "git diff HEAD", "git diff HEAD~1", "git diff --cached", "git diff --submodule",
	"git log --oneline --graph --all", "git log -p -2", "git log --format='%h %an %s'", "git show HEAD --stat", "git show HEAD:f", "git blame HEAD f", "git branch -avv", "git branch --show-current",
	"git tag -n", "git remote -v", "git remote get-url origin", "git rev-parse HEAD --abbrev-ref HEAD", "git rev-parse --show-toplevel --git-dir", "git merge-base main other",
	"git ls-files", "git ls-files -mo --exclude-standard", "git ls-tree -r HEAD", "git cat-file -p HEAD", "git describe --tags --dirty", "git shortlog -sn HEAD",
	"git reflog", "git stash list", "git stash show -p", "git worktree list", "git config --get user.name", "git config user.name", "git config --get core.hooksPath", "git config --get core.pager",
	"git config --get core.fsmonitor", "git config --get diff.ignoreSubmodules", "git config --get safe.bareRepository", "git config --list", "git config --list --show-origin",
	"git config --get-regexp '^branch'", "git grep -n two", "git grep -c x HEAD", "git rev-list --count HEAD", "git for-each-ref", "git show-ref", "git symbolic-ref --short HEAD",
	"git check-ignore -v old.o", "git check-attr -a f", "git count-objects", "git name-rev HEAD", "git diff-tree --no-commit-id -r HEAD", "git diff-index HEAD", "git diff-files", "git cherry main other",
	"git notes show", "git var GIT_AUTHOR_IDENT | cut -d' ' -f1", "git --version", "git -C sub status --short", "(cd sub && git status --short)", "git -c color.ui=never diff",
	"git --no-pager log -1", "git log --oneline | head -1", "for i in 1 2; do git log -$i --oneline; done", "git diff --quiet || echo changed", "git diff --no-index f sub/g", "git range-diff HEAD~1..HEAD HEAD~1..HEAD",
	"git submodule status", "git ls-files --recurse-submodules", "git grep --recurse-submodules dirty",
}

// TestGitAnswersAsItDoes checks that git commands that run without a prompt print the same as
// for the user (B24 to B26).
func TestGitAnswersAsItDoes(t *testing.T) {
	g := newGitBench(t)
	g.repository()
	asks := map[string]bool{"git submodule status": true}
	for _, dir := range []string{"r", "r/sub", "tree"} {
		for _, line := range gitLines {
			want := g.sh(dir, line)
			got, reads := g.tool(dir, line)
			if reads == asks[line] {
				t.Errorf("%s: %s: only reads is %v: %s", dir, line, reads, got)
			}
			if reads && !sameAnswer(got, want) {
				t.Errorf("%s: %s: %s", dir, line, cmp.Diff(want, got))
			}
		}
	}
}

// sameAnswer compares the tool's result with git's output.
func sameAnswer(got, want string) bool {
	if want == "" {
		return strings.HasPrefix(got, "The command ") || strings.HasPrefix(got, "Exit code") || got == ""
	}
	return strings.Contains(got, want)
}

// TestGitWithTheUsersSettings checks programs named in the user's own settings. They cannot run
// in a jail: git runs without them there, and adze prompts if the output would differ.
func TestGitWithTheUsersSettings(t *testing.T) {
	g := newGitBench(t)
	g.repository()
	want := map[string]string{}
	lines := []string{
		"git status --short", "git diff", "git log -p -1", "git show HEAD", "git log -2 --oneline", "git blame HEAD f", "git diff | head -3", "git -C sub diff HEAD~1",
		"git --no-pager -c color.ui=never diff f", "git stash show -p", "if git diff --quiet; then echo same; fi", "git diff-tree -p HEAD", "git grep two",
	}
	for _, line := range lines {
		want[line] = g.sh("r", line)
	}
	settings := map[string]string{
		"diff.external": "difft", "core.pager": "delta", "pager.diff": "delta", "filter.lfs.process": "git-lfs filter-process", "filter.lfs.required": "true",
		"filter.lfs.clean": "git-lfs clean -- %f", "diff.pdf.textconv": "pdftotext", "diff.f.textconv": "cat", "log.showSignature": "true", "gpg.program": "gpg2", "alias.lg": "!evil", "status.submoduleSummary": "true",
		"credential.helper": "store", "core.editor": "vim", "commit.gpgSign": "true", "difftool.prompt": "false", "merge.tool": "vimdiff", "core.sshCommand": "ssh -v", "core.excludesFile": "~/.ignore",
		"core.attributesFile": "~/.attributes", "trace2.eventTarget": filepath.Join(g.base, "trace"),
	}
	for key, value := range settings {
		g.sh("r", "git config --global "+key+" "+quote(value))
	}
	g.write("home/.ignore", "*.o\n")
	g.write("home/.attributes", "f diff=f\n*.bin filter=lfs\n")
	for _, line := range lines {
		got, reads := g.tool("r", line)
		if !reads || !sameAnswer(got, want[line]) {
			t.Errorf("%s: only reads is %v: %s", line, reads, cmp.Diff(want[line], got))
		}
	}
	for key, value := range settings {
		if got, reads := g.tool("r", "git config --get "+key); !reads || got != value && !strings.HasSuffix(got, value) {
			t.Errorf("%s is %s, read-only %v", key, got, reads)
		}
	}
	// The setting that disables the monitor is not passed on to submodules.
	g.sh("r", "git config --global core.fsmonitor true")
	if got, reads := g.tool("r", "git status"); reads {
		t.Errorf("with a monitor: %s", got)
	}
	g.sh("r", "git -c core.fsmonitor=false rm -qf lib; git config --global --unset diff.external")
	if got, reads := g.tool("r", "git status --short"); !reads || strings.Contains(got, "daemon") || !strings.Contains(got, "M f") {
		t.Errorf("with a monitor, without submodules: %v, %s", reads, got)
	}
	// Filtered files can only be compared by their filter.
	g.sh("r", "git config --global core.fsmonitor false; printf '*.bin filter=lfs\n' > .gitattributes; git config --global filter.lfs.required false; git config --global --unset filter.lfs.process")
	g.sh("r", "git config --global filter.lfs.clean cat; echo x > a.bin; git add .gitattributes a.bin")
	if got, reads := g.tool("r", "git status"); reads {
		t.Errorf("with a filter: %s", got)
	}
	if got, reads := g.tool("r", "git log -1 --oneline"); !reads {
		t.Errorf("the history, with a filter: %s", got)
	}
}
