//go:build linux && !race

package witness_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A row is a program from the tables with its allowed options, as written there.
type row struct {
	name    string
	options []string
	writes  bool // listed in a table of programs that write
}

// version reports whether only the program's version option is allowed, which is slow and
// reveals little.
func (r row) version() bool {
	return len(r.options) > 0 && !slices.ContainsFunc(r.options, func(option string) bool {
		return !strings.Contains(strings.ToLower(option), "version") && !strings.EqualFold(option, "-v")
	})
}

// tables parses the programs and options from the source of the tables, so that additions are
// tested automatically.
func tables(t *testing.T) []row {
	t.Helper()
	files, err := filepath.Glob("../platform/shell/table*.go")
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			fields := map[string]string{}
			for _, e := range lit.Elts {
				kv, ok := e.(*ast.KeyValueExpr)
				if !ok {
					continue
				}
				key, ok := kv.Key.(*ast.Ident)
				if !ok {
					continue
				}
				ast.Inspect(kv.Value, func(n ast.Node) bool {
					if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING {
						if v, err := strconv.Unquote(s.Value); err == nil {
							fields[key.Name] += " " + v
						}
					}
					return true
				})
			}
			for _, name := range strings.Fields(fields["name"]) {
				if strings.Contains(file, "git") {
					name = "git " + name
				}
				name = strings.ReplaceAll(name, "_", " ")
				if strings.Contains(file, "traits") {
					continue // no options
				}
				rows = append(rows, row{name, strings.Fields(fields["reads"] + " " + fields["options"]), strings.Contains(file, "output")})
			}
			return true
		})
	}
	if len(rows) < 80 {
		t.Fatalf("the tables have %d programs: their format is not as %T expects", len(rows), row{})
	}
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.name, b.name) })
	return rows
}

// A grammar generates command lines: programs from the tables and others, with options that
// they have and do not have, over the files of the stage, in shell constructs.
type grammar struct {
	*rand.Rand
	rows  []row
	decks map[string][]int // see deal
	stage *stage
	tame  bool // hostile elements are rare in this line, so that it probably runs
	calm  bool // no hostile elements, so that it can run outside a jail
}

func (s *stage) grammar(t *testing.T, seed uint64) *grammar {
	t.Helper()
	return &grammar{Rand: rand.New(rand.NewPCG(seed, seed)), rows: tables(t), decks: map[string][]int{}, stage: s}
}

func (g *grammar) one(of ...string) string { return of[g.IntN(len(of))] }

// deal returns a number below n, and repeats none before all have been returned, so that fewer
// lines cover as many kinds. Each name has its own sequence.
func (g *grammar) deal(name string, n int) int {
	if len(g.decks[name]) == 0 {
		g.decks[name] = g.Perm(n)
	}
	first := g.decks[name][0]
	g.decks[name] = g.decks[name][1:]
	return first
}

// some returns true n times in 100.
func (g *grammar) some(n int) bool { return g.IntN(100) < n }

// hostile returns true n times in 100, or much less often in a tame line.
func (g *grammar) hostile(n int) bool {
	switch {
	case g.calm:
		return false
	case g.tame:
		return g.IntN(2500) < n
	}
	return g.some(n)
}

// line returns a command line.
func (g *grammar) line() string {
	g.tame = g.some(70)
	line := g.list(2)
	if g.hostile(10) {
		line = g.mutate(line)
	}
	return g.stage.fill(line)
}

// mutate damages a line in ways that a grammar would not.
func (g *grammar) mutate(line string) string {
	if line == "" {
		return line
	}
	at := g.IntN(len(line))
	switch g.IntN(4) {
	case 0:
		return line[:at] + line[at+1:]
	case 1:
		return line[:at] + g.one(`"`, "'", "`", "$", "\\", "\n", ";", "&", "|", ">", "<", "(", ")", "{", "}", "[", "]", "*", "~", "#", "!", " ", "\t", "\r", "=", "é") + line[at:]
	case 2:
		return line + " " + line[at:]
	}
	return line[at:] + " " + line[:at]
}

// list returns joined commands, with constructs up to a depth.
func (g *grammar) list(depth int) string {
	line := g.piped(depth)
	for g.some(18) {
		line += g.one(" && ", " || ", "; ", "\n") + g.piped(depth)
	}
	return line
}

