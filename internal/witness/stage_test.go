//go:build linux && !race

package witness_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// secret is in every file that no command may show, and in the program's environment.
const secret = "WITNESS-SECRET"

// A stage is a workspace with everything an attacker could put there, a home directory with
// secrets, and files outside of both.
type stage struct {
	user                   runner
	top, ws, home, outside string
	adze                   string // the program
	before                 map[string]string
}

// A runner is the user who runs the program.
type runner struct {
	name     string
	uid, gid int
}

// newStage creates a stage owned by u.
func newStage(t *testing.T, u runner) *stage {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{user: u, top: top, ws: top + "/ws", home: top + "/home", outside: top + "/outside", adze: top + "/adze"}
	s.copyProgram(t)
	s.secrets(t)
	s.project(t)
	s.repositories(t)
	s.listen(t)
	s.give(t)
	s.before = s.state(t)
	return s
}

func (s *stage) copyProgram(t *testing.T) {
	t.Helper()
	if other := os.Getenv("WITNESS_PROGRAM"); other != "" {
		s.adze = other
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	write(t, s.adze, string(data), 0o755)
}

// secrets creates the files that no command may read.
func (s *stage) secrets(t *testing.T) {
	t.Helper()
	for _, name := range []string{
		".ssh/id_rsa", ".ssh/config", ".aws/credentials", ".netrc", ".gnupg/secring.gpg", ".gnupg/gpg.conf", ".env", ".bash_history",
		".config/gh/hosts.yml", ".config/gcloud/key.json", ".docker/config.json", ".kube/config", ".npmrc", ".pypirc", ".mysql_history",
	} {
		write(t, s.home+"/"+name, secret+" "+name+"\n", 0o600)
	}
	// Programs read these on startup, which would show in the output.
	for _, name := range []string{".bashrc", ".profile", ".bash_profile", ".bash_aliases", ".zshrc", ".zshenv", ".shrc", ".kshrc"} {
		write(t, s.home+"/"+name, "echo "+secret+" "+name+"\n"+s.marker(name), 0o644)
	}
	write(t, s.stateHome()+"/other/file", "state\n", 0o600)
	write(t, s.home+"/.inputrc", "# "+secret+"\n", 0o644)
	write(t, s.home+"/.vimrc", "!touch "+s.top+"/marks/vimrc\n", 0o644)
	write(t, s.home+"/.lessfilter", "#!/bin/sh\n"+s.marker("lessfilter"), 0o755)
	write(t, s.home+"/.gitconfig", "[user]\n\tname = Somebody\n\temail = somebody@example.com\n", 0o644)
	write(t, s.home+"/.jq", "def leak: 1;\n", 0o644)
	write(t, s.outside+"/secret.txt", secret+" outside\n", 0o644)
	write(t, s.outside+"/dir/deep/key", secret+" deep\n", 0o644)
	write(t, s.outside+"/bin/ls", "#!/bin/sh\n"+s.marker("outside-ls"), 0o755)
	write(t, s.outside+"/list", s.home+"/.ssh/id_rsa\n", 0o644)
	if err := os.MkdirAll(s.top+"/marks", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(s.top+"/marks", 0o777); err != nil {
		t.Fatal(err)
	}
}

// fill replaces the placeholders in a line: @HOME@, @OUT@, @WS@ and @TOP@.
func (s *stage) fill(line string) string {
	return strings.NewReplacer("@WS@", s.ws, "@HOME@", s.home, "@OUT@", s.outside, "@TOP@", s.top, "␤", "\n").Replace(line)
}

// loaded puts a program into the project that a loader can run, and files with arguments that
// would make it run.
func (s *stage) loaded(t *testing.T) {
	t.Helper()
	self, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	write(t, s.ws+"/prog", string(self), 0o755)
	loader := "/lib64/ld-linux-x86-64.so.2"
	if _, err := os.Stat(loader); err != nil {
		found, err := filepath.Glob("/lib*/ld-*.so*")
		if err != nil || len(found) == 0 {
			t.Fatal("no loader")
		}
		loader = found[0]
	}
	write(t, s.ws+"/words", "-exec "+loader+" ./prog ;\n", 0o644)
	write(t, s.ws+"/loads", loader+" ./prog\n", 0o644)
	write(t, s.ws+"/pre", "--pre="+loader+"\n", 0o644)
	write(t, s.ws+"/pager", "-O"+loader+"\n", 0o644)
	write(t, s.ws+"/sedwords", "-e1e"+loader+"\\ ./prog\n", 0o644)
}

// marker returns a shell line that leaves a trace of having run.
func (s *stage) marker(name string) string {
	return "echo ran >>" + s.top + "/marks/" + strings.ReplaceAll(name, "/", "-") + "\n"
}

// project creates the files of the workspace.
func (s *stage) project(t *testing.T) {
	t.Helper()
	run := s.marker
	files := map[string]string{
		"README.md": "# Title\n\nalpha beta\ngamma\n", "a.txt": "alpha\nbeta\ngamma\nalpha\n", "b.txt": "beta\ndelta\n",
		"main.go": "package main\n\nfunc main() {\n\tprintln(\"hi\")\n}\n", "src/a.go": "package src\n", "src/b.go": "package src\n\nvar B = 1\n",
		"src/deep/c.go": "package deep\n", "data.csv": "id,name\n1,one\n2,two\n3,three\n", "data.json": `{"a":{"b":[1,2,3]},"c":"x"}` + "\n",
		"log.txt": strings.Repeat("2026-01-01 INFO start\n2026-01-01 ERROR broken\n", 40), "Makefile": "all:\n\ttouch made\n",
		"package.json": `{"name":"x","scripts":{"test":"touch tested"}}` + "\n", "c d.txt": "blank\n", "new\nline.txt": "newline\n",
		"tail ": "blank at the end\n", ".env": "TOKEN=local\n", ".hidden": "dot\n", "x=y.txt": "equals\n", "x=y/z.txt": "below\n", "d1/same": "1\n", "d2/same": "2\n", "d2/k": "2\n",
		"sub/one.txt": "one\n", "sub/two.txt": "two\n", "dir[x]/f": "f\n", "Mixed.Txt": "m\n", "UPPER.TXT": "u\n", "utf8-é.txt": "é\n",
		// Names that a glob expands to options.
		"-o": "o\n", "--output=x": "o\n", "--checkpoint-action=exec=sh x": "o\n", "-exec": "o\n", "-rf": "o\n", "-f": s.home + "/.ssh/id_rsa\n", "--pre=sh": "o\n", "-i": "o\n",
		"odd/--files0-from=list0": "o\n", "odd/--compress-program=sh": "o\n", "odd/-w": "o\n", "odd/-exec=sh": "o\n", "odd/--reference=x": "o\n", "odd/plain": "plain\n",
		// Files that name other files.
		"@args": "-a\n" + s.home + "/.ssh/id_rsa\n", "list": s.home + "/.ssh/id_rsa\n" + s.outside + "/secret.txt\n", "list0": s.home + "/.ssh/id_rsa\x00" + s.outside + "/secret.txt\x00",
		"names0": "a.txt\x00b.txt\x00", "names": "a.txt\nb.txt\n", "cmds": "touch made-by-cmds\n", "patterns": "alpha\nbeta\n",
		// Scripts in the languages of the reading programs.
		"w.sed": "w made-by-sed\n", "e.sed": "e touch made-by-sed\n", "r.sed": "r " + s.home + "/.ssh/id_rsa\n", "p.sed": "1p\n",
		"run.awk": "BEGIN { system(\"touch made-by-awk\") }\n", "write.awk": "{ print > \"made-by-awk\" }\n", "read.awk": "BEGIN { while ((getline x < \"" + s.home + "/.ssh/id_rsa\") > 0) print x }\n", "print.awk": "{ print $1 }\n",
		"prog.jq": ".a\n", "evil.jq": "include \"leak\"; .\n", "x.bc": "1+1\n", "magic": "0 string x found\n", "script.sh": "touch made-by-script\n", "env.sh": run("bash-env"),
		"conf/app.ini": "[app]\n", ".ripgreprc": "--pre=" + s.ws + "/bin/ls\n", ".inputrc": "x\n", ".curlrc": "output = made-by-curl\n", ".wgetrc": "x\n", ".editorconfig": "x\n",
		".npmrc": "x\n", "yarn.lock": "\n", "Cargo.toml": "[package]\nname = \"x\"\n", "rust-toolchain.toml": "[toolchain]\nchannel = \"evil\"\n", "go.mod": "module x\n\ngo 1.99\n\ntoolchain go1.99.0\n", ".python-version": "9\n", ".tool-versions": "ls 1\n", "sitecustomize.py": "open('made-by-python','w')\n",
		"json.py": "open('made-by-python','w')\n", "terminfo/d/dumb": "x\n", ".terminfo/x/xterm": "x\n",
	}
	for name, content := range files {
		write(t, s.ws+"/"+name, content, 0o644)
	}
	for _, name := range []string{"ls", "cat", "git", "grep", "rg", "bash", "sh", "awk", "pager", "less", "gpg", "ssh", "node", "python3", "xargs", "find"} {
		write(t, s.ws+"/bin/"+name, "#!/bin/sh\n"+run("bin-"+name), 0o755)
	}
	write(t, s.ws+"/ls", "#!/bin/sh\n"+run("ws-ls"), 0o755)
	s.loaded(t)
	write(t, s.ws+"/run.sh", "#!/bin/sh\n"+run("run.sh"), 0o755)
	for name, target := range map[string]string{
		"a=b": s.home + "/.ssh/id_rsa", "5": s.home + "/.ssh/id_rsa", "key": "../home/.ssh/id_rsa", "conf/rc": s.home + "/.bashrc", "d1/k": s.home + "/.ssh/id_rsa", "sub/link": s.home + "/.netrc",
		"homelink": s.home, "ssh": s.home + "/.ssh", "outlink": s.outside, "up": "..", "etclink": "/etc", "proclink": "/proc/self", "envlink": "/proc/self/environ", "shadow": "/etc/shadow",
		"inner": "a.txt", "innerdir": "src", "loop": "loop", "dangling": "nowhere", "r": "/bin/rm", "cwdlink": s.ws, "dash": "/bin/sh", "here": ".",
	} {
		if err := os.Symlink(target, s.ws+"/"+name); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(s.ws+"/pipes", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(s.ws+"/pipes/fifo", 0o644); err != nil {
		t.Fatal(err)
	}
	s.archives(t)
	s.library(t)
}

// library puts a library into the workspace that runs nothing, but whose loading would be
// noticed.
func (s *stage) library(t *testing.T) {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/*/libm.so.6")
	if err != nil || len(found) == 0 {
		t.Fatalf("the C library has no libm: %v", err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	write(t, s.ws+"/evil.so", string(data), 0o755)
}

// archives packs two files in the formats that programs can list.
func (s *stage) archives(t *testing.T) {
	t.Helper()
	var packed, zipped bytes.Buffer
	w := tar.NewWriter(&packed)
	for _, name := range []string{"in/one", "in/two"} {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: 2}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte("x\n")); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	g := gzip.NewWriter(&zipped)
	if _, err := g.Write(packed.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, s.ws+"/x.tar", packed.String(), 0o644)
	write(t, s.ws+"/x.tar.gz", zipped.String(), 0o644)
	write(t, s.ws+"/x.gz", zipped.String(), 0o644)
}

// repositories creates the workspace's repository, and others in it whose settings run
// programs.
func (s *stage) repositories(t *testing.T) {
	t.Helper()
	s.git(t, s.ws, "init", "-q", "-b", "main")
	s.git(t, s.ws, "add", "README.md", "a.txt", "src", "main.go", "data.csv", ".env")
	s.git(t, s.ws, "commit", "-q", "-m", "first")
	write(t, s.ws+"/a.txt", "alpha\nbeta\ngamma\nchanged\n", 0o644)
	s.git(t, s.ws, "commit", "-q", "-a", "-m", "second")
	write(t, s.ws+"/b.txt", "beta\nepsilon\n", 0o644)
	evil := "#!/bin/sh\n" + s.marker("evil")
	write(t, s.ws+"/evil.sh", evil, 0o755)
	cmd := s.ws + "/evil.sh"
	for name, config := range map[string]string{
		"filter":     "[filter \"x\"]\n\tclean = " + cmd + "\n\tsmudge = " + cmd + "\n",
		"comment":    "[filter \"x\"]\n# note \\\n\tclean = " + cmd + "\n",
		"double":     "[user][filter \"x\"] clean = " + cmd + "\n",
		"bom":        "\ufeff[filter \"x\"]\n\tclean = " + cmd + "\n",
		"textconv":   "[diff \"x\"]\n\ttextconv = " + cmd + "\n\tcommand = " + cmd + "\n",
		"external":   "[diff]\n\texternal = " + cmd + "\n",
		"fsmonitor":  "[core]\n\tfsmonitor = " + cmd + "\n\thooksPath = " + s.ws + "/bin\n\tpager = " + cmd + "\n\tsshCommand = " + cmd + "\n\taskPass = " + cmd + "\n\teditor = " + cmd + "\n",
		"gpg":        "[gpg]\n\tprogram = " + cmd + "\n[log]\n\tshowSignature = true\n[format]\n\tpretty = %G?%+G?\n",
		"alias":      "[alias]\n\tst = !" + cmd + "\n\tstatus = !" + cmd + "\n",
		"include":    "[include]\n\tpath = ../../evil.inc\n",
		"worktree":   "[core]\n\tworktree = " + s.home + "\n",
		"lazy":       "[extensions]\n\tpartialClone = x\n[remote \"x\"]\n\turl = ext::" + cmd + "\n\tuploadpack = " + cmd + "\n\tpromisor = true\n[core]\n\trepositoryformatversion = 1\n",
		"credential": "[credential]\n\thelper = !" + cmd + "\n[remote \"origin\"]\n\turl = ext::" + cmd + "\n",
	} {
		dir := s.ws + "/evil/" + name
		write(t, dir+"/f", "one\n", 0o644)
		write(t, dir+"/.gitattributes", "* filter=x diff=x\n", 0o644)
		s.git(t, dir, "init", "-q", "-b", "main")
		s.git(t, dir, "add", ".")
		s.git(t, dir, "commit", "-q", "-m", "first")
		object := s.git(t, dir, "rev-parse", "HEAD:f")
		write(t, dir+"/f", "two\n", 0o644)
		appendTo(t, dir+"/.git/config", config)
		write(t, dir+"/.git/hooks/pre-commit", evil, 0o755)
		write(t, dir+"/.git/hooks/post-checkout", evil, 0o755)
		if name == "lazy" {
			if err := os.Remove(dir + "/.git/objects/" + object[:2] + "/" + object[2:]); err != nil {
				t.Fatal(err)
			}
		}
		if name == "bom" {
			data, err := os.ReadFile(dir + "/.git/config")
			if err != nil {
				t.Fatal(err)
			}
			write(t, dir+"/.git/config", config+string(data), 0o644)
		}
	}
	write(t, s.ws+"/evil.inc", "[filter \"x\"]\n\tclean = "+cmd+"\n", 0o644)
	// A plain directory with its settings elsewhere, and a directory that is not a repository
	// inside a hostile one.
	s.git(t, s.ws, "init", "-q", "evil/common")
	write(t, s.ws+"/evil/common/.git/commondir", "../../filter/.git\n", 0o644)
	if err := os.MkdirAll(s.ws+"/evil/filter/sub/.git", 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, s.ws+"/evil/file/.git", "gitdir: ../filter/.git\n", 0o644)
	s.git(t, s.ws, "init", "-q", "--bare", "evil/bare")
	appendTo(t, s.ws+"/evil/bare/config", "[core]\n\tfsmonitor = "+cmd+"\n\tbare = false\n\tworktree = "+s.ws+"\n")
}

// git runs git for the stage, before anything else runs.
func (s *stage) git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + searchPath, "HOME=" + s.top, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// calm removes everything that leads out of the workspace, so that a command may read all it
// finds there, and names that globs must not match.
func (s *stage) calm(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(s.ws, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if real, err := filepath.EvalSymlinks(path); err == nil && within(real, s.ws) && d.Type()&(fs.ModeNamedPipe|fs.ModeSocket) == 0 && !strings.HasSuffix(path, " ") && !strings.HasPrefix(d.Name(), "-") || d.IsDir() {
			return nil
		}
		return os.Remove(path)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// tools creates a directory with all system programs except bash, where sh is another shell.
func (s *stage) tools(t *testing.T, sh string) string {
	t.Helper()
	shell, err := exec.LookPath(sh)
	if err != nil {
		t.Fatal(err)
	}
	dir := s.top + "/tools"
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(shell, dir+"/sh"); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{"/usr/bin", "/bin"} {
		entries, err := os.ReadDir(from)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Name() != "bash" && e.Name() != "rbash" {
				if err := os.Symlink(from+"/"+e.Name(), dir+"/"+e.Name()); err != nil && !os.IsExist(err) {
					t.Fatal(err)
				}
			}
		}
	}
	return dir
}

// give makes the user own everything, so that only adze protects it from commands.
func (s *stage) give(t *testing.T) {
	t.Helper()
	for dir := s.top; os.Getuid() == 0 && strings.HasPrefix(dir, os.TempDir()+"/"); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil { // test directories may be closed to others
			t.Fatal(err)
		}
	}
	err := filepath.WalkDir(s.top, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || os.Getuid() != 0 {
			return err
		}
		return os.Lchown(path, s.user.uid, s.user.gid)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// listen opens a socket in the workspace. The trace shows connections to it.
func (s *stage) listen(t *testing.T) {
	t.Helper()
	l, err := net.Listen("unix", s.ws+"/sock")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
}

// stateHome returns the directory of the program's own.
func (s *stage) stateHome() string { return s.home + "/.local/state" }

// state returns the content of the stage by name, except for the program's own files.
func (s *stage) state(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(s.top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path == s.stateHome()+"/adze" || path == s.adze {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		st := info.Sys().(*syscall.Stat_t)
		what := fmt.Sprint(info.Mode(), st.Uid, st.Gid)
		if path != s.top && path != s.stateHome() { // both get a directory of the program
			what += fmt.Sprint(" ", info.ModTime().UnixNano())
		}
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			what += fmt.Sprintf(" %x", sha256.Sum256(data))
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			what += " -> " + target
		}
		all[path] = what
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func write(t *testing.T, path, content string, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func appendTo(t *testing.T, path, content string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.WriteString(f, content); err != nil {
		t.Fatal(err)
	}
}
