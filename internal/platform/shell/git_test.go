package shell

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// write makes a file with its directories.
func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestCheckGit(t *testing.T) {
	tests := []struct {
		name, config string
		bad          bool
	}{
		{"plain", "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = x\n[branch \"main\"]\n\tremote = origin\n", false},
		{"none", "", false},
		{"hooks path", "[core]\n\thooksPath = .husky\n", false},
		{"fsmonitor of git itself", "[core]\n\tfsmonitor = true\n", false},
		{"fsmonitor", "[core]\n\tfsmonitor = ./evil\n", true},
		{"in upper case", "[CORE]\n\tFSMonitor = ./evil\n", true},
		{"on one line", "[core] fsmonitor = ./evil\n", true},
		{"continued", "[core]\nfsmon\\\nitor = ./evil\n", true},
		{"filter", "[filter \"x\"]\n\tclean = ./evil\n", true},
		{"filter process", "[filter \"a.b\"]\n\tprocess = ./evil\n", true},
		{"old section", "[filter.x]\n\tsmudge = ./evil\n", true},
		{"textconv", "[diff \"x\"]\n\ttextconv = ./evil\n", true},
		{"diff command", "[diff \"x\"]\n\tcommand = ./evil\n", true},
		{"diff external", "[diff]\n\texternal = ./evil\n", true},
		{"merge driver", "[merge \"x\"]\n\tdriver = ./evil\n", true},
		{"gpg", "[gpg]\n\tprogram = ./evil\n", true},
		{"ssh", "[core]\n\tsshCommand = ./evil\n", true},
		{"credential", "[credential]\n\thelper = ./evil\n", true},
		{"include", "[include]\n\tpath = evil\n", true},
		{"include if", "[includeIf \"gitdir:x\"]\n\tpath = evil\n", true},
		{"bracket in a name", "[diff \"a]b\"]\n\ttextconv = ./evil\n", true},
		{"broken", "[core\n\tfsmonitor = ./evil\n", true},
		{"harmless diff", "[diff]\n\trenames = true\n[diff \"x\"]\n\tbinary = true\n", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, ".git", "config"), tt.config)
			write(t, filepath.Join(dir, "a", "b"), "")
			if err := CheckGit(filepath.Join(dir, "a")); (err != nil) != tt.bad {
				t.Errorf("CheckGit = %v", err)
			}
		})
	}
}

func TestCheckGitFollowsOnlyWhatPointsBack(t *testing.T) {
	dir := t.TempDir()
	main, tree := filepath.Join(dir, "main"), filepath.Join(dir, "tree")
	write(t, filepath.Join(main, ".git", "config"), "[core]\n")
	write(t, filepath.Join(main, ".git", "worktrees", "tree", "commondir"), "../..\n")
	write(t, filepath.Join(main, ".git", "worktrees", "tree", "gitdir"), filepath.Join(tree, ".git")+"\n")
	write(t, filepath.Join(tree, ".git"), "gitdir: "+filepath.Join(main, ".git", "worktrees", "tree")+"\n")
	if err := CheckGit(tree); err != nil {
		t.Errorf("a work tree: %v", err)
	}
	write(t, filepath.Join(main, ".git", "config"), "[core]\nfsmonitor = x\n")
	if CheckGit(tree) == nil {
		t.Error("the configuration of a work tree is not read")
	}

	forged := filepath.Join(dir, "forged")
	write(t, filepath.Join(forged, ".git"), "gitdir: "+filepath.Join(main, ".git", "worktrees", "tree")+"\n")
	if CheckGit(forged) == nil {
		t.Error("a forged .git file is believed")
	}
	bare := filepath.Join(dir, "bare")
	write(t, filepath.Join(bare, "HEAD"), "ref: refs/heads/main\n")
	write(t, filepath.Join(bare, "objects", "x"), "")
	write(t, filepath.Join(bare, "refs", "x"), "")
	if CheckGit(bare) == nil {
		t.Error("a planted bare repository is believed")
	}
	sub := filepath.Join(dir, "super", "sub")
	write(t, filepath.Join(dir, "super", ".git", "modules", "sub", "config"), "[core]\n\tworktree = ../../../sub\n")
	write(t, filepath.Join(sub, ".git"), "gitdir: ../.git/modules/sub\n")
	if err := CheckGit(sub); err != nil {
		t.Errorf("a submodule: %v", err)
	}
	if err := CheckGit(t.TempDir()); err != nil {
		t.Errorf("no repository: %v", err)
	}
}

// Real git, told by the repository to run a program wherever it can, runs none: where the environment
// does not prevent it, CheckGit does.
//
// Proves SHRO-03.
func TestGitRunsNoHelpers(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal("git is needed: ", err)
	}
	for _, setting := range []string{
		"core.fsmonitor", "core.pager", "diff.external", "diff.x.textconv", "diff.x.command", "filter.x.clean", "gpg.program", "core.hooksPath", "core.sshCommand", "core.askPass",
	} {
		t.Run(setting, func(t *testing.T) {
			dir := t.TempDir()
			trace := filepath.Join(dir, "..", filepath.Base(dir)+".ran")
			evil := filepath.Join(dir, "hooks", "post-index-change")
			write(t, evil, "#!/bin/sh\necho ran >> '"+trace+"'\ncat\n")
			if err := os.Chmod(evil, 0o755); err != nil {
				t.Fatal(err)
			}
			run := func(env []string, args ...string) {
				cmd := exec.Command(git, args...)
				cmd.Dir = dir
				cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, env...)
				cmd.CombinedOutput() // ok: it may fail for lack of the helper
			}
			write(t, filepath.Join(dir, "f"), "a\n")
			write(t, filepath.Join(dir, ".gitattributes"), "f diff=x filter=x\n")
			run(nil, "init", "-q")
			run(nil, "add", "f")
			run(nil, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x")
			value := evil
			if setting == "core.hooksPath" {
				value = filepath.Dir(evil)
			}
			run(nil, "config", setting, value)
			run(nil, "config", "log.showSignature", "true")
			write(t, filepath.Join(dir, "f"), "b\n")
			os.Remove(trace) // ok: it need not be there
			if CheckGit(dir) != nil {
				return
			}
			for _, line := range []string{"git status", "git diff", "git log -p", "git show HEAD", "git blame f", "git ls-files -m", "git branch -v", "git describe --always --dirty"} {
				s := Parse(line, Vars{})
				if err := s.ReadOnly(); err != nil {
					t.Fatal(err)
				}
				run(GitEnv(), HardenGit(s.Parts[0].args())[1:]...)
				if _, err := os.Stat(trace); err == nil {
					t.Fatalf("%s ran what the repository told it to", line)
				}
			}
		})
	}
}

func TestHardenGit(t *testing.T) {
	if got := strings.Join(HardenGit([]string{"git", "diff", "a"}), " "); got != "git diff --no-ext-diff --no-textconv a" {
		t.Error(got)
	}
	if got := strings.Join(HardenGit([]string{"git", "--no-pager", "log", "-1"}), " "); got != "git --no-pager log --no-ext-diff --no-textconv -1" {
		t.Error(got)
	}
	if got := strings.Join(HardenGit([]string{"git", "status"}), " "); got != "git status" {
		t.Error(got)
	}
}
