//go:build unix

package bash

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/platform/sandbox/jail"
	"adze/internal/tool/command"
)

// TestSearchPath checks that a project's programs are not found under any name of their
// directory, nor programs that another user could have placed (F7).
//
// Proves SH-04.
func TestSearchPath(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(base, name) }
	for name, mode := range map[string]os.FileMode{
		"work/bin": 0o755, "work/sub/deep": 0o755, "bin": 0o755, "open": 0o777, "sticky": 0o777 | os.ModeSticky, "sticky/mine": 0o755, "open/inner": 0o755, "group": 0o775, "workshop": 0o755,
	} {
		if err := os.MkdirAll(at(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(at(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"to-work": "work", "to-bin": "work/bin", "chain": "to-bin", "around": "bin/../work/bin", "to-good": "bin", "to-proc": "/proc/self/cwd", "to-open": "open",
		"work/out": "../bin", "loop": "loop", "file": "bin/file",
	} {
		if err := os.Symlink(target, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(at("bin/file"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(at("work/sub"))
	tests := []struct {
		entry string
		want  string // "" if dropped
	}{
		{at("bin"), at("bin")},
		{at("to-good"), at("bin")},
		{at("bin/../bin/."), at("bin")},
		{at("group"), at("group")},
		{at("sticky/mine"), at("sticky/mine")},
		{at("workshop"), at("workshop")}, // shares a prefix with a root
		{at("work"), ""},
		{at("work/bin"), ""},
		{at("work/out"), ""}, // the project can retarget it
		{at("to-work/bin"), ""},
		{at("to-work"), ""},
		{at("to-bin"), ""},
		{at("chain"), ""},
		{at("around"), ""},
		{at("bin/../work/bin"), ""},
		{at("to-proc"), ""},
		{at("to-proc/deep"), ""},
		{"/proc/self/cwd", ""},
		{"/proc/self/cwd/deep", ""},
		{"/proc/self/root" + at("bin"), ""},
		{"/proc/1/root/usr/bin", ""},
		{"/dev/../proc/self/cwd/deep", ""},
		{at("open"), ""},
		{at("to-open"), ""},
		{at("open/inner"), ""},
		{at("sticky"), ""},
		{at("loop"), ""},
		{at("file"), ""},
		{at("missing"), ""},
		{".", ""},
		{"", ""},
		{"bin", ""},
		{"../bin", ""},
		{"~/bin", ""},
	}
	for _, roots := range [][]string{{at("work")}, {at("to-work")}, {at("bin/../work/")}} {
		for _, tt := range tests {
			var want []string
			if tt.want != "" {
				want = []string{tt.want}
			}
			if diff := cmp.Diff(want, new(searchPath).fixed(tt.entry, roots)); diff != "" {
				t.Errorf("%s with root %s (-want +got):\n%s", tt.entry, roots[0], diff)
			}
		}
	}
}

// TestSearchPathIsLookedAtAgain checks that the cached search path is valid only while its
// directories are unchanged.
func TestSearchPathIsLookedAtAgain(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work, bin, late := filepath.Join(base, "work"), filepath.Join(base, "bin"), filepath.Join(base, "late")
	for _, dir := range []string{work, bin} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var s searchPath
	check := func(what string, roots, want []string) {
		t.Helper()
		if diff := cmp.Diff(want, s.fixed(bin+":"+late, roots)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check("first", []string{work}, []string{bin})
	must(os.Mkdir(late, 0o755))
	check("a directory appeared", []string{work}, []string{bin, late})
	must(os.Chmod(late, 0o777))
	check("everyone may write", []string{work}, []string{bin})
	must(os.Rename(bin, filepath.Join(work, "bin")))
	must(os.Symlink(filepath.Join(work, "bin"), bin))
	check("it was moved into the project", []string{work}, nil)
	must(os.Remove(bin))
	must(os.Mkdir(bin, 0o755))
	check("it is back", []string{work}, []string{bin})
	check("it is a root now", []string{work, bin}, nil)
}

// TestProgramsBehindLinksDoNotRun checks that a project's program does not run in place of a
// system program (F7).
func TestProgramsBehindLinksDoNotRun(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	for _, entry := range []string{"LINK/bin", "/proc/self/cwd/bin", "LINK/../WORK/bin", "WORK/bin"} {
		t.Run(entry, func(t *testing.T) {
			b := newBench(t, func(c *Config) {
				dir := c.Dir()
				entry := strings.NewReplacer("LINK", link, "WORK", dir).Replace(entry)
				c.Env = func() []string { return []string{"PATH=" + entry + ":" + os.Getenv("PATH"), "HOME=/h"} }
			})
			if err := os.Mkdir(filepath.Join(b.root, "bin"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(b.root, "bin", "ls"), []byte("#!/bin/sh\necho evil\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			os.Remove(link) // ok: may be missing
			if err := os.Symlink(b.root, link); err != nil {
				t.Fatal(err)
			}
			if got := b.run(t, "ls"); got != "bin" {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestProgramsThatLinkToTheProject checks that a program outside the project that links into it
// does not run without a prompt: the user's PATH may contain a project's build (F7).
func TestProgramsThatLinkToTheProject(t *testing.T) {
	for _, jailed := range []bool{true, false} {
		bin := t.TempDir()
		root := t.TempDir()
		config := Config{Config: command.Config{
			Dir: func() string { return root },
			Env: func() []string { return []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=/h"} },
		}}
		config.Fill()
		config.find, config.path, config.finder, config.jailed = Find, new(searchPath), new(jail.Finder), func() error { return errors.New("none") }
		if jailed {
			config.jailed = func() error { return nil }
		}
		check := func(line string, want bool) {
			t.Helper()
			if got := newCall(Input{Command: line}, config).Command().Doubt; (got == nil) != want {
				t.Errorf("%s, in a jail %v: %v", line, jailed, got)
			}
		}
		check("uname -a", true)
		uname, err := exec.LookPath("uname")
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(uname)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "built"), data, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(root, "built"), filepath.Join(bin, "uname")); err != nil {
			t.Fatal(err)
		}
		check("uname -a", false)
		check("ls && uname", false)
		check("ls", true)
	}
}
