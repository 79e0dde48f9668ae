package permission

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The secrets of a gitWorld.
const (
	envSecret = "ENV-SECRET"
	dirSecret = "DIR-SECRET"
)

// gitWorld returns a repository with secrets in .env and in secrets, in every place where git
// stores files, and with files named like a branch, like git commands and like a number.
func gitWorld(t testing.TB) (w world, names *strings.Replacer) {
	t.Helper()
	w = newWorld(t)
	if err := os.RemoveAll(w.project); err != nil {
		t.Fatal(err)
	}
	w.text(t, "project/.env", "A=1\nB=ENV-SECRET\n")
	w.text(t, "project/secrets/k.pem", "x DIR-SECRET\n")
	w.text(t, "project/secrets/old.pem", "1\n2\n3\n4\n5\n6\n7\n8\nDIR-SECRET\n")
	for _, name := range []string{"README.md", "src/a.go", "main", "list", "show", "3"} {
		w.text(t, "project/"+name, "x\n")
	}
	run := func(args ...string) string { return w.git(t, args...) }
	run("init", "-q", "-b", "main")
	run("add", "-A")
	run("commit", "-qm", "one")
	run("tag", "v1")
	run("tag", "blobtag", "HEAD:.env")
	run("checkout", "-qb", "topic")
	w.text(t, "project/.env", "A=1\nB=ENV-SECRET\nC=ENV-SECRET\n")
	w.text(t, "project/secrets/k.pem", "x DIR-SECRET\ny DIR-SECRET\n")
	run("commit", "-qam", "topic")
	run("checkout", "-q", "main", "--")
	run("mv", "secrets/old.pem", "moved.txt")
	w.text(t, "project/moved.txt", "1\n2\n3\n4\n5\n6\n7\n8\n")
	w.text(t, "project/.env", "A=2\nB=ENV-SECRET\n")
	w.text(t, "project/secrets/k.pem", "x DIR-SECRET\nz DIR-SECRET\n")
	w.text(t, "project/src/a.go", "y\n")
	run("commit", "-qam", "two")
	for _, name := range []string{"dropped", "kept"} {
		w.text(t, "project/.env", name+" ENV-SECRET\n")
		w.text(t, "project/secrets/k.pem", name+" DIR-SECRET\n")
		w.text(t, "project/secrets/new.pem", name+" DIR-SECRET\n")
		run("stash", "push", "-qu")
	}
	dropped := run("rev-parse", "stash@{1}")
	run("stash", "drop", "-q", "stash@{1}")
	run("worktree", "add", "-q", "--detach", "wt")
	w.text(t, "project/.env", "A=3\nB=ENV-SECRET\n")
	run("add", ".env")
	w.text(t, "project/secrets/k.pem", "x DIR-SECRET\nq DIR-SECRET\n")
	w.text(t, "project/list-of-commits", "HEAD\n")
	w.text(t, "project/list-of-objects", "HEAD:.env\nHEAD:secrets/k.pem\n")
	hash := func(name string) string { return run("rev-parse", name) }
	env, dir, head := hash("HEAD:.env"), hash("HEAD:secrets/k.pem"), hash("HEAD")
	return w, strings.NewReplacer("{ENVBLOB}", env, "{ENVBLOB7}", env[:7], "{DIRBLOB}", dir, "{HEAD}", head, "{HEAD7}", head[:7],
		"{DROPPED}", dropped, "{DROPPED7}", dropped[:7], "{HEADTREE}", hash("HEAD^{tree}"), "{SECTREE}", hash("HEAD:secrets"),
		"{READMEBLOB}", hash("HEAD:README.md"), "{EMPTYTREE}", run("hash-object", "-w", "-t", "tree", "/dev/null"),
		"{EMPTYBLOB}", run("hash-object", "-w", "/dev/null"), "{ENVOBJECT}", env[:2]+"/"+env[2:], "{DIROBJECT}", dir[:2]+"/"+dir[2:])
}

// git runs git in the project and returns its output.
func (w world) git(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = w.project, w.environ()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (w world) environ() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org"}
}

