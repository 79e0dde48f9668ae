package shell

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// An effects directory tells whether a program did more than print: everything that the pieces of the
// scripts could write, run or create leaves something in it.
type effects struct{ dir string }

func newEffects(t testing.TB) *effects {
	dir := t.TempDir()
	for _, name := range []string{"in", "x.sh"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("touch M\nprint 1 > M\na/b w M\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return &effects{dir}
}

// of runs a program on the input and returns what appeared.
func (e *effects) of(t testing.TB, args ...string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = e.dir
	cmd.WaitDelay = time.Second
	cmd.Run() // ok: many are no valid programs
	entries, err := os.ReadDir(e.dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		if name := entry.Name(); name != "in" && name != "x.sh" {
			names = append(names, name)
			os.RemoveAll(filepath.Join(e.dir, name)) // ok: the next run would find it
		}
	}
	return names
}

// programs returns those of the names that are installed, as the start of a command line.
func programs(t testing.TB, lines ...string) [][]string {
	var found [][]string
	for _, line := range lines {
		words := strings.Fields(line)
		if _, err := exec.LookPath(words[0]); err == nil {
			found = append(found, words)
		}
	}
	if len(found) == 0 {
		t.Fatal("none of the programs is installed")
	}
	return found
}

var (
	sedPieces = strings.Split("s|/|[|]|w M|w M\n|W M|e|e touch M|;|\n|{|}|a|i\\\n|c|\\|p|d|n|N|G|h|x|q|b|t|:a|ba|y|1|$|,|!|I|g|^|.|*|#| |M|r x.sh|/a/|s/a/b/|s/./touch M/|y/a/b/|%|~|+|0|[^/]|[:alpha:]|[]/]|\\/|\\n|=|l|F|z|D|P", "|")
	awkPieces = strings.Split(`print~printf~"M"~>~>>~"~/~[~]~(~)~{~}~;~`+"\n"+`~$1~x~1~,~||~&&~system~system("touch M")~getline~<~"touch M"~|~|&~if~while~(1)~else~for~in~++~--~=~==~+~*~\~\"~\/~/a/~/[/]/~#~"/dev/stderr"~"/dev/null"~ENVIRON~length~NR~BEGIN~END~return~ ~?~:~!~^~%~.~1e3~0x1~function f(~a[1]~delete~print > "M"~print 1 > "M"~print(1)>"M"~"touch M" | getline~case~switch~func~close("M")~@`, "~")
)

// randomProgram makes a program of random pieces, most of which make sense.
func randomProgram(random *rand.Rand, pieces []string, starts []string) string {
	var b strings.Builder
	b.WriteString(starts[random.IntN(len(starts))])
	for range 1 + random.IntN(8) {
		b.WriteString(pieces[random.IntN(len(pieces))])
		if random.IntN(4) == 0 {
			b.WriteByte(' ')
		}
	}
	for _, c := range "{([" {
		if n := strings.Count(b.String(), string(c)) - strings.Count(b.String(), map[rune]string{'{': "}", '(': ")", '[': "]"}[c]); n > 0 && random.IntN(2) == 0 {
			b.WriteString(strings.Repeat(map[rune]string{'{': "}", '(': ")", '[': "]"}[c], n))
		}
	}
	return b.String()
}

// What is taken for a program that only prints has no other effect in any sed and awk there is.
//
// Proves SHRO-02.
func TestProgramsOnlyPrint(t *testing.T) {
	tests := []struct {
		name     string
		check    func(string) error
		programs [][]string
		pieces   []string
		starts   []string
	}{
		{"sed", checkSedScript, programs(t, "sed", "busybox sed"), sedPieces, []string{"", "s/a/b/", "/a/", "1", "s/", "p;", "{", "y/ab/cd/;", "$!"}},
		{"awk", checkAwkProgram, programs(t, "mawk", "gawk", "busybox awk", "original-awk"), awkPieces, []string{"", "{ print ", "BEGIN { ", "/a/ { ", "{ if (1) ", "NR > 1 { x = ", "{ print $1 / ", "{"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(7, 11))
			e := newEffects(t)
			for admitted := 0; admitted < 400; {
				script := randomProgram(random, tt.pieces, tt.starts)
				if tt.check(script) != nil {
					continue
				}
				admitted++
				for _, program := range tt.programs {
					if made := e.of(t, append(slices.Clone(program), script, "in")...); len(made) > 0 {
						t.Errorf("%s %q made %q", program, script, made)
					}
				}
			}
			if made := e.of(t, append(slices.Clone(tt.programs[0]), map[string]string{"sed": "w M", "awk": `{ print > "M" }`}[tt.name], "in")...); len(made) == 0 {
				t.Error("a write is not noticed")
			}
		})
	}
}

// FuzzSedScript: what is admitted only prints.
func FuzzSedScript(f *testing.F) {
	fuzzProgram(f, "sed", checkSedScript, "s/[/]/w x/", "/a/{p;d}", "1i x", ":a;N;$!ba")
}

// FuzzAwkProgram: what is admitted only prints.
func FuzzAwkProgram(f *testing.F) {
	fuzzProgram(f, "awk", checkAwkProgram, `{ print > "M" }`, "NR > 1", `/[/]/ { print }`, `{ if (1) /a/ }`)
}

func fuzzProgram(f *testing.F, program string, check func(string) error, seeds ...string) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	readLines(&testing.T{}, "testdata/readonly.txt", func(text string) {
		if s := Parse(text[2:], Vars{}); s.Simple && s.Parts[0].program() == program {
			for _, w := range s.Parts[0].Words[1:] {
				f.Add(w.Value)
			}
		}
	})
	f.Fuzz(func(t *testing.T, script string) {
		if strings.ContainsRune(script, 0) || check(script) != nil {
			return
		}
		if made := newEffects(t).of(t, program, script, "in"); len(made) > 0 {
			t.Errorf("%s %q made %q", program, script, made)
		}
	})
}