func (g *grammar) piped(depth int) string {
	line := g.compound(depth)
	for g.some(22) {
		line += g.one(" | ", " | ", " | ", " |& ") + g.filter(depth)
	}
	if g.some(3) {
		line = g.one("! ", "time ", "time -p ") + line
	}
	return line
}

// filter returns a command that reads another's output.
func (g *grammar) filter(depth int) string {
	if g.some(20) {
		return g.compound(depth)
	}
	if g.hostile(15) {
		return g.one("sh", "bash", "tee made", "tee -a made", "xargs touch", "xargs -I{} {}", "xargs sh -c", "xargs -a list cat", "xargs sort -o made", "while read PATH; do ls; done", "while read x[1]; do ls; done", "cat > made", "dd of=made", "sed -n 'w made'", "awk '{print > \"made\"}'")
	}
	switch g.IntN(9) {
	case 0:
		return "xargs " + g.one("", "-n1 ", "-0 ", "-I{} ", "-r ", "-n 2 ", "-P2 ", "-t ", "-d, ", "-L1 ", "-a names ") + g.one("echo", "cat", "ls -l", "wc -l", "grep alpha", "head -1", g.simple())
	case 1:
		return "while read " + g.one("", "-r ") + g.one("x", "f", "a b") + "; do " + g.simple() + "; done"
	case 2:
		return g.one("head", "tail") + g.one("", " -1", " -n 2", " -c 5")
	case 3:
		return g.one("sort", "sort -u", "sort -n", "uniq -c", "sort -k2", "uniq", "wc -l", "tr a b", "cut -d, -f1", "tac", "rev", "cat -n", "nl")
	case 4:
		return "grep " + g.one("", "-v ", "-c ", "-i ", "-E ", "-f patterns ") + g.one("alpha", "'a.*'", "x", "-e a")
	case 5:
		return g.sed() + g.one("", "", " -")
	case 6:
		return g.awk()
	}
	return g.one("cat", "cat -", "jq .", "od -c", "base64", "md5sum", "xxd", "paste -s", "column -t", "fold -w 20", "tee /dev/null", "tee /dev/stderr", "less", "more", "read x", "mapfile -t x")
}

// compound returns a construct, or a simple command at depth 0.
func (g *grammar) compound(depth int) string {
	if depth == 0 || g.some(68) {
		return g.redirected(g.simple())
	}
	in := func() string { return g.list(depth - 1) }
	switch g.IntN(14) {
	case 0:
		name := g.one("f", "x", "i", "file")
		if g.hostile(10) {
			name = g.one("PATH", "IFS", "LD_PRELOAD", "GIT_DIR", "HOME")
		}
		return "for " + name + " in " + g.words(1, 3) + "; do " + in() + "; done"
	case 1:
		return "for ((i=0; i<" + g.one("2", "3", "n", "${#x}") + "; i++)); do " + in() + "; done"
	case 2:
		return g.one("while", "until") + " " + g.one("false", "read x", "[ -f nosuch ]", "((0))") + "; do " + in() + "; break; done" + g.one("", " < a.txt", " < "+g.file(), " <<< x")
	case 3:
		return "if " + g.test() + "; then " + in() + "; " + g.one("", "else "+in()+"; ", "elif "+g.test()+"; then "+in()+"; ") + "fi"
	case 4:
		return "case " + g.word() + " in " + g.one("a*", "*.txt|x", "[a-z]", "*") + ") " + in() + ";; *) " + in() + ";; esac"
	case 5:
		return "(" + in() + ")"
	case 6:
		return "{ " + in() + "; }"
	case 7:
		return g.test()
	case 8:
		return g.assignment() + "; " + in()
	case 9:
		return g.one("cd ", "cd -P ", "pushd ", "cd ") + g.place() + g.one(" && ", "; ") + in() + g.one("", "", "; popd", "; cd -")
	case 10:
		return "f() { " + in() + "; }; f"
	case 11:
		return g.one("echo", "printf %s", "cat", "ls", "test -n") + " \"$(" + in() + ")\""
	case 12:
		return g.one("cat", "diff a.txt", "wc -l", "sort", "comm a.txt") + " <(" + in() + ")"
	}
	return g.redirected("{ " + in() + "; }")
}