// runCopy runs a line in a copy of the project and returns its output, plus the files it left
// outside .git, .env and secrets.
func (w world) runCopy(t *testing.T, line string) []byte {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("cp", "-a", w.project+"/.", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command("timeout", "10", "bash", "-c", line)
	cmd.Dir, cmd.Env = dir, w.environ()
	out, _ := cmd.CombinedOutput() // ok: many of them fail
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path) // ok: it is below
		switch {
		case err != nil:
			return nil // ok: it was a temporary file
		case entry.IsDir() && (rel == ".git" || rel == "secrets" || rel == "wt"):
			return fs.SkipDir
		case !entry.Type().IsRegular() || rel == ".env":
			return nil
		}
		data, _ := os.ReadFile(path) // ok: an unreadable file leaks nothing
		out = append(out, data...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestGitShowsTheRest checks that commands showing other files run without asking in a
// repository with such files, and that all commands do in one without them, whether the files
// are on disk or not.
func TestGitShowsTheRest(t *testing.T) {
	w, _ := gitWorld(t)
	rules := []string{"deny Read(./.env)", "deny Read(**/.env)", "deny Read(./secrets)", "deny Read(//" + w.project[1:] + "/secrets/**)", "ask Read(**/*.pem)"}
	other := newWorld(t)
	if err := os.Remove(filepath.Join(other.project, ".git")); err != nil {
		t.Fatal(err)
	}
	other.text(t, "project/.gitignore", ".env\nsecrets\n")
	other.text(t, "project/secrets/k.pem", "x\n")
	other.git(t, "init", "-q", "-b", "main")
	other.git(t, "add", "-A")
	other.git(t, "commit", "-qm", "one")
	other.git(t, "commit", "-qm", "two", "--allow-empty")
	clean := []string{"deny Read(./.env)", "deny Read(**/.env)", "deny Read(./secrets)", "deny Read(**/secrets/**)", "deny Read(//" + other.project[1:] + "/secrets/**)", "ask Read(*.pem)", "deny Read(~/.ssh/**)"}
	for _, tt := range []struct {
		w     world
		rules []string
		lines string
	}{
		{w, rules, `
			git status
			git status --short
			git log
			git log --oneline
			git log --oneline -20 --graph --all
			git log --stat
			git log --format=%h%n%b -5
			git diff --stat
			git diff --name-only HEAD~1
			git diff -- src
			git diff HEAD~1 -- src README.md
			git diff HEAD~1 src/a.go
			git diff src/a.go
			git diff -- '*.go'
			git log -p -- src/a.go
			git log -p src/a.go
			git log -p -3 -- src
			git log --oneline -- src | head
			git show HEAD --stat
			git show --stat HEAD~1
			git show HEAD:src/a.go
			git show :src/a.go
			git show main:README.md
			git show HEAD -- src
			git blame src/a.go
			git blame -L 1,1 README.md
			git grep -n x -- src
			git grep x src
			git grep x -- '*.go'
			git ls-files
			git ls-tree -r HEAD
			git branch -a
			git tag
			git remote -v
			git rev-parse HEAD
			git describe --all
			git cat-file -p HEAD:src/a.go
			git cat-file -t HEAD
			git stash list
			git reflog
			git shortlog -sn HEAD
			git worktree list
			git -C src status
			git -C src diff -- a.go
			git merge-base main topic`},
		{other, clean, `
			git diff
			git diff HEAD~1
			git diff HEAD~1: HEAD:
			git diff --cached
			git show
			git show HEAD
			git show main
			git show HEAD~1 --stat -p
			git show HEAD:src/a.go
			git log -p
			git log -p main
			git log -p main --
			git log -p --all -S x
			git log -p -- '*.key'
			git log -p -2
			git log -L 1,1:src/a.go
			git log -p --follow src/a.go
			git grep x
			git grep x HEAD
			git stash list -p
			git reflog -p
			git diff | head -50
			git show HEAD | cat
			git -C src diff
			git status -v
			git log -p && git diff
			git diff-tree -p HEAD
			git cat-file -p HEAD`},
	} {
		p := Compile(tt.w.config(Default, tt.rules...))
		for _, line := range tt.w.rows(tt.lines) {
			u := newUse(t, fake{name: "Bash"}, runs(line))
			if d := Decide(p, FactsOf(p, u.Tool, u.Call)); d.Behavior != Allow {
				t.Errorf("%s: %s (%s)", line, d.Behavior, d.Reason.String())
			}
		}
	}
}

// TestGitShowsNothingBehindLinks checks that rules apply in a project entered through a
// symlink, to files that exist only in the history.
func TestGitShowsNothingBehindLinks(t *testing.T) {
	w, _ := gitWorld(t)
	w.git(t, "stash", "-q")
	w.git(t, "rm", "-rq", "secrets", ".env")
	w.git(t, "commit", "-qm", "three")
	if err := os.Symlink(w.project, filepath.Join(w.root, "link")); err != nil {
		t.Fatal(err)
	}
	c := w.config(Default, "deny Read(./.env)", "deny Read(./secrets)")
	c.Dir, c.Dirs = filepath.Join(w.root, "link"), []string{filepath.Join(w.root, "link")}
	for _, line := range []string{"git log -p -- 'secrets/*.pem'", "git log -p -- secrets", "git log -p", "git show HEAD", "git log -p -- '*.pem'", "git show HEAD~1:.env", "git diff HEAD~1: HEAD:"} {
		if d := decide(t, c, "Bash", runs(line)); d.Behavior == Allow {
			t.Errorf("%s: %s (%s)", line, d.Behavior, d.Reason.String())
		}
	}
	for _, line := range []string{"git log -p -- src", "git log -p -- 'src/*.go'", "git show HEAD:src/a.go"} {
		if d := decide(t, c, "Bash", runs(line)); d.Behavior != Allow {
			t.Errorf("%s: %s (%s)", line, d.Behavior, d.Reason.String())
		}
	}
}

// TestCommandsReadNothingDenied runs the commands that pass and checks that none prints or
// copies a file that a rule denies reading, wherever it is named.
//
// Proves PERM-38.
func TestCommandsReadNothingDenied(t *testing.T) {
	w, _ := gitWorld(t)
	w.text(t, "project/names", ".env\nsecrets/k.pem\n")
	w.text(t, "project/names0", ".env\x00secrets/k.pem\x00")
	data, err := os.ReadFile(filepath.Join("testdata", "reads.txt"))
	if err != nil {
		t.Fatal(err)
	}
	p := Compile(w.config(Default, "allow Bash", "deny Read(./.env)", "deny Read(./secrets)"))
	for line := range strings.Lines(strings.ReplaceAll(string(data), "\\␤", "")) {
		line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "␤", "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		u := newUse(t, fake{name: "Bash"}, runs(line))
		d := Decide(p, FactsOf(p, u.Tool, u.Call))
		if d.Behavior != Allow {
			continue
		}
		if out := w.runCopy(t, line); bytes.Contains(out, []byte(envSecret)) || bytes.Contains(out, []byte(dirSecret)) {
			t.Errorf("%s prints a secret (%s)", line, d.Reason.String())
		} else {
			t.Logf("%s passes and prints no secret", line)
		}
	}
}

// TestCommandsEditNothingDenied runs the commands that pass and checks that none changes a file
// that a rule denies editing.
//
// Proves PERM-38.
func TestCommandsEditNothingDenied(t *testing.T) {
	w, _ := gitWorld(t)
	w.git(t, "reset", "-q", "--hard")
	w.git(t, "checkout", "-q", "-b", "changed")
	w.text(t, "project/src/a.go", "z\n")
	w.git(t, "commit", "-qam", "changed")
	w.text(t, "project/fix.patch", w.git(t, "diff", "HEAD~1", "HEAD")+"\n")
	w.text(t, "project/back.patch", w.git(t, "diff", "HEAD", "HEAD~1")+"\n")
	w.text(t, "project/mail.patch", w.git(t, "format-patch", "--stdout", "-1")+"\n")
	w.git(t, "checkout", "-q", "main", "--")
	w.text(t, "project/src/a.go", "stashed\n")
	w.git(t, "stash", "-q")
	w.text(t, "project/names", "src/a.go\n")
	if out, err := exec.Command("tar", "-C", w.project, "-cf", filepath.Join(w.project, "src.tar"), "--transform=s/README.md/src\\/a.go/", "README.md").CombinedOutput(); err != nil {
		t.Fatal(string(out))
	}
	data, err := os.ReadFile(filepath.Join("testdata", "edits.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, rules := range [][]string{{"deny Edit(./src/a.go)"}, {"deny Edit(**/*.go)"}, {"deny Edit(./src)"}, {"ask Edit(./src/a.go)"}} {
		p := Compile(w.config(Default, append(rules, "allow Bash")...))
		for line := range strings.Lines(string(data)) {
			line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "␤", "\n")
			if line == "" || line[0] == '#' {
				continue
			}
			u := newUse(t, fake{name: "Bash"}, runs(line))
			d := Decide(p, FactsOf(p, u.Tool, u.Call))
			if d.Behavior != Allow {
				continue
			}
			if before, after := w.changedCopy(t, line); before != after {
				t.Errorf("%s: %s changes the file to %q (%s)", rules, line, after, d.Reason.String())
			} else {
				t.Logf("%s: %s passes and changes nothing", rules, line)
			}
		}
		for _, line := range []string{"git status", "git log -p", "git checkout -b new", "git switch -c new", "git checkout README.md", "git restore README.md", "git checkout HEAD -- README.md",
			"git commit -qam x", "git add -A", "git fetch", "git reset -q", "git stash list", "git push", "git branch -D topic", "git tag x", "python3 -c 'print(1)'", "python3 script.py", "cat src/a.go", "go test ./..."} {
			u := newUse(t, fake{name: "Bash"}, runs(line))
			if d := Decide(p, FactsOf(p, u.Tool, u.Call)); d.Behavior != Allow {
				t.Errorf("%s: %s: %s (%s)", rules, line, d.Behavior, d.Reason.String())
			}
		}
	}
}

// changedCopy runs a line in a copy of the project and returns the contents of src/a.go before
// and after.
func (w world) changedCopy(t *testing.T, line string) (before, after string) {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("cp", "-a", w.project+"/.", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	look := func() string {
		data, err := os.ReadFile(filepath.Join(dir, "src", "a.go"))
		if err != nil {
			return err.Error()
		}
		return string(data)
	}
	before = look()
	cmd := exec.Command("timeout", "10", "bash", "-c", line)
	cmd.Dir, cmd.Env = dir, w.environ()
	cmd.Run() // ok: many of them fail
	return before, look()
}
