//go:build unix

package bash

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/shell"
	"adze/internal/tool"
	"adze/internal/tool/command"
)

// bound returns the call of a command with a minimal configuration.
func bound(line string) *call {
	return newCall(Input{Command: line}, Config{Config: command.Config{Dir: func() string { return "/" }}})
}

// Proves SH-02.
func TestFind(t *testing.T) {
	const git = `C:\Program Files\Git`
	noGit := "no Git Bash: install Git for Windows to have it, or use PowerShell"
	tests := []struct {
		name, os string
		there    map[string]string // paths found, by name or path
		env      map[string]string
		want     Program
		err      string
	}{
		{name: "bash", os: "linux", there: map[string]string{"bash": "/usr/bin/bash", "sh": "/bin/sh"}, want: Program{"/usr/bin/bash", shell.Bash}},
		{name: "sh", os: "linux", there: map[string]string{"sh": "/bin/sh"}, want: Program{"/bin/sh", shell.POSIX}},
		{name: "nothing", os: "darwin", err: "neither bash nor sh is installed"},
		{name: "zsh does not count", os: "darwin", there: map[string]string{"zsh": "/bin/zsh", "bash": "/bin/bash"}, env: map[string]string{"SHELL": "/bin/zsh"}, want: Program{"/bin/bash", shell.Bash}},
		{name: "next to git", os: "windows", there: map[string]string{"git": git + `\cmd\git.exe`, git + `\bin\bash.exe`: git + `\bin\bash.exe`},
			want: Program{git + `\bin\bash.exe`, shell.Bash}},
		{name: "next to mingw git", os: "windows", there: map[string]string{"git": git + `\mingw64\bin\git.exe`, git + `\bin\bash.exe`: git + `\bin\bash.exe`},
			want: Program{git + `\bin\bash.exe`, shell.Bash}},
		{name: "usual place", os: "windows", there: map[string]string{`D:\P\Git\bin\bash.exe`: `D:\P\Git\bin\bash.exe`}, env: map[string]string{"ProgramFiles": `D:\P`},
			want: Program{`D:\P\Git\bin\bash.exe`, shell.Bash}},
		{name: "of one person", os: "windows", there: map[string]string{`C:\L\Programs\Git\bin\bash.exe`: `C:\L\Programs\Git\bin\bash.exe`}, env: map[string]string{"LOCALAPPDATA": `C:\L`},
			want: Program{`C:\L\Programs\Git\bin\bash.exe`, shell.Bash}},
		{name: "the bash of the subsystem does not count", os: "windows", there: map[string]string{"bash": `C:\Windows\System32\bash.exe`, "sh": `C:\x\sh.exe`}, err: noGit},
		{name: "git alone", os: "windows", there: map[string]string{"git": "git.exe"}, err: noGit},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := system{tt.os, func(name string) (string, error) {
				if path, ok := tt.there[name]; ok {
					return path, nil
				}
				return "", exec.ErrNotFound
			}, func(name string) string { return tt.env[name] }}
			got, err := s.find()
			if err == nil {
				err = errors.New("")
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || err.Error() != tt.err {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestOnlySh checks that commands run in sh and are parsed by its grammar if bash is missing,
// and that the description tells the model.
//
// Proves SH-02.
func TestOnlySh(t *testing.T) {
	dash, err := exec.LookPath("dash")
	if err != nil {
		t.Fatal("dash is needed: ", err)
	}
	path := t.TempDir()
	links := map[string]string{"sh": dash}
	for _, name := range []string{"cat", "ls"} {
		if links[name], err = exec.LookPath(name); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(path, name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", path)
	b := newBench(t, nil)
	if err := b.Traits().Enabled(); err != nil {
		t.Fatal(err)
	}
	if doc := b.Spec().Description; !strings.Contains(doc, "in sh, because there is no bash") {
		t.Error(doc)
	}
	for command, want := range map[string]string{
		"echo ${BASH_VERSION-none} $0":  "none sh",
		"echo {a,b}; exit 0":            "{a,b}",
		"mkdir() { cd /; }; ls; exit 3": "Exit code 3",
		"cat <<'E'\nx\nE":               "x",
	} {
		if got := b.run(t, command); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
	if got := b.run(t, "[[ -d / ]]"); !strings.Contains(got, "not found") {
		t.Errorf("bash feature: %q", got)
	}
	for command, readOnly := range map[string]bool{"ls | cat": true, "ls; echo $'a'": false, "cat <<< a": false, "ls &>/dev/null": false} {
		c, err := b.Bind(json.RawMessage(input(command)))
		if err != nil {
			t.Fatal(err)
		}
		if known := tool.CommandOf(c); (known.Doubt == nil) != readOnly {
			t.Errorf("%q: %v", command, known.Doubt)
		}
	}
}

// Proves SH-02.
func TestOneNoteAboutAnotherShell(t *testing.T) {
	for _, tt := range []struct{ shell, want string }{{"/bin/zsh", "SHELL, which is /bin/zsh, does not count"}, {"/usr/bin/fish", "/usr/bin/fish"}, {"/usr/bin/bash", ""}, {"/bin/sh", ""}, {"", ""}} {
		r := new(osproc.Runner)
		t.Cleanup(r.Close)
		var notes []string
		s := TakeSnapshot(r, t.TempDir(), []string{"HOME=" + t.TempDir(), "SHELL=" + tt.shell}, func(warning string) { t.Error(warning) })
		s.Note = func(note string) { notes = append(notes, note) }
		t.Cleanup(s.Close)
		for range 3 {
			s.File()
		}
		if len(notes) != min(len(tt.want), 1) || tt.want != "" && !strings.Contains(notes[0], tt.want) {
			t.Errorf("%s: %q", tt.shell, notes)
		}
	}
}