// test returns a condition.
func (g *grammar) test() string {
	switch g.IntN(6) {
	case 0:
		return "[ " + g.one("-f", "-d", "-e", "-s", "-x", "-r", "-L", "-n", "-z", "-p", "-S", "-N", "-O", "-a", "-t") + " " + g.word() + " ]"
	case 1:
		return "[[ " + g.one("-f", "-d", "-e", "-n", "-z", "-o") + " " + g.word() + " ]]"
	case 2:
		return "[[ " + g.word() + " " + g.one("==", "!=", "=~", "<", "-nt", "-ef") + " " + g.word() + " ]]"
	case 3:
		return "test " + g.word() + " " + g.one("=", "!=", "-nt", "-ot", "-ef") + " " + g.word()
	case 4:
		return "((" + g.arithmetic() + "))"
	}
	if g.hostile(40) {
		return g.one("[[ -v 'a[$(touch made)]' ]]", "test -v "+g.word(), "[ "+g.word()+" -eq 1 ]", "[[ "+g.word()+" -lt 3 ]]", "[[ -R x ]]", "[ -v a[0] ]")
	}
	return g.simple()
}

func (g *grammar) arithmetic() string {
	if g.hostile(25) {
		return g.one("a[$(ls)]", "'a[$(touch made)]'", "PATH=1", "a[$(touch made)]", "$(touch made)", "$x", "a[x]=1", "${x:-a[$(touch made)]}")
	}
	return g.one("1+2", "x", "x+1", "n > 3", "x=1", "i++", "a[0]", "a[x]", "1<<2", "x ? 1 : 2", "$n * 2", "${#x}", "$(wc -l < a.txt)", "RANDOM", "2**8", "0x1f", "x,y")
}

func (g *grammar) assignment() string {
	name, value := g.one("x", "y", "f", "n", "a", "i", "files", "dir", "count"), g.one(g.word(), g.word(), "$("+g.simple()+")", "$(("+g.arithmetic()+"))", "("+g.words(1, 3)+")", "C", "1", "", "'a b'")
	if g.hostile(25) {
		name = g.one("PATH", "IFS", "LANG", "LC_ALL", "TZ", "LD_PRELOAD", "GIT_DIR", "GIT_PAGER", "PAGER", "BASH_ENV", "PS4", "HOME", "CDPATH", "TMPDIR", "GIT_EXTERNAL_DIFF", "COLUMNS", "LS_COLORS", "RANDOM", "BASH_CMDS[ls]", "DIRSTACK[0]")
	}
	if g.hostile(15) {
		value = g.one("@WS@/evil.so", "bin", "'a[$(touch made)]'", "'$(touch made)'", "-omade", "'-o made'", "key")
	}
	return g.one("", "", "", "", "", "", "export ", "declare ", "local ", "readonly ", "declare -i ", "typeset -x ") + name + g.one("=", "=", "=", "=", "+=", "[0]=") + value
}

// redirected adds redirections to a command.
func (g *grammar) redirected(command string) string {
	for g.some(12) {
		if g.hostile(45) {
			command += " " + g.one("> made", ">> made", "2> made", ">| made", "&> made", "<> made", "> $x", "> "+g.file(), ">> "+g.file(), "{fd}> made", "< /dev/tcp/127.0.0.1/1", "> /dev/udp/127.0.0.1/9", "<<E\nbody $(touch made)\nE\n", "> >(cat)", "3<> a.txt", "> /dev/shm/made", ">& made", "< key")
			continue
		}
		command += " " + g.one(
			"2>/dev/null", "2>/dev/null", "2>&1", ">/dev/null", "&>/dev/null", "< a.txt", "< "+g.file(), "<<< "+g.word(), "< <("+g.simple()+")", "> /dev/stderr", ">&2", "3>&1", "3< a.txt", "<&-", ">&-", "2>&3", "> /dev/fd/2", "{fd}< a.txt", ">&/dev/null", "<>/dev/null",
			"<<E\nbody $(ls) ${x:-"+g.one("d", "$(cat a.txt)", "`pwd`")+"}\nE\n", "<<'E'\nbody $(touch made)\nE\n", "<<-E\n\tbody\n\tE\n")
	}
	return command
}

