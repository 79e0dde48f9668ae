package skill

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func expand(t *testing.T, s *Skill, body, args string) string {
	t.Helper()
	pieces, err := s.Expand(body, args, Vars{SkillDir: "/skills/x", SessionID: "s1", ProjectDir: "/my project"})
	if err != nil {
		t.Fatalf("%q with %q: %v", body, args, err)
	}
	var b strings.Builder
	for _, p := range pieces {
		if p.Command {
			b.WriteString("<" + p.Text + ">")
		} else {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// Proves SKILL-17, X-188.
func TestExpandFillsInArguments(t *testing.T) {
	own := &Skill{Origin: Origin{Kind: User}, Head: Head{Arguments: []string{"file", "to"}}}
	for _, c := range []struct{ body, args, want string }{
		{"do $ARGUMENTS now", "a b", "do a b now"},
		{"$ARGUMENTS[0]-$ARGUMENTS[1]", `one "two three"`, "one-two three"},
		{"$0, $1, $2.", `'a b' c`, "a b, c, ."},
		{"copy $file to $to; $files stay", "x y", "copy x to y; $files stay"},
		{"nothing here", "a b", "nothing here\n\nARGUMENTS: a b"},
		{"nothing here", "", "nothing here"},
		{"none: [$ARGUMENTS] [$0]", "", "none: [] []"},
		{`price \$1, \$ARGUMENTS, \$file and \$other`, "", `price $1, $ARGUMENTS, $file and \$other`},
		{`price \$1`, "x", "price $1\n\nARGUMENTS: x"},
		{"$ARGUMENTS", "$0 $ARGUMENTS ${CLAUDE_SKILL_DIR} !`id`", "$0 $ARGUMENTS ${CLAUDE_SKILL_DIR} !`id`"},
		{"$1", `a "b c`, `"b c`},
		{"$0|$1", `it's a test`, `it's a test|`},
		{"$0|$1|$2", `C:\dir\x a\ b "q\"q"`, `C:\dir\x|a b|q"q`},
		{"$ARGUMENTSX $ARGUMENTS[x] $ARGUMENTS[", "v", "$ARGUMENTSX v[x] v["},
		{"$1000 $12 $", "v", "$1000  $"},
		{"${ADZE_SKILL_DIR} ${CLAUDE_SKILL_DIR} ${ADZE_SESSION_ID} ${CLAUDE_SESSION_ID}", "", "/skills/x /skills/x s1 s1"},
		{"${CLAUDE_PROJECT_DIR} ${CLAUDE_PLUGIN_ROOT} ${HOME} ${", "", "/my project ${CLAUDE_PLUGIN_ROOT} ${HOME} ${"},
		{"${CLAUDE_SKILL_DIR}", "x", "/skills/x\n\nARGUMENTS: x"},
	} {
		if got := expand(t, own, c.body, c.args); got != c.want {
			t.Errorf("%q with %q:\n%q, want\n%q", c.body, c.args, got, c.want)
		}
	}
}

func TestExpandFindsCommands(t *testing.T) {
	own := &Skill{Origin: Origin{Kind: Project}}
	for _, c := range []struct{ body, want string }{
		{"!`git status`", "<git status>"},
		{"a: !`x` and !`y`.", "a: <x> and <y>."},
		{"a!`x` b", "a!`x` b"},
		{"`!`x``", "`!`x``"},
		{"! `x`, !`` !`open", "! `x`, !`` !`open"},
		{"a\n```!\none\ntwo\n```\nb", "a\n<one\ntwo>\nb"},
		{"```!\none\n", "```!\none\n"},
		{"```! inline\n```", "```! inline\n```"},
		{"  ```!\r\n  one\r\n  ```\r\nb", "  <one>\r\nb"},
		{"```\n!`in code`\n```", "```\n<in code>\n```"},
		{"!`bash ${CLAUDE_SKILL_DIR}/run.sh ${CLAUDE_PROJECT_DIR}`", "<bash /skills/x/run.sh '/my project'>"},
	} {
		if got := expand(t, own, c.body, ""); got != c.want {
			t.Errorf("%q:\n%q, want\n%q", c.body, got, c.want)
		}
	}
}

// Proves SKILL-18, MCP-47.
func TestExpandLeavesWordsOfOthersAlone(t *testing.T) {
	for _, kind := range []Kind{Server, Remote} {
		s := &Skill{Origin: Origin{Kind: kind, By: "x"}}
		if got := expand(t, s, "!`id` $ARGUMENTS ${CLAUDE_SKILL_DIR}", "a"); got != "!`id` $ARGUMENTS ${CLAUDE_SKILL_DIR}\n\nARGUMENTS: a" {
			t.Errorf("%v: %q", kind, got)
		}
	}
}

// Proves SKILL-17, SKILL-18.
func TestArgumentsAreQuotedInCommands(t *testing.T) {
	s := &Skill{Origin: Origin{Kind: User}}
	for _, c := range []struct{ command, args, want string }{
		{"gh pr view $0", "12", "gh pr view 12"},
		{"gh pr view $0", "", "gh pr view "},
		{"git log $ARGUMENTS", "--oneline 'a b'", "git log --oneline 'a b'"},
		{"git log $ARGUMENTS", "; rm -rf ~", "git log ';' rm -rf '~'"},
		{`grep "$ARGUMENTS" .`, "a$(id)`id`\"\\", "grep \"a\\$(id)\\`id\\`\\\"\\\\\" ."},
		{"grep '$ARGUMENTS' .", "it's; id", `grep 'it'\''s; id' .`},
		{"x=$ARGUMENTS make", "a id", "x='a id' make"},
		{"cat src/$0.go", "a;b", "cat src/'a;b'.go"},
		{"echo $(cat $0)", "a b", "echo $(cat a)"},
		{`bash run.sh "$ARGUMENTS"`, "a; b", `bash run.sh "a; b"`},
		{"bash run.sh $ARGUMENTS", "-c 'x y'", "bash run.sh -c 'x y'"},
		{`bash -c "grep $0"`, "abc", `bash -c "grep abc"`},
		{"find . -name $0", "'*.go'", "find . -name '*.go'"},
		{"echo $0 | grep bash", "'a b'", "echo 'a b' | grep bash"},
		{"echo $0 | bash run.sh", "'a b'", "echo 'a b' | bash run.sh"},
		{"diff <(echo $0) x", "'a b'", "diff <(echo 'a b') x"},
		{"flock lock make $0", "'a b'", "flock lock make 'a b'"},
	} {
		pieces, err := s.Expand("!`"+strings.ReplaceAll(c.command, "`", "")+"`", c.args, Vars{})
		if err != nil || len(pieces) != 1 || pieces[0].Text != c.want {
			t.Errorf("%s with %s: %v, %v, want %s", c.command, c.args, pieces, err, c.want)
		}
	}
	for _, c := range []struct{ command, args string }{
		{`bash -c "grep $0"`, "';id'"},
		{`bash -lc 'grep $0'`, "';id'"},
		{`eval "$0"`, "'id;'"},
		{"python3 -c 'print($0)'", "'__import__()'"},
		{"python3 $ARGUMENTS", "-c 'import os'"},
		{"$ARGUMENTS", "rm -rf x"},
		{`env $0 -c "$1"`, "bash 'id; id'"},
		{"cat <<E\n$0\nE", "'$(id)'"},
		{"echo $((1+$0))", "'a[$(id)]'"},
		{"echo ${x:-$0}", "'$(id)'"},
		{"[[ $0 -eq 1 ]]", "'a[$(id)]'"},
		{"[ $0 -eq 1 ]", "'a[$(id)]'"},
		{"echo $'$0'", `'\x27;id'`},
		{"echo 'unbalanced $0", "'a;b'"},
		{"case $0 in x) ;; esac", "'$(id)'"},
		{"true # $0", "'a\nid'"},
		{"awk /$0/", `'{system("id")}'`},
		{"echo $ARGUMENTS | bash", "$(id)"},
		{`echo "echo $0" | sh`, "'; id'"},
		{`{ date; echo "echo $0"; } | sudo -n bash -s x`, "'; id'"},
		{`echo "print($0)" | python3 -`, "'__import__()'"},
		{`bash <<< "echo $0"`, "'; id'"},
		{`bash <(echo "echo $0")`, "'; id'"},
		{`. <(echo "echo $0")`, "'; id'"},
		{`flock lock -c "echo $0"`, "'; id'"},
		{`script -qc "echo $0" /dev/null`, "'; id'"},
	} {
		if pieces, err := s.Expand("```!\n"+c.command+"\n```", c.args, Vars{}); err == nil {
			t.Errorf("%s with %s: %v", c.command, c.args, pieces)
		}
	}
	power := &Skill{Origin: Origin{Kind: User}, Head: Head{Shell: "powershell"}}
	if _, err := power.Expand("!`Get-Item $0`", "';id'", Vars{}); err == nil {
		t.Error("PowerShell received text that could be code")
	}
}

// TestArgumentsNeverBecomeCode checks that a shell passes any arguments to the program
// unchanged, and runs nothing else.
//
// Proves SKILL-17, SKILL-18.
func TestArgumentsNeverBecomeCode(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	show := filepath.Join(dir, "show")
	if err := os.WriteFile(show, []byte("#!/bin/sh\nfor a in \"$@\"; do printf '[%s]' \"$a\"; done\necho\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	templates := []string{
		"show $0", `show "$0"`, "show '$0'", "show a$0.b", `show "a $0 b"`, `show "$(show '$0')"`, `x=$0; show "$x"`, "for i in $0; do show \"$i\"; done",
		"show $ARGUMENTS", `show "$ARGUMENTS[0]" $ARGUMENTS[1]`, "show $0 | cat", "if true; then show $0; fi", `{ show "$(show "$0")"; }`, "show $0 2>&1",
	}
	atoms := []string{"'", `"`, "`", "$", "(", ")", ";", "&", "|", "\n", " ", "\\", "!", "#", "{", "}", "<", ">", "*", "?", "~", "=", "[", "]", "a", "touch pwned", "$(touch pwned)", "`touch pwned`", "-x", "$0", "EOF", "\x01", "é"}
	r := rand.New(rand.NewPCG(1, 2))
	var script strings.Builder
	var want []string
	for range 400 {
		var value strings.Builder
		for range 1 + r.IntN(6) {
			value.WriteString(atoms[r.IntN(len(atoms))])
		}
		word := strings.TrimSpace(value.String())
		if word == "" {
			continue
		}
		args := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(word) + `"`
		if got := SplitArguments(args); !slices.Equal(got, []string{word}) {
			t.Fatalf("%q is split into %q", args, got)
		}
		template := templates[r.IntN(len(templates))]
		f := filler{vars: &Vars{}, raw: args, words: []string{word}}
		line, err := f.command(template, "")
		if err != nil {
			t.Fatalf("%s with %q: %v", template, word, err)
		}
		script.WriteString("{ " + line + "\n}; printf '\\0'\n")
		// Repeat with a plain word, which is then replaced by the argument.
		g := filler{vars: &Vars{}, raw: "WORD", words: []string{"WORD"}}
		tame, err := g.command(template, "")
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, tame+"\x00"+word)
	}
	run := func(script string) string {
		cmd := exec.Command(bash, "--norc", "-c", script)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + dir + ":/usr/bin:/bin", "LC_ALL=C"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	got := strings.Split(run(script.String()), "\x00")
	var tame strings.Builder
	for _, w := range want {
		line, _, _ := strings.Cut(w, "\x00")
		tame.WriteString("{ " + line + "\n}; printf '\\0'\n")
	}
	for i, out := range strings.Split(run(tame.String()), "\x00") {
		if i >= len(want) {
			break
		}
		line, word, _ := strings.Cut(want[i], "\x00")
		if diff := cmp.Diff(strings.ReplaceAll(out, "WORD", word), got[i]); diff != "" {
			t.Errorf("%s with %q:\n%s", line, word, diff)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("commands in arguments ran: %v, %v", entries, err)
	}
}

func FuzzExpand(f *testing.F) {
	f.Add("do $ARGUMENTS !`cat $0 \"$1\"` ${CLAUDE_SKILL_DIR}\n```!\nx '$0'\n```\n", `a "b c`)
	f.Add("```!\ncat <<E\n$0\nE\n```", "$(id)")
	f.Add("!`x=$0 $(y \"$1\" `z`) [[ $0 ]]`", "a'b")
	f.Fuzz(func(t *testing.T, body, args string) {
		s := &Skill{Origin: Origin{Kind: User}, Head: Head{Arguments: []string{"name"}}}
		pieces, err := s.Expand(body, args, Vars{SkillDir: "/d"})
		if err != nil {
			return
		}
		// The same commands are found with and without arguments.
		count := func(pieces []Piece) (n int) {
			for _, p := range pieces {
				if p.Command {
					n++
				}
			}
			return n
		}
		if n := count(split(body)); count(pieces) != n {
			t.Errorf("%d commands became %d", n, count(pieces))
		}
	})
}
