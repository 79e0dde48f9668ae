//go:build unix

package bash

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/platform/shell"
)

// Proves SH-02.
func TestReadingIsAllThatIsDone(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Sandbox = nil })
	secret := filepath.Join(t.TempDir(), "secret")
	for path, text := range map[string]string{filepath.Join(b.root, "a"): "a\n", secret: "hunter2\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	x := quote(secret)
	for command, want := range map[string]string{
		"for f in a; do cat $f; done":                      "a",
		"f=" + x + "; cat $f":                              "Permission denied",
		"f='-o b'; shuf $f a":                              "Permission denied",
		"sed -n 1p a $(echo -i)":                           "Permission denied",
		"f=" + x + "; while read y; do echo $y; done < $f": "Permission denied",
	} {
		got := b.run(t, command)
		if !strings.Contains(got, want) || strings.Contains(got, "hunter2") {
			t.Errorf("%q: %q", command, got)
		}
		if denied := strings.Contains(want, "denied"); denied != strings.Contains(got, "could only read") {
			t.Errorf("%q: %q", command, got)
		}
	}
	if names, err := os.ReadDir(b.root); err != nil || len(names) != 1 {
		t.Errorf("%v, %v", names, err)
	}
}

// TestReadingWithoutAJail checks that without a jail only plain commands
// run without a prompt, in the same shell.
//
// Proves SH-02.
func TestReadingWithoutAJail(t *testing.T) {
	open := func(line string) *call {
		b := newBench(t, func(c *Config) { c.Sandbox = nil })
		if err := os.WriteFile(filepath.Join(b.root, "a"), []byte("a\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		c := Config{}
		c.Config.Dir = func() string { return b.root }
		c.TempDir = t.TempDir()
		c.Fill()
		c.find, c.jailed = Find, func() error { return errors.New("none") }
		return newCall(Input{Command: line}, c)
	}
	for line, reads := range map[string]bool{"cat a | wc -l": true, "cat *": false, "grep -rn a a": true, "for f in a; do cat $f; done": false, "cat $(echo a)": false} {
		c := open(line)
		if c.ReadOnly() != reads || c.Command().Jailed {
			t.Errorf("%q: %v, jailed %v", line, c.Command().Doubt, c.Command().Jailed)
		}
		if !reads {
			continue
		}
		judge(c)
		var out strings.Builder
		exit, dir, err := c.reading().run(t.Context(), &out, 0)
		if err != nil || exit.Code != 0 || dir != c.here.Path || strings.TrimSpace(out.String()) != map[bool]string{true: "1", false: "1:a"}[strings.Contains(line, "wc")] {
			t.Errorf("%q: %q, %+v, %v", line, out.String(), exit, err)
		}
	}
}

// TestPlain checks that a plain command has the words that bash would execute.
func TestPlain(t *testing.T) {
	for line, want := range map[string]string{
		"ls -l 'a b'": "ls|-l|a b", `grep "x y" f`: "grep|x y|f", "ls *": "", "echo a": "", "ls > /dev/null": "", "TZ=x date": "",
		"ls; ls": "", "ls | cat": "", "! ls": "", "ls $x": "", "ls {a,b}": "", "time ls": "", "(ls)": "", "ls ~": "", `ls a\ b`: "ls|a b",
	} {
		if got := strings.Join(shell.Parse(line, shell.Vars{Home: "/h"}).Plain(), "|"); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