// simple returns one command.
func (g *grammar) simple() string {
	var command string
	switch n := g.IntN(100); {
	case g.hostile(14):
		command = g.one("touch", "rm -f", "cp a.txt", "mv", "mkdir", "tee", "sh -c", "bash -c", "dash -c", "busybox", "python3 -c", "perl -e", "node -e", "eval", "./ls", "bin/ls", "./run.sh", "@WS@/bin/cat", "/proc/self/cwd/ls", "dd of=made", "ln -s", "chmod 600", "curl", "wget", "nc", "make", "zsh -c", "vim", "less", "man", "ssh", "install", "truncate -s0", "gzip", "tar xf", "xxd -r", "split", "kill", "$x", "$(echo ls)", "${x:-cat}", "mapfile -C ls -c 1 a", "hash -p ./ls ls;", "alias ls=touch;", "trap 'touch made' EXIT;", "unset 'a[$(touch made)]'", "let 'a[$(touch made)]'", "enable -f ./evil.so", "source", ".", "exec 4>", "printf -v 'a[$(touch made)]'", "read 'a[$(touch made)]' <<<", "coproc") + " " + g.words(0, 3)
	case n < 62:
		command = g.fromTable()
	case n < 71:
		command = g.gitCommand()
	case n < 76:
		command = g.sed() + " " + g.words(0, 2)
	case n < 81:
		command = g.awk() + " " + g.words(0, 2)
	case n < 87:
		command = g.find()
	case n < 95:
		command = g.one("echo", "printf '%s\\n'", "printf", "echo -e", "echo -n", ":", "true", "nosuch") + " " + g.words(0, 3)
	default:
		command = g.one("read x", "read -r x y", "read -a a", "mapfile -t a", "printf -v x %s", "declare -p", "set --", "set -e;", "set -x;", "shopt -s globstar;", "type", "type -a", "command -v", "hash", "alias", "trap 'ls' EXIT;", "unset", "let x=1;", "wait", "jobs", "ulimit -a", "umask", "times", "pwd", "dirs", "help", "enable", "export", "readonly", "compgen -c", "exec 3<", "kill -0 $$", "shift", "return", "exit", "cd", "popd", "caller", "test -v") + " " + g.words(0, 2)
	}
	switch {
	case g.hostile(8):
		command = g.one("env -C @HOME@", "sudo", "busybox", "eval", "env -S", "setsid", "exec", "nohup", "builtin", "command -p", "ionice -c3", "xargs", "coproc", "env PATH=bin", "env LD_PRELOAD=./evil.so") + " " + command
	case g.some(7):
		command = g.one("env", "env -i", "nice", "nice -n 5", "timeout 1", "timeout -k 1 1", "time", "command", "stdbuf -oL", "env -u HOME", "env LANG=C", "timeout --foreground 1") + " " + command
	}
	switch {
	case g.hostile(6):
		command = g.one("PATH=bin", "PATH=@WS@/bin:$PATH", "LD_PRELOAD=./evil.so", "GIT_DIR=evil/filter/.git", "GIT_EXTERNAL_DIFF=./evil.sh", "BASH_ENV=env.sh", "HOME=@OUT@", "TMPDIR=.", "IFS=x", "PS4='$(touch made)'", "GIT_CONFIG_GLOBAL=evil.inc", "TZ=:@HOME@/.netrc", "LC_ALL=../x") + " " + command
	case g.some(6):
		command = g.one("LANG=C", "LC_ALL=C", "TZ=UTC", "x=1", "NO_COLOR=1", "GIT_PAGER=cat", "PAGER=cat", "GIT_OPTIONAL_LOCKS=0", "COLUMNS=80") + " " + command
	}
	return command
}

// fromTable returns a command from the tables.
func (g *grammar) fromTable() string {
	r := g.rows[g.deal("rows", len(g.rows))]
	for r.writes && !g.hostile(30) || r.version() && !g.some(8) {
		r = g.rows[g.deal("rows", len(g.rows))]
	}
	words := []string{r.name}
	for n := g.IntN(3); n > 0; n-- {
		words = append(words, g.option(r))
	}
	if operands := g.words(0, 2); operands != "" {
		words = append(words, operands)
	}
	if g.some(5) {
		words = append(words, g.option(r))
	}
	return strings.Join(words, " ")
}

