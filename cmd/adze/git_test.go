//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A hostile is a workspace whose repository tries to run a program or reveal a user's file.
type hostile struct {
	t    *testing.T
	base string // parent of ws, home and bin
	mark string // created when the program runs
	evil string // the program
}

const privateKey = "PRIVATE-KEY-OF-THE-USER"

func newHostile(t *testing.T) *hostile {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &hostile{t: t, base: base, mark: filepath.Join(base, "ran"), evil: filepath.Join(base, "bin", "gpg")}
	h.write("home/.gitconfig", "[user]\n\tname = n\n\temail = e@example.org\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n")
	h.write("home/.ssh/id_rsa", privateKey+"\n")
	h.write("bin/gpg", "#!/bin/sh\ntouch "+h.mark+"\ncat\n")
	if err := os.Chmod(h.evil, 0o755); err != nil {
		t.Fatal(err)
	}
	h.repository("ws")
	return h
}

func (h *hostile) path(name string) string { return filepath.Join(h.base, name) }

func (h *hostile) write(name, text string) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Dir(h.path(name)), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(h.path(name), []byte(text), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

func (h *hostile) env() []string {
	return []string{"HOME=" + h.path("home"), "PATH=" + filepath.Dir(h.evil) + ":" + os.Getenv("PATH"), "LANG=C"}
}

func (h *hostile) git(dir, stdin string, args ...string) string {
	h.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = h.path(dir), append(h.env(), "GIT_CONFIG_NOSYSTEM=1"), strings.NewReader(stdin)
	out, err := cmd.Output()
	if err != nil {
		h.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// repository creates a repository with two commits in which an attribute names a driver and a
// filter.
func (h *hostile) repository(name string) {
	h.t.Helper()
	h.write(name+"/f", "one\n")
	h.write(name+"/.gitattributes", "* filter=x diff=x\n")
	h.git(name, "", "init", "-q")
	for _, text := range []string{"one\n", "two\n"} {
		h.write(name+"/f", text)
		h.git(name, "", "add", "f", ".gitattributes")
		h.git(name, "", "commit", "-qm", "c")
	}
	h.write(name+"/f", "three\n")
}

// submodule adds a submodule to the workspace's repository.
func (h *hostile) submodule() {
	h.t.Helper()
	h.repository("origin")
	h.git("ws", "", "submodule", "add", "-q", h.path("origin"), "lib")
	h.git("ws", "", "commit", "-qm", "sub")
	h.write("ws/lib/f", "four\n")
}

// run makes a model run the commands, and returns everything sent to it.
func (h *hostile) run(dir string, commands []string, args ...string) string {
	h.t.Helper()
	var script strings.Builder
	for _, command := range commands {
		input, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			h.t.Fatal(err)
		}
		fmt.Fprintf(&script, "use Bash %s\n---\n", input)
	}
	script.WriteString("forever\nsay Done.\n")
	h.write("model.replay", script.String())
	bin, err := exec.LookPath("adze") // TestMain puts it into the PATH
	if err != nil {
		h.t.Fatal(err)
	}
	args = append([]string{"-p", "go", "--model", "replay:" + h.path("model.replay"), "--output-format", "stream-json", "--verbose"}, args...)
	cmd := exec.CommandContext(h.t.Context(), bin, args...)
	cmd.Dir, cmd.Env = dir, append(h.env(), "PWD="+dir, "ADZE_HOME="+h.path("state"), "ADZE_NO_FSYNC=1", "IS_SANDBOX=1")
	out, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(string(out), "Done.") {
		h.t.Fatalf("%v\n%.2000s", err, out)
	}
	if n := strings.Count(string(out), `"type":"tool_result"`); n < len(commands) {
		h.t.Fatalf("only %d of %d commands were tried", n, len(commands))
	}
	return string(out)
}

// TestGitDoesNothingForARepository checks that git commands that run without a prompt execute
// nothing from the repository, fetch nothing and reveal no user files, regardless of its
// configuration: in every mode, and when a trusted workspace is opened (F3).
//
// Proves SHRO-03.
func TestGitDoesNothingForARepository(t *testing.T) {
	t.Parallel()
	all := []string{
		"git diff", "git status", "git status --short", "git status --ignore-submodules=none", "git diff --ignore-submodules=none", "git describe --always --dirty",
		"git log -p -1", "git show HEAD", "git cat-file -p HEAD:f", "git cat-file -p HEAD~1:f", "git diff HEAD~1", "git diff HEAD~1 HEAD", "git blame f", "git ls-files -m",
		"git show --submodule=diff", "git log -p --submodule=diff", "git diff --submodule=diff HEAD~1", "git log -1", "git log '--format=%+G?' -1", "git log '--format=%-GG' -1",
		"git log '--pretty=% GS' -1", "git log '--pretty=format:%h %+GK'", "git show '--format=% G?'", "git stash list '--format=%-G?'", "git reflog", "git branch -vv",
		"git --no-pager diff", "git -C . diff", "git grep three", "git diff-files -p", "git rev-list --objects HEAD", "cd . && git diff", "for i in 1; do git diff; done", "git diff | cat",
	}
	tests := []struct {
		name string
		dir  string // session directory; empty means ws
		make func(h *hostile)
	}{
		{"a: a comment that ends in a backslash", "", func(h *hostile) {
			h.write("ws/.git/config", "[filter \"x\"]\n# note \\\nclean = "+h.evil+"\n")
		}},
		{"a: behind a value", "", func(h *hostile) {
			h.write("ws/.git/config", "[filter \"x\"]\nrequired = false ; note \\\nclean = "+h.evil+"\n")
		}},
		{"b: two headers on a line", "", func(h *hostile) { h.write("ws/.git/config", "[user][filter \"x\"] clean = "+h.evil+"\n") }},
		{"c: a byte order mark", "", func(h *hostile) { h.write("ws/.git/config", "\ufeff[filter \"x\"]\nclean = "+h.evil+"\n") }},
		{"d: commondir", "", func(h *hostile) {
			h.git("ws", "", "clone", "-q", "--bare", ".", "other")
			h.git("ws/other", "", "config", "filter.x.clean", h.evil)
			h.write("ws/.git/commondir", "../other\n")
		}},
		{"e: commondir behind a file", "ws/lib", func(h *hostile) {
			h.submodule()
			h.git("ws", "", "clone", "-q", "--bare", "lib", "other")
			h.git("ws/other", "", "config", "filter.x.clean", h.evil)
			h.git("ws/other", "", "config", "core.bare", "false")
			h.write("ws/.git/modules/lib/commondir", "../../../other\n")
		}},
		{"e: commondir with a line more", "", func(h *hostile) {
			h.git("ws", "", "clone", "-q", "--bare", ".", "oth\ner")
			h.git("ws/oth\ner", "", "config", "filter.x.clean", h.evil)
			h.write("ws/.git/commondir", "../oth\ner\n")
		}},
		{"f: an empty .git below", "ws/sub", func(h *hostile) {
			h.write("ws/sub/.git/x", "")
			h.git("ws", "", "config", "filter.x.clean", h.evil)
		}},
		{"g: through a link", "link", func(h *hostile) {
			h.git("ws", "", "config", "filter.x.clean", h.evil)
			h.write("ws/sub/x", "")
			if err := os.Symlink(h.path("ws/sub"), h.path("link")); err != nil {
				h.t.Fatal(err)
			}
		}},
		{"h: a missing object", "", func(h *hostile) {
			h.git("ws", "", "config", "core.repositoryFormatVersion", "1")
			h.git("ws", "", "config", "extensions.partialClone", "x")
			h.git("ws", "", "config", "remote.x.url", h.path("ws"))
			h.git("ws", "", "config", "remote.x.promisor", "true")
			h.git("ws", "", "config", "remote.x.uploadpack", h.evil)
			hash := h.git("ws", "", "rev-parse", "HEAD~1:f")
			if err := os.Remove(h.path("ws/.git/objects/" + hash[:2] + "/" + hash[2:])); err != nil {
				h.t.Fatal(err)
			}
		}},
		{"i: a submodule with a filter", "", func(h *hostile) {
			h.submodule()
			h.git("ws/lib", "", "config", "filter.x.clean", h.evil)
		}},
		{"i: that is not ignored", "", func(h *hostile) {
			h.submodule()
			h.git("ws/lib", "", "config", "filter.x.clean", h.evil)
			h.git("ws", "", "config", "submodule.lib.ignore", "none")
		}},
		{"i: by .gitmodules", "", func(h *hostile) {
			h.submodule()
			h.git("ws/lib", "", "config", "filter.x.clean", h.evil)
			h.git("ws", "", "config", "-f", ".gitmodules", "submodule.lib.ignore", "none")
		}},
		{"j: a submodule with a textconv", "", func(h *hostile) {
			h.submodule()
			h.git("ws/lib", "", "commit", "-qam", "x")
			h.git("ws", "", "commit", "-qam", "x")
			h.git("ws/lib", "", "config", "diff.x.textconv", h.evil)
		}},
		{"j: by a setting", "", func(h *hostile) {
			h.submodule()
			h.git("ws/lib", "", "commit", "-qam", "x")
			h.git("ws", "", "commit", "-qam", "x")
			h.git("ws/lib", "", "config", "diff.x.textconv", h.evil)
			h.git("ws", "", "config", "diff.submodule", "diff")
		}},
		{"k: an embedded repository", "", func(h *hostile) {
			h.repository("ws/emb")
			h.git("ws", "", "-c", "advice.addEmbeddedRepo=false", "add", "emb")
			h.git("ws/emb", "", "config", "filter.x.clean", h.evil)
		}},
		{"l: a work tree elsewhere", "", func(h *hostile) {
			hash := h.git("ws", "x\n", "hash-object", "-w", "--stdin")
			h.git("ws", "", "update-index", "--add", "--cacheinfo", "100644,"+hash+",.ssh/id_rsa")
			h.git("ws", "", "config", "core.worktree", h.path("home"))
		}},
		{"l: an entry of the index above", "", func(h *hostile) {
			hash := h.git("ws", "x\n", "hash-object", "-w", "--stdin")
			h.git("ws", "", "update-index", "--add", "--cacheinfo", "100644,"+hash+",xx/home/.ssh/id_rsa")
			index, err := os.ReadFile(h.path("ws/.git/index"))
			if err != nil {
				h.t.Fatal(err)
			}
			text := strings.Replace(string(index[:len(index)-20]), "xx/home/", "../home/", 1)
			h.write("ws/.git/index", text+strings.Repeat("\x00", 20))
		}},
		{"m: signatures", "", func(h *hostile) { h.sign() }},
		{"m: by format.pretty", "", func(h *hostile) {
			h.sign()
			h.git("ws", "", "config", "format.pretty", "%h%+G?")
		}},
		{"m: by log.showSignature", "", func(h *hostile) {
			h.sign()
			h.git("ws", "", "config", "log.showSignature", "true")
		}},
		{"fsmonitor", "", func(h *hostile) { h.git("ws", "", "config", "core.fsmonitor", h.evil) }},
		{"a filter", "", func(h *hostile) { h.git("ws", "", "config", "filter.x.process", h.evil) }},
		{"an external diff", "", func(h *hostile) { h.git("ws", "", "config", "diff.external", h.evil) }},
		{"a pager", "", func(h *hostile) { h.git("ws", "", "config", "core.pager", h.evil) }},
		{"a worktree", "", func(h *hostile) {
			h.git("ws", "", "config", "extensions.worktreeConfig", "true")
			h.write("ws/.git/config.worktree", "[diff \"x\"]\ntextconv = "+h.evil+"\n")
		}},
		{"an include", "", func(h *hostile) {
			h.write("ws/inc", "[filter \"x\"]\nclean = "+h.evil+"\n")
			h.git("ws", "", "config", "include.path", "../inc")
		}},
		{"a planted bare repository", "ws/bare", func(h *hostile) {
			h.git("ws", "", "clone", "-q", "--bare", ".", "bare")
			h.git("ws/bare", "", "config", "core.bare", "false")
			h.git("ws/bare", "", "config", "core.worktree", "..")
			h.git("ws/bare", "", "config", "filter.x.clean", h.evil)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHostile(t)
			tt.make(h)
			if err := os.RemoveAll(h.mark); err != nil {
				t.Fatal(err)
			}
			dir := h.path("ws")
			if tt.dir != "" {
				dir = h.path(tt.dir)
			}
			for _, args := range [][]string{nil, {"--permission-mode", "plan"}, {"--permission-mode", "dontAsk"}, {"--trust"}} {
				out := h.run(dir, all, args...)
				if _, err := os.Stat(h.mark); err == nil {
					t.Fatalf("%v: a program ran", args)
				}
				if strings.Contains(out, privateKey) {
					t.Fatalf("%v: a file of the user was shown", args)
				}
				if _, err := os.Stat(h.path("home/.gnupg")); err == nil {
					t.Fatalf("%v: gpg ran", args)
				}
			}
		})
	}
}

// sign adds a signature to the last commit.
func (h *hostile) sign() {
	h.t.Helper()
	commit := h.git("ws", "", "cat-file", "commit", "HEAD")
	head, message, _ := strings.Cut(commit, "\n\n")
	commit = head + "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ\n -----END PGP SIGNATURE-----\n\n" + message + "\n"
	h.git("ws", "", "update-ref", "HEAD", h.git("ws", commit, "hash-object", "-t", "commit", "-w", "--stdin"))
}

// TestGitIsNotLedAstray checks that command lines that direct git to a hostile repository next
// to a harmless one, give it settings, or make it write or reveal other files have no such
// effect without a prompt.
func TestGitIsNotLedAstray(t *testing.T) {
	t.Parallel()
	h := newHostile(t)
	h.repository("ws/evil")
	h.git("ws/evil", "", "config", "filter.x.clean", h.evil)
	h.git("ws/evil", "", "config", "core.fsmonitor", h.evil)
	h.write("ws/evil/sub/x", "")
	h.write("ws/evilhome/.gitconfig", "[filter \"x\"]\n\tclean = "+h.evil+"\n")
	h.write("ws/evilhome/git/config", "[filter \"x\"]\n\tclean = "+h.evil+"\n")
	h.write("home/.cred", "[x]\n\tpassword = "+privateKey+"\n")
	h.write("ws/cred", "[include]\n\tpath = "+h.path("home/.cred")+"\n")
	if err := os.Symlink("evil", h.path("ws/link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(h.path("home/.ssh"), h.path("ws/keys")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(h.mark); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(h.path("ws/.git/config"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.ReplaceAll(strings.TrimSpace(`
GIT_DIR=evil/.git git diff
export GIT_DIR=evil/.git; git diff
GIT_DIR=evil/.git; export GIT_DIR; git diff
declare -x GIT_DIR=evil/.git; git diff
GIT_DIR=evil/.git GIT_WORK_TREE=evil git status
env GIT_DIR=evil/.git git diff
env -C evil git diff
env --chdir=evil git diff
git --git-dir=evil/.git diff
git --git-dir evil/.git --work-tree=evil diff
git --work-tree=evil --git-dir=evil/.git status
git -C evil diff
git -C evil status
git -C link diff
git -C evil/../evil diff
git -C evil/sub/.. diff
git -C link/sub diff
git -C evil -C sub diff
cd evil && git diff
cd evil; git diff
(cd evil; git diff)
(cd link && git status)
{ cd evil; git diff; }
cd evil/sub && git diff
pushd evil && git diff
cd -P link; git diff
cd sub 2>/dev/null || cd evil; git diff
f() { git diff; }; cd evil; f
f() { cd evil; }; f; git diff
for d in evil; do git -C $d diff; done
for d in evil; do (cd $d && git diff); done
for d in */; do git -C "$d" status; done
d=evil; git -C $d diff
cd $(echo evil) && git diff
find . -maxdepth 1 -name evil -exec git -C {} diff \;
find evil -maxdepth 0 -execdir git diff \;
find evil -maxdepth 1 -name f -execdir git diff \;
find evil -name f -execdir git status \;
echo evil | xargs -I{} git -C {} diff
echo evil | xargs git diff -C
ls -d evil | xargs -I% git -C % status
time git -C evil diff
timeout 5 git -C evil diff
nice git -C evil status
command git -C evil diff
/usr/bin/git -C evil diff
GIT_EXTERNAL_DIFF=EVIL git diff
GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=filter.x.clean GIT_CONFIG_VALUE_0=EVIL git diff
GIT_CONFIG_PARAMETERS="'filter.x.clean=EVIL'" git diff
export GIT_CONFIG_PARAMETERS="'filter.x.clean=EVIL'"; git diff
GIT_CONFIG_GLOBAL=evilhome/.gitconfig git diff
GIT_CONFIG_SYSTEM=$PWD/evilhome/.gitconfig git diff
GIT_CONFIG=evilhome/.gitconfig git config --list
HOME=$PWD/evilhome git diff
HOME=$PWD/evilhome; git diff
XDG_CONFIG_HOME=$PWD/evilhome git diff
export XDG_CONFIG_HOME=$PWD/evilhome; git diff
GIT_EXEC_PATH=$PWD/evil git diff
GIT_PAGER=EVIL git log
PAGER=EVIL git -p log
GIT_SSH_COMMAND=EVIL git fetch
GIT_TRACE=$PWD/out git status
GIT_TRACE2=$PWD/out git status
GIT_TRACE2_EVENT=$PWD/out git status
GIT_INDEX_FILE=out git status
GIT_OBJECT_DIRECTORY=evil/.git/objects git status
GIT_CEILING_DIRECTORIES=$PWD git status
GIT_ATTR_SOURCE=HEAD git diff
git -c filter.x.clean=EVIL diff
git -c core.fsmonitor=EVIL status
git -c diff.external=EVIL diff
git -c core.pager=EVIL log
git -c include.path=../evil/.git/config diff
git -c core.worktree=evil diff
git -c core.attributesFile=evil/x -c filter.x.process=EVIL status
git --config-env=core.fsmonitor=HOME status
git --exec-path=evil status
git --exec-path evil status
git -p log
git --paginate log
git log --output=out
git log --output out
git log --outpu=out
git diff --output=out HEAD
git diff --outp out HEAD
git log -p --output=.git/hooks/pre-commit
git show --output=out
git shortlog --output=out HEAD
git reflog --output=out
git stash list --output=out
git diff-tree --output=out HEAD
git diff > out
git archive -o out HEAD
git format-patch -o out -1
git bundle create out HEAD
git diff --ext-diff
git log -p --ext-diff
git diff --textconv
git grep -OEVIL three
git grep -O EVIL
git grep --open-files-in-pager=EVIL three
git difftool -y -x EVIL
git ls-remote --upload-pack=EVIL .
git ls-remote --upload-pa=EVIL .
git ls-remote ext::EVIL
git fetch --upload-pack EVIL .
git fetch-pack --upload-pack=EVIL .
git clone -u EVIL . out
git archive --remote=. --exec=EVIL HEAD
git bisect run EVIL
git rebase -x EVIL HEAD~1
git submodule foreach EVIL
git filter-branch -f --tree-filter EVIL HEAD
git for-each-repo --config=x EVIL
git config core.fsmonitor EVIL
git config --global core.fsmonitor EVIL
git config set core.fsmonitor EVIL
git config --add core.fsmonitor EVIL
git config alias.x '!EVIL'; git x
git -c alias.x='!EVIL' x
git -c alias.status='!EVIL' status
git help log
git log --help
git diff --no-index /dev/null HOME/.ssh/id_rsa
git diff --no-index f HOME/.ssh/id_rsa
git diff --no-index f keys/id_rsa
git diff --no-index -- f ../home/.ssh/id_rsa
git grep --no-index . HOME/.ssh/id_rsa
git grep --no-index -h . -- keys
git blame --contents=HOME/.ssh/id_rsa f
git blame --contents HOME/.ssh/id_rsa f
git blame --ignore-revs-file=HOME/.ssh/id_rsa f
git annotate --contents=keys/id_rsa f
git config -f HOME/.cred --list
git config --file=HOME/.cred --list
git config -fHOME/.cred -l
git config -f cred --includes --list
git config --file cred --includes --get x.password
git ls-files -X HOME/.ssh/id_rsa -oi
git log -OHOME/.ssh/id_rsa -p
git grep -fHOME/.ssh/id_rsa -c x
git hash-object HOME/.ssh/id_rsa
git hash-object -w f
git cat-file --batch-check < HOME/.ssh/id_rsa
git log --stdin < HOME/.ssh/id_rsa
git check-ignore --stdin -vn < HOME/.ssh/id_rsa
git check-attr --stdin -a < HOME/.ssh/id_rsa
git status; cat HOME/.ssh/id_rsa
git status; cat $(echo HOME/.ssh/id_rsa)
git status; cat $(echo keys/id_rsa)
git log -1 --format='HOME/.ssh/id_rsa' | xargs cat
git show HEAD:f | xargs -I{} cat HOME/.ssh/id_rsa
git show ":/$(touch out)"
git log $(touch out)
git diff <(touch out)
git stash
git stash store HEAD
git gc
git fsck --lost-found
git update-index --refresh
git update-ref refs/heads/out HEAD
git symbolic-ref refs/heads/out refs/heads/main
git branch out
git tag out
git notes add -m x
git reflog expire --expire=now --all
git worktree add out
git merge-tree --write-tree HEAD HEAD~1
git commit-graph write
git maintenance run
git credential fill
git daemon --export-all
git shell -c EVIL
git upload-pack .
git send-email --smtp-server=EVIL HEAD
git imap-send
git instaweb
git web--browse --browser=EVIL x
git mergetool -t EVIL
git var -l
`), "EVIL", h.evil), "\n")
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], "HOME/", h.path("home")+"/")
	}
	for _, args := range [][]string{nil, {"--permission-mode", "plan"}, {"--permission-mode", "dontAsk"}, {"--trust"}} {
		for at := 0; at < len(lines); at += 20 { // restart, because the last line may have changed the directory
			out := h.run(h.path("ws"), resetting(lines[at:min(at+20, len(lines))], h.path("ws")), args...)
			for _, name := range []string{"ran", "ws/out", "ws/evil/out", "ws/.git/hooks/pre-commit", "home/.gnupg"} {
				if _, err := os.Stat(h.path(name)); err == nil {
					t.Errorf("%v: %s appeared, in lines %d to %d", args, name, at, at+20)
				}
			}
			if strings.Contains(out, privateKey) {
				t.Errorf("%v: a file of the user was shown, in lines %d to %d", args, at, at+20)
			}
		}
		if after, err := os.ReadFile(h.path("ws/.git/config")); err != nil || string(after) != string(before) {
			t.Errorf("%v: the settings changed", args)
		}
	}
}

// resetting makes every line begin in dir.
func resetting(lines []string, dir string) []string {
	var all []string
	for _, line := range lines {
		all = append(all, "cd "+dir, line)
	}
	return all
}

// TestRepositoryOfTheSession checks that git does not inspect a repository created during the
// session without a prompt, regardless of its content (F2).
func TestRepositoryOfTheSession(t *testing.T) {
	t.Parallel()
	h := newHostile(t)
	h.repository("ws/prepared")
	h.git("ws/prepared", "", "config", "filter.x.clean", h.evil)
	if err := os.Rename(h.path("ws/prepared/.git"), h.path("ws/prepared/plain")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(h.mark); err != nil {
		t.Fatal(err)
	}
	lines := []string{
		"git init -q emb", "cp -r prepared/plain emb/.git", "cd emb", "git status --short", "git diff", "cd ..", "git -C emb log -1", "mv prepared/plain prepared/.git", "git -C prepared diff",
	}
	out := h.run(h.path("ws"), lines, "--allowed-tools", "Bash(git init:*)", "Bash(cp:*)", "Bash(mv:*)")
	if _, err := os.Stat(h.path("ws/emb/.git")); err != nil {
		t.Fatalf("nothing was made: %v\n%s", err, out)
	}
	if _, err := os.Stat(h.mark); err == nil {
		t.Error("a program ran")
	}
	if !strings.Contains(out, "made during this session") {
		t.Errorf("the repository is not doubted\n%.5000s", out)
	}
}
