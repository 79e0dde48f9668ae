//go:build unix

package bash

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/tool"
)

// A sedMaker generates scripts and contents from a small alphabet, so that they match often.
type sedMaker struct{ *rand.Rand }

func (m sedMaker) pick(list ...string) string { return list[m.IntN(len(list))] }

func (m sedMaker) regex() string {
	return m.pick("a", "b", "^a", "b$", "[ab]*", "a.", "é", "^$", `a\|b`, `\(a\)\(b\)`, "x", ".", `\ba`, `a\{2\}`, "[[:alpha:]]", `\n`, "\r")
}

func (m sedMaker) address() string {
	return m.pick("", "", "", "1", "2", "$", "/"+m.regex()+"/", "1,2", "2,$", "/a/,/b/", "0,/a/", "1~2", "2,+1", "$!", "1!", "/a/I")
}

func (m sedMaker) command() string {
	replace := m.pick("", "x", "&&", "[&]", `\n`, `\U&`, "é", "a", `\x41`)
	return m.address() + m.pick(
		"s/"+m.regex()+"/"+replace+"/"+m.pick("", "g", "2", "p", "I", "gI", "m"), "s,"+m.regex()+","+replace+",", "d", "p", "D", "N", "P", "G", "H", "h", "g", "x", "n", "=", "l", "q", "Q",
		"y/ab/ba/", "a new", "i new", "c new", "z", "F", "{s/a/b/;n;d}", "a\\\ntwo\\\nlines", "s/a/b/;ta;s/$/!/;:a", "N;P;D", "$!N", "s/a/x/w out", "r f0", "w out", "e", "s/a/date/e", "q5", "}")
}

func (m sedMaker) line() string {
	var b strings.Builder
	b.WriteString("sed " + m.pick("-i", "-i", "-i", "-n -i", "-ni", "-i -E", "-Ei", "-z -i", "-s -i", "--in-place", "-i -l 5"))
	if m.IntN(2) == 0 {
		b.WriteString(" " + quote(m.command()))
	} else {
		for range 1 + m.IntN(3) {
			b.WriteString(" -e " + quote(m.command()))
		}
	}
	return b.String()
}

func (m sedMaker) content() string {
	var b strings.Builder
	ending := m.pick("\n", "\n", "\r\n")
	for range m.IntN(6) {
		b.WriteString(m.pick("", "a", "b", "ab", "aab", "x", "é", "a b", "ba", "Ab") + ending)
	}
	if m.IntN(3) == 0 {
		b.WriteString(m.pick("a", "b", "last"))
	}
	return b.String()
}

// TestSedMakesWhatSedMakes checks that the tool's result equals that of sed -i for every script
// it treats as an edit, and that it accepts most scripts that only edit.
//
// Proves SHOUT-06.
func TestSedMakesWhatSedMakes(t *testing.T) {
	m := sedMaker{rand.New(rand.NewPCG(7, 7))}
	b := newEditor(t, nil)
	edited, succeeded := 0, 0
	for i := range 150 {
		line := m.line()
		var files []string
		for j := range 1 + m.IntN(3) {
			files = append(files, fmt.Sprintf("f%d", j))
			b.write(t, files[j], m.content())
			line += " " + files[j]
		}
		theirs := t.TempDir()
		for _, name := range files {
			if err := os.WriteFile(filepath.Join(theirs, name), []byte(b.read(t, name)), 0o640); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir = theirs
		printed, failure := cmd.CombinedOutput()
		c := b.bind(t, line)
		plain := failure == nil && len(printed) == 0
		if plain {
			succeeded++
		}
		if c.Command().Edits() == nil {
			continue
		}
		edited++
		if !plain {
			t.Errorf("%d: %s: sed says %q, %v", i, line, printed, failure)
		}
		if res, err := c.Run(t.Context(), func(tool.Progress) {}); err != nil || res.IsError {
			t.Errorf("%d: %s: %v, %+v", i, line, err, res)
		}
		for _, name := range files {
			want, err := os.ReadFile(filepath.Join(theirs, name))
			if err != nil {
				t.Fatal(err)
			}
			if got := b.read(t, name); got != string(want) {
				t.Errorf("%d: %s: %s is %q, want %q", i, line, name, got, want)
			}
		}
	}
	if edited < succeeded*3/4 || edited < 60 {
		t.Errorf("%d of %d were edits", edited, succeeded)
	}
}

func TestParseSed(t *testing.T) {
	for args, want := range map[string]string{
		"-i s/a/b/ f":                     "-e s/a/b/ | f",
		"s/a/b/ -i f g":                   "-e s/a/b/ | f g",
		"-nEi p f":                        "-n -E -e p | f",
		"-i -ep f":                        "-e p | f",
		"-ie p f":                         "", // -i with the suffix e
		"-i -e p -e d -- -f":              "-e p -e d | -f",
		"--in-place --expression p f":     "-e p | f",
		"-i --expression=p --null-data f": "-e p --null-data | f",
		"-i -l5 p f":                      "-l 5 -e p | f",
		"-i -l x p f":                     "",
		"p f":                             "",
		"-i p":                            "",
		"-i":                              "",
		"-i -e":                           "",
		"-i -e p":                         "",
		"-i p -":                          "",
		"-i.bak p f":                      "",
		"--in-place=.bak p f":             "",
		"-i -f x f":                       "",
		"-i --expr=p f":                   "",
		"-i --follow-symlinks p f":        "",
		"-i --version p f":                "",
		"-i p " + strings.Repeat("f ", maxSedFiles+1): "",
	} {
		s, ok := parseSed(strings.Fields(args))
		got := ""
		if ok {
			got = strings.Join(s.options, " ") + " | " + strings.Join(s.files, " ")
		}
		if got != want {
			t.Errorf("%.40s: %q, want %q", args, got, want)
		}
	}
}

// TestLookPathTakesTheLastPATH checks that the last of several values of PATH counts, as for a
// started program.
func TestLookPathTakesTheLastPATH(t *testing.T) {
	first, last := seds(t, t.TempDir(), "exit 1"), seds(t, t.TempDir(), "exit 2")
	if path, err := lookPath("sed", []string{"PATH=" + first, "HOME=/", "PATH=" + last}); err != nil || path != filepath.Join(last, "sed") {
		t.Errorf("%s, %v", path, err)
	}
}
