package permission

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// snapshot describes everything that must not change: files outside the project and protected
// files in it.
func (w world) snapshot(t testing.TB) string {
	t.Helper()
	p := Compile(w.config(AcceptEdits))
	var b strings.Builder
	err := filepath.WalkDir(w.root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside := strings.HasPrefix(path+"/", w.project+"/")
		if path == w.project || inside && p.places().protected([]string{path}, false) == "" {
			return nil
		}
		fmt.Fprintf(&b, "%s %s", strings.TrimPrefix(path, w.root), entry.Type())
		switch {
		case entry.Type()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(path) // ok: it shows as empty
			b.WriteString(" " + to)
		case entry.Type().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %x", sha256.Sum256(data))
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A phrase generates a random command line.
type phrase struct{ *rand.Rand }

func (p phrase) one(words ...string) string { return words[p.IntN(len(words))] }

func (p phrase) some(n int, of func() string) string {
	var words []string
	for range p.IntN(n) + 1 {
		words = append(words, of())
	}
	return strings.Join(words, " ")
}

func (p phrase) source() string {
	return p.one("a", "b", "dummy", "pay/pre-commit", "pay/.mcp.json", "pay/.env", "pay", "pay/", "pay/.", "pay/.vscode", "sub", "sub/", "sub/.", "sub/deep",
		"conf", "conf/rc", "lib", "lib/up", "lib/in", "clean", "clean/x", "pay/*", "pay/.*", "pay/.[a-z]*", "odd/*", "*", "s*", "keys", "innocent", ".git",
		".git/hooks", "bare", "./a", "../project/a", "sub/../pay/.env", "pay/inner", "nosuch", ".vscode", "pay/.?*", "-- a")
}

func (p phrase) target() string {
	return p.one("new", "b", "dir", "dir/", "sub", ".", "./", "sub/deep", "conf", "conf/rc", "conf/", "innocent", "innocent/hooks", "keys", "keys/x", ".git", ".git/hooks",
		"..", "../x", "pay", "lib", "lib/up", "lib/in", "x.git", "x.git/hooks", "dir/new", "nosuch/x", "dir/..", "dir/../..", ".vscode", "sub/.", "n*", "d*", ".mcp.json", "../../outside/x")
}

func (p phrase) command() string {
	program := p.one("cp", "cp", "cp", "mv", "mv", "mkdir", "touch")
	switch program {
	case "mkdir":
		return "mkdir " + p.one("", "-p ", "-pv ", "-m 755 ", "-m755 ", "--parents ", "--mode=700 ") + p.some(2, p.target)
	case "touch":
		return "touch " + p.one("", "-c ", "-a ", "-r a ", "-t 202001010000 ", "-d now ", "--reference=a ", "-h ") + p.some(2, p.target)
	}
	flags := p.one("", "", "-r ", "-a ", "-R ", "-rT ", "-T ", "-f ", "-n ", "-v ", "-b ", "-S it -b ", "-d ", "-P ", "-rL ", "-rl ", "-s ", "-l ", "--parents ", "-r --parents ", "-u ",
		"-x ", "--backup=simple --suffix=.json ", "--remove-destination ", "-rH ", "--no-target-dir ", "--strip-trailing-slashes ", "--attributes-only ", "-i ")
	if program == "mv" {
		flags = p.one("", "", "-f ", "-n ", "-v ", "-T ", "-b ", "-S it ", "--backup ", "-u ", "-i ", "--strip-trailing-slashes ")
	}
	switch p.IntN(5) {
	case 0:
		option := p.one("-t ", "-t", "-ft ", "-vt", "--target-directory ", "--target-directory=", "--target-dir=", "--t=", "--t ", "--target ")
		return program + " " + flags + option + p.target() + " " + p.some(3, p.source)
	case 1:
		return program + " " + flags + p.some(3, p.source) + " " + p.one("-t ", "-t", "--target-d=") + p.target()
	}
	return program + " " + flags + p.some(2, p.source) + " " + p.target()
}

// output returns a command of a program that writes or runs files named in its options, and the
// rule that covers it.
func (p phrase) output() (rule, line string) {
	out := p.one(".git/hooks/pre-commit", ".mcp.json", "new", "dir/new", "innocent/hooks/x", "conf/rc", "../x", "keys/k", ".env", "sub/.vscode/x", "../../outside/x", "dir/.envrc")
	dir := p.one(".git/hooks", ".vscode", "dir", "innocent", "keys", "..", "sub", ".")
	type row struct{ rule, line string }
	rows := []row{
		{"sort", "sort " + p.one("-o ", "-o", "-ro ", "-uro", "--output=", "--output ", "--outp=", "--o ", "-k1 -o ", "-k1o ", "-t, -o") + out + " a"},
		{"sort", "sort a " + p.one("-o ", "-o", "-T ", "--out=") + out},
		{"sed", "sed " + p.one("-n ", "-E ", "-s ", "") + "'" + p.one("w ", "1w ", "$w ", "s/x/y/w ", "/x/,$ w ", "1!w ", "p;w ", "{p\n}\nw ", "y/x/y/;w ", "s,x,y,gw ", "s/[/]/y/;w ", "W ", "a\\\nz\nw ", "# c\nw ", ":a;w ", "bx\nw ", "l 3;w ", "n;w ") + out + "' a b"},
		{"sed", "sed " + p.one("-i ", "-ni ", "--in-place ", "-i.bak ", "-E -i ", "--in-pl=.bak ", "-i -e ", "-si ") + "s/x/y/ " + out},
		{"sed", "sed " + p.one("-n ", "") + "'" + p.one("1e touch ran", "s/x/touch ran/e", "e", "1!e touch ran", "p;e touch ran", "s,x,touch ran,ge", "s/x/touch ran/;e", "/[/]x/e touch ran", "\\,x,e touch ran", "{e touch ran\n}", "y/a/b/;1e touch ran", "s/e/f/", "s/a/e touch/") + "' a"},
		{"awk", "awk '" + p.one("{print > \"", "{print >> \"", "{printf \"%s\", $0 > \"", "/x/{print $1 > \"", "{x=1} /\"/{y=1} {print > \"", "{print /\"/ > \"", "BEGIN{print 1 > \"", "{if ($1>\"a\") print > \"", "{a=\"/\"; print > \"", "function f(x) {print x > \"") + out + "\"}' a"},
		{"awk", "awk " + p.one("-v x=1 ", "", "-F, ", "--assign=x=1 ") + "'" + p.one("BEGIN{system(\"touch ran\")}", "{print | \"touch ran\"}", "BEGIN{\"touch ran\" | getline}", "$1>5{print}", "{print ($1>5)}", "{print $1 > $2}", "{print > x}", "/\\//{print | \"touch ran\"}", "{print \"|\"}") + "' a"},
		{"tar", "tar " + p.one("-cf ", "cf ", "-cf", "czf ", "-czf ", "--create --file=", "--create --file ", "-c -f ", "--cr --fi ", "-cvf ", "rf ", "-uf ", "-c --file=") + out + " a"},
		{"tar", "tar " + p.one("-cf x.tar ", "cf x.tar ", "-c ") + p.one("-I 'touch ran' ", "--use-compress-program='touch ran' ", "--checkpoint=1 --checkpoint-action='exec=touch ran' ", "--to-command='touch ran' ", "--use='touch ran' ", "-g "+out+" ", "--index-file="+out+" ", "") + "a"},
		{"gzip", "gzip " + p.one("", "-k ", "-f ", "-9 ", "-kf ", "-d ", "-S .x ") + p.one(out, "a", "pre-commit.gz")},
		{"split", "split " + p.one("-l 1 ", "-b 1 ", "-n 2 ", "-a 3 ", "-d ", "--filter='touch ran' ", "--additional-suffix=.json -l 1 ") + "a " + out},
		{"csplit", "csplit " + p.one("-f ", "-f", "--prefix=", "-sf ", "--pre ") + out + " a 1"},
		{"csplit", "csplit -f " + p.one(".mcp", "x", ".en") + " -b '" + p.one(".json%.0d", "%d", "v%.0d") + "' a 1"},
		{"tee", "tee " + p.one("", "-a ", "-i ", "-ai ", "-- ", "--append ") + out},
		{"dd", "dd if=a " + p.one("of=", "bs=1 of=") + out},
		{"truncate", "truncate " + p.one("-s 0 ", "-s0 ", "--size=0 ", "--size 0 ", "-cs 0 ", "-r a ") + out},
		{"install", "install " + p.one("", "-D ", "-m 755 ", "-m755 ", "-b ", "-T ", "-C ", "-v ") + p.source() + " " + p.one(out, dir)},
		{"install", "install " + p.one("-t ", "-t", "-Dt ", "-Dt", "--target-directory=", "--target-d ") + dir + " a pay/pre-commit"},
		{"install", "install -d " + out},
		{"ln", "ln " + p.one("-s ", "-sf ", "", "-f ", "-sr ", "-sn ", "-sb ", "-sT ") + p.source() + " " + p.one(out, dir)},
		{"cp", p.command()}, {"mv", p.command()}, {"mkdir", p.command()}, {"touch", p.command()},
		{"rsync", "rsync " + p.one("-a ", "-r ", "-av ", "", "--log-file="+out+" ", "-rR ") + p.source() + " " + p.one(out, dir)},
		{"uniq", "uniq " + p.one("", "-c ", "-f 1 ", "-u ") + "a " + out},
		{"xxd", "xxd " + p.one("", "-p ", "-l 3 ") + "a " + out},
		{"shuf", "shuf " + p.one("-o ", "-o", "--output=", "--out ", "-n1 -o ", "-n1o ", "-eo ") + out + " a"},
		{"chmod", "chmod " + p.one("+x ", "-x ", "755 ", "-R u+w ", "--reference=a ", "u=rwx,g=r ", "-v 700 ") + out},
		{"mktemp", "mktemp " + p.one("-p ", "-p", "--tmpdir=", "-dp ") + dir}, {"mktemp", "mktemp " + out + ".XXXX"},
		{"timeout", "timeout 5 sed '1e touch ran' a"}, {"nice", "nice sort -o " + out + " a"},
		{"find", "find sub " + p.one("-fprint ", "-fls ", "-fprint0 ") + out}, {"find", "find sub -exec touch ran ';'"},
		{"git log", "git log " + p.one("--output=", "--output ", "--outp=", "-p --output=", "--oneline --outpu ") + out},
		{"git diff", "git diff --no-index " + p.one("--output=", "--outp=", "--output ") + out + " a b"},
		{"git", "git " + p.one("-c alias.x='!touch ran' x", "-c core.pager='touch ran' log", "--exec-path=. log", "log --output="+out, "archive -o "+out+" HEAD", "format-patch -o "+dir+" -1", "grep -O'touch ran' x", "config core.x y", "-C .git log --output=hooks/x", "-C sub log --output=../.git/hooks/x", "restore "+out)},
		{"patch", "patch -i fix.patch"}, {"patch", "patch " + p.one("-o ", "-o", "--output=", "-r ", "--outp ") + out + " a fix.patch"},
		{"openssl", "openssl rand -out " + out + " 4"},
		{"base64", "base64 a"}, {"iconv", "iconv " + p.one("-o ", "-o", "--output=", "--out=") + out + " a"},
		{"xargs", "xargs touch ran < a"}, {"script", "script -c 'touch ran' x"},
		{"less", "less " + p.one("-o", "-O", "-o ", "--log-file=") + out + " a"},
		{"gcc", "gcc -x c a " + p.one("-o ", "-o", "-c -o ", "-MD -MF ", "-E -o ") + out},
		{"zip", "zip " + p.one("", "-r ", "-q ") + out + " a"},
	}
	r := rows[p.IntN(len(rows))]
	program, _, _ := strings.Cut(r.line, " ")
	if first, _, _ := strings.Cut(r.rule, " "); first != program {
		r.rule = program
	}
	return "allow Bash(" + r.rule + ":*)", strings.ReplaceAll(r.line, `\n`, "\n")
}

// rows returns the number of lines to try and the random seed.
func rows(normally int) (int, uint64) {
	if n, err := strconv.Atoi(os.Getenv("ADZE_TEST_ROWS")); err == nil {
		return n, uint64(os.Getpid())
	}
	return normally, 14
}

// TestCommandsThatPassAreHarmless runs the allowed lines with the real programs and checks that
// nothing outside the project and nothing protected changes, and that no program named only in
// an option runs.
func TestCommandsThatPassAreHarmless(t *testing.T) {
	n, seed := rows(150)
	p := phrase{rand.New(rand.NewPCG(seed, 4))}
	t.Run("acceptEdits", func(t *testing.T) {
		runAllowed(t, n, func(w world) (Config, string) {
			line := p.command()
			for p.IntN(4) == 0 {
				line += p.one(" && ", "; ") + p.command()
			}
			return w.config(AcceptEdits), line
		})
	})
	t.Run("rules", func(t *testing.T) {
		runAllowed(t, n, func(w world) (Config, string) {
			rule, line := p.output()
			return w.config(Default, rule), line
		})
	})
}

// runAllowed runs the allowed ones among n lines, each in its own world.
func runAllowed(t *testing.T, n int, next func(world) (Config, string)) {
	w, ran := outputWorld(t), 0
	before := w.snapshot(t)
	for range n {
		c, line := next(w)
		if decide(t, c, "Bash", runs(line)).Behavior != Allow {
			continue
		}
		ran++
		cmd := exec.Command("bash", "-c", line)
		cmd.Dir, cmd.Env = w.project, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "LC_ALL=C", "TMPDIR=" + t.TempDir()}
		out, _ := cmd.CombinedOutput() // ok: many of them fail
		after := w.snapshot(t)
		if _, err := os.Stat(filepath.Join(w.project, "ran")); err == nil {
			after += "a program ran\n"
		}
		if after != before {
			t.Errorf("%s changed what is protected\n%s\nbefore:\n%s\nafter:\n%s", line, out, before, after)
		}
		w = outputWorld(t)
		before = w.snapshot(t)
	}
	if ran < n/20 {
		t.Errorf("only %d of %d lines passed", ran, n)
	}
}