// option returns an option of the program, a damaged one, or an option of other programs.
func (g *grammar) option(r row) string {
	if g.hostile(22) {
		return g.one("-o made", "-omade", "--output=made", "--outp made", "-i", "-f list", "-f key", "--files0-from=list0", "-exec touch made \\;", "-delete", "-x", "-C @HOME@", "-T names", "--help", "--version", "-w made", "-R", "-L", "--", "-", "-@", "--pre ./evil.sh", "-0", "-e", "-s", "-D made", "--file=key", "--from-file=key", "--exec=./evil.sh", "-c 'touch made'", "--compress-program=./evil.sh", "-9", "-vvv", "--reference=key", "--follow", "-S 1k")
	}
	if len(r.options) == 0 {
		return g.one("", "--help", "--version", "-n")
	}
	spec := r.options[g.deal("options of "+r.name+strings.Join(r.options, " "), len(r.options))]
	name, kind, valued := strings.Cut(spec, ":")
	if name == "-#" {
		return "-" + strconv.Itoa(g.IntN(30))
	}
	long := strings.HasPrefix(name, "--")
	if !valued {
		switch {
		case long && g.hostile(10):
			return name[:max(3, len(name)-1-g.IntN(4))]
		case long && g.hostile(5):
			return name + "=" + g.word()
		case !long && g.hostile(10):
			return name + g.one("o", "i", "x", "f", "w", "e", "made", "=x", "L", "R")
		}
		return name
	}
	value := ""
	switch kind {
	case "N":
		value = g.one("1", "2", "5", "10", "0", "1,3", "2-", "-3", "2nr", ",", ":", "' '", "x", "$'\\t'", "'%n %s'", "a.txt", "'a b'", "$x")
	case "n":
		value = g.one("auto", "always", "never", "3")
	case "R":
		value = g.file()
	default:
		value = g.one("x", "1", "a.txt", "alpha")
	}
	if g.hostile(15) {
		value = g.one("x", "-1", "1k", "5 5", "$(echo 3)", "key", "./evil.sh", "'$(ls)'", g.file())
	}
	switch {
	case kind == "n" || long && g.some(60):
		return name + "=" + value
	case long && g.hostile(10):
		return name[:max(3, len(name)-2)] + "=" + value
	case !long && kind == "N" && g.some(40) || g.hostile(8):
		return name + value
	}
	return name + " " + value
}

func (g *grammar) gitCommand() string {
	where := g.one("", "", "", "", "", "", " -C src", " --no-pager", " -C .", " -C sub")
	if g.hostile(35) {
		where = g.one(" -C evil/"+g.evil(), " -C evil/"+g.evil(), " -C @OUT@", " -c core.pager=cat", " -c diff.external=./evil.sh", " --git-dir=evil/filter/.git", " -p", " -c alias.x=!ls", " --exec-path=bin", " -C cwdlink", " --literal-pathspecs", " --no-optional-locks", " --work-tree=@HOME@")
	}
	sub := g.one("status", "status -s", "diff", "diff HEAD~1", "diff --stat", "log", "log -p", "log --oneline -3", "log --format=%H", "log --stat -1", "show", "show HEAD", "show HEAD:a.txt", "blame a.txt", "branch", "branch -a", "branch -vv", "tag", "tag -l", "remote", "remote -v", "rev-parse HEAD", "rev-parse --show-toplevel", "ls-files", "ls-tree HEAD", "ls-tree -r HEAD", "cat-file -p HEAD", "cat-file -t HEAD", "grep alpha", "grep -n a", "rev-list HEAD", "rev-list --count HEAD", "for-each-ref", "show-ref", "check-ignore a.txt", "config --list", "config user.name", "config --get remote.origin.url", "describe --always", "shortlog -s HEAD", "reflog", "stash list", "merge-base HEAD HEAD", "name-rev HEAD", "diff-tree HEAD", "diff-index HEAD", "symbolic-ref HEAD", "count-objects", "worktree list", "cherry", "whatchanged", "version", "--version")
	if g.hostile(20) {
		sub = g.one("submodule status", "ls-remote", "fetch", "range-diff HEAD HEAD HEAD", "archive HEAD", "bundle verify x", "fsck", "gc", "help", "commit -m x", "checkout .", "add .", "hash-object a.txt", "notes list", "bisect log", "check-attr -a a.txt", "format-patch -1", "init made", "difftool", "st", "x", "diff-files", "var GIT_EDITOR")
	}
	tail := g.one("", "", "", " "+g.word(), " -- "+g.word(), " --stat", " -p")
	if g.hostile(20) {
		tail = g.one(" --output=made", " --textconv", " --ext-diff", " -O./evil.sh", " --no-index a.txt key", " --format=%GK", " ':(top)a.txt'", " --submodule=diff", " --ignore-submodules=none", " --dirty", " --stdin < names")
	}
	return "git" + where + " " + sub + tail
}

func (g *grammar) evil() string {
	return g.one("filter", "comment", "double", "bom", "textconv", "external", "fsmonitor", "gpg", "alias", "include", "worktree", "lazy", "credential", "common", "filter/sub", "file", "bare")
}

func (g *grammar) sed() string {
	address := g.one("", "", "1", "1,2", "$", "/a/", "/a/,/b/", "2!", "0~2", "/x/I", `\,a,`, "1,+1", "1,~2", "$!")
	command := g.one("p", "p", "d", "s/a/b/", "s/a/b/g", "s/a/b/p", "s|a|b|2", "i\\ x", "a\\\nx", "c x", "y/ab/xy/", "=", "l", "q", "q1", "n;p", "N;P;D", "{p;d}", "h;G", ":a;s/a/x/;ta", "b", "F", "z", "s/a/$(id)/", "s/[/w]/x/", "#n", "s/a/b/m", "Q")
	if g.hostile(25) {
		command = g.one("s/.*/touch made/e", "s/a/b/w made", "w made", "W made", "r key", "R key", "r a.txt", "e touch made", "e", "{w made\n}", "}", "v", "s/a/b/ew made", "w /dev/stdout", "r /dev/stdin", "{e ls\n}")
	}
	flags := g.one("", "", "-n ", "-E ", "-n -e ", "-e ", "-s ", "--quiet ", "--sandbox ", "-z ", "-u ", "--expression=", "--posix ")
	if g.hostile(15) {
		flags = g.one("-i ", "-ni ", "-f w.sed ", "-f e.sed ", "-f p.sed ", "--in-place ", "--in-pl=x ", "-f key ", "-i.bak -e ", "--follow-symlinks -i ")
	}
	return "sed " + flags + "'" + address + command + "'"
}

func (g *grammar) awk() string {
	program := g.one("{print}", "{print $1}", "NR==1", "NR>1 && $2 > 0", "/a/{n++} END{print n}", "BEGIN{print (1>2)}", "BEGIN{getline; print}", "{a[$1]++} END{for(k in a) print k, a[k]}", "{printf \"%s\\n\", $0}", "length > 3", "1", "{gsub(/a/,\"b\")}1", "$0 ~ /x|y/", "function f(x){return x} {print f($1)}", "BEGIN{print length()}", "{$1=\"\"}1", "!seen[$0]++", "NF>2{exit 3}", "{s+=$1} END{print s/NR}", "{print > \"/dev/stderr\"}", "{print > \"/dev/null\"}")
	if g.hostile(25) {
		program = g.one("BEGIN{print 1>2}", "{print > \"made\"}", "{print | \"cat\"}", "BEGIN{system(\"touch made\")}", "BEGIN{system(\"ls\")}", "BEGIN{while((getline x < \"key\")>0) print x}", "BEGIN{\"date\" | getline d; print d}", "BEGIN{print ENVIRON[\"HOME\"]}", "BEGIN{ARGV[1]=\"key\"} 1", "BEGIN{close(\"x\")}", "{print $1 | \"sort\"}", "BEGIN{printf \"x\" > ARGV[1]}", "@load \"x\"", "BEGIN{\"/inet/tcp/0/127.0.0.1/1\" |& getline}", "BEGIN{f=\"made\"; print 1 >> f}")
	}
	flags := g.one("", "", "", "-F, ", "-F: ", "-v x=1 ", "-v 'x=a b' ", "-- ")
	if g.hostile(12) {
		flags = g.one("-f print.awk ", "-f run.awk ", "-f key ", "-i inplace ", "-o made ", "-E run.awk ", "-W exec=run.awk ", "-S ", "--sandbox ", "-v 'x=\\057' ", "-l evil ", "-d made ", "-p ")
	}
	return g.one("awk", "awk", "awk", "gawk", "mawk") + " " + flags + "'" + program + "'"
}

func (g *grammar) find() string {
	where := g.one("", ".", ".", ".", "src", "sub", "d2", "src sub", "odd", "*")
	if g.hostile(25) {
		where = g.one("-L .", "-H homelink", "-P -L .", "homelink/", "@HOME@", "d1 d2", "ssh/", "$x", "-O3 .", "bin", "evil", "pipes", "-D help .")
	}
	parts := []string{"find", where, g.one("", "-maxdepth 1", "-maxdepth 2")}
	for n := 1 + g.IntN(2); n > 0; n-- {
		if g.hostile(25) {
			parts = append(parts, g.one("-newer key", "-delete", "-fprint made", "-fls made", "-fprintf made %p", "-ok ls \\;", "-follow", "-samefile key", "-files0-from list0", "-execdir ls {} \\;", "-exec sh -c 'touch made' \\;", "-exec touch {} \\;", "-exec {} \\;", "-exec sort -o {} {} \\;", "-exec git -C {} status \\;", "-exec ./evil.sh \\;", "-exec uniq {} {} \\;"))
			continue
		}
		parts = append(parts, g.one("-name '*.txt'", "-type f", "-type d", "-name a.txt", "-iname 'A*'", "-size +1", "-newer a.txt", "-mtime -1", "-perm -4", "-empty", "-not -name x", "! -name y", "-path './src/*' -prune -o", "-print", "-print0", "-printf '%p\\n'", "-ls", "-quit", "-regex '.*x'", "-xdev", "-user root", "-lname '*'", "-links 1", "-readable",
			"-exec "+g.fromTable()+" {} \\;", "-type f -exec cat {} \\;", "-exec grep a {} +", "-exec ls -l {} +", "-exec wc -l {} \\; -print", "-exec sed -n 1p {} \\;", "-exec test -f {} \\; -print"))
	}
	return strings.Join(parts, " ")
}

// words returns between from and to words.
func (g *grammar) words(from, to int) string {
	n := from + g.IntN(to-from+1)
	list := make([]string, n)
	for i := range list {
		list[i] = g.word()
	}
	return strings.Join(list, " ")
}

// word returns an argument: a file, a text, or something the shell expands.
func (g *grammar) word() string {
	if g.hostile(15) {
		return g.one("'a[$(touch made)]'", "'$(touch made)'", "${x:=made}", "$HOME/.ssh/id_rsa", "~", "~/.ssh", "~+", "~-", "${x@P}", "${!x}", "${a[$(touch made)]}", "$[1+1]", "$(cat list)", "$(echo -omade)", "$(<key)", "$(cat key)", "$(touch made)", "$(echo key)", "odd/*", "ssh/*", "@HOME@/.*", "../*", "k*", "{-o,made}", "{key,a.txt}", "d?/k", "homelink/.ss*/*", ".*", "-*", "./-*", "*=*", "/etc/pass*", "/proc/self/*", "$x$x", "-omade", "--output=made", "$IFS", "${x:-$(cat key)}", "`cat key`", "$OLDPWD")
	}
	switch n := g.IntN(100); {
	case n < 60:
		return g.file()
	case n < 75:
		return g.one("alpha", "x", "1", "a=b", "x=y", "'a b'", "\"a b\"", "''", "+x", "%s", "'%d'", "HEAD", "HEAD~1", "main", "'.*'", "a,b", ":", "'*'", "é", "$'a\\nb'", "1+1", "root", "\\$x", "-", "--")
	case n < 86:
		return g.one("*.txt", "?.txt", "[ab].txt", "[!a]*", "src/*", "src/*.go", "*/", "**/*.go", "sub/*.txt", "./*", "{a,b}.txt", "{1..3}", "a.{txt,md}", "dir\\[x\\]/*", "[[:upper:]]*", "*")
	case n < 95:
		return g.one("$x", "\"$x\"", "${x}", "${x:-a.txt}", "$HOME", "$PWD", "\"$PWD\"/a.txt", "$?", "$$", "$PPID", "$#", "$@", "\"$@\"", "$1", "${#x}", "${x%.txt}", "${x/a/b}", "${x^^}", "${x@Q}", "${a[0]}", "${a[@]}", "$((1+2))", "$((x))", "$RANDOM", "$-", "${x:0:1}", "$0", "${PATH}", "$UID", "$BASH_VERSION", "\"$f\"", "$i")
	}
	return "$(" + g.one("ls", "pwd", "cat names", "echo a.txt", "git rev-parse HEAD", "basename a.txt .txt", "< a.txt", "date +%s", "find . -maxdepth 1 -name 'a*'", "seq 3", "printf a.txt", "wc -l < a.txt") + ")"
}

// file returns a file name from the stage.
func (g *grammar) file() string {
	switch {
	case g.hostile(1):
		return g.one("pipes/fifo", "pipes", "pipes/*")
	case g.hostile(22):
		return g.one("key", "a=b", "./a=b", "5", "ssh", "ssh/id_rsa", "homelink", "homelink/.netrc", "conf/rc", "d1", "d1/k", "sub/link", "outlink", "outlink/secret.txt", "up", "up/home/.netrc", "etclink/shadow", "proclink/environ", "envlink", "shadow", "loop", "dangling", "dash", "cwdlink/key", "here/here/a.txt", "evil/"+g.evil(), "@args", "list", "list0", "w.sed", "run.awk", "evil.so", "bin/ls", "./ls", "sock", ".env", ".git/config", ".git/hooks", "'new\nline.txt'", "'tail '", "./-o", "-- -o", "'--output=x'", "-f", "-rf", "script.sh", "magic", "x=y/../key")
	case g.hostile(15):
		return g.one("@HOME@/.ssh/id_rsa", "@HOME@", "@HOME@/.netrc", "@OUT@/secret.txt", "@OUT@", "..", "../home/.ssh", "../outside/secret.txt", "src/../../home/.netrc", "/etc/shadow", "/proc/self/environ", "/proc/self/status", "/proc/1/environ", "/proc/self/root/etc/shadow", "/proc/self/fd/3", "/proc/self/cwd/a.txt", "/dev/stdin", "/dev/zero", "/dev/tty", "/dev/fd/0", "/root", "/tmp", "/", "/etc", "//etc//passwd", "/sys/kernel", "/var/log", "/run")
	}
	return g.one("a.txt", "a.txt", "b.txt", "README.md", "main.go", "src", "src/a.go", "src/deep", "data.csv", "data.json", "log.txt", ".", "./", "sub", "sub/one.txt", "nosuch", "'c d.txt'", "c\\ d.txt", "inner", "innerdir", "x.tar", "x.gz", "names", "patterns", "print.awk", "p.sed", "d2", "Makefile", ".hidden", "x=y.txt", "./x=y/z.txt", "odd/plain", "'dir[x]/f'", "/dev/null", "a.txt/", "./a.txt", "src/../a.txt", "UPPER.TXT", "utf8-é.txt", "/etc/passwd", "/etc/os-release", "/etc/hosts", "/proc/cpuinfo", "@WS@/a.txt", "@WS@/src", "/usr/bin/ls", "/usr/share/common-licenses/BSD")
}

// place returns a directory to change to.
func (g *grammar) place() string {
	if g.hostile(40) {
		return g.one("..", "evil/"+g.evil(), "evil/"+g.evil(), "homelink", "@HOME@", "-", "~", "$x", "up", "@OUT@", "/", "/usr", "bin", "odd", "d1")
	}
	return g.one("src", "sub", "src/deep", ".", "innerdir", "nosuch", "a.txt", "cwdlink", "\"$PWD\"", "here", "''", "src/..", "@WS@", "@WS@/src")
}
