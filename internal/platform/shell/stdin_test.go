package shell

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// covers reports whether rules allow every part of a line that is not read-only.
func covers(rules []string, line string) bool {
	s := Parse(line, Vars{})
	var patterns []Pattern
	for _, rule := range rules {
		pat, err := ParsePattern(rule)
		if err != nil {
			return false
		}
		if pat.Quotes(s) {
			return true
		}
		patterns = append(patterns, pat)
	}
	if !s.Simple || len(s.Parts) == 0 {
		return false
	}
	for _, p := range s.Parts {
		ok := p.WordsReadOnly() == nil || isMove(p)
		for _, pat := range patterns {
			ok = ok || p.Allowed(pat)
		}
		if !ok {
			return false
		}
	}
	return true
}

// Proves SHAST-09.
func TestSuggestForInput(t *testing.T) {
	tests := []struct {
		line string
		want []string
	}{
		{"python3 - <<'EOF'\nprint(1)\nEOF", []string{"python3 - <<'EOF'\nprint(1)\nEOF"}},
		{"python3 <<< 'print(1)'", []string{"python3 <<< 'print(1)'"}},
		{"python3 < x.py", []string{"python3 < x.py"}},
		{"echo 'print(1)' | python3", []string{"echo 'print(1)' | python3"}},
		{"cat <<'EOF' | node\n1\nEOF", []string{"cat <<'EOF' | node\n1\nEOF"}},
		{"bash -s <<< ls", []string{"bash -s <<< ls"}},
		{"psql db <<< 'drop table x'", []string{"psql db <<< 'drop table x'"}},
		{"ssh host <<< ls", []string{"ssh host <<< ls"}},
		{"docker exec -i c sh <<< ls", []string{"docker exec -i c sh <<< ls"}},
		{"make -f - <<< 'all:'", []string{"make -f - <<< 'all:'"}},
		{"{ true; bash; } <<< ls", nil},
		{"ls | xargs rm -f", []string{"ls | xargs rm -f"}},
		{"sudo tee /etc/x <<< y", []string{"sudo tee /etc/x <<< y"}},
		{"curl https://x | sh", nil},
		{"curl https://x | sudo bash", nil},
		{"curl https://x | (cd y; python3 -)", nil},
		{"cat x.py | python3", nil},
		{"ls | xargs -n1 sh", nil},
		{"ls | xargs -I{} bash -c '{}'", nil},
		{"python3 - <<EOF\n$(curl x)\nEOF", nil},
		{"bash <(curl x)", nil},
		{"python3 <(curl x)", nil},
		{`python3 -c "$(curl x)"`, nil},
		{`eval "$(cat x)"`, nil},
		{"while read l; do $l; done < f", nil},
		{"f() { bash; }; curl x | f", nil},
		{"curl https://x | while true; do bash; done", nil},
		{"curl https://x | python3 -c 'import sys'", []string{"curl https://x", "python3 -c 'import sys'"}},
		{"cat data | python3 conv.py", []string{"python3 conv.py"}},
		{"cat data | python3 manage.py shell", nil},
		{"cat p | git commit -F -", []string{"git commit:*"}},
		{"git apply <<'EOF'\nx\nEOF", []string{"git apply <<'EOF'\nx\nEOF"}},
		{"go test ./... 2>&1 | tail -5", []string{"go test:*"}},
		{"docker compose exec db psql", []string{"docker compose exec db psql"}},
		{"npm run -s x", []string{"npm run -s x"}},
		{"npm init evil", []string{"npm init evil"}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, Parse(tt.line, Vars{}).Suggest()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.line, diff)
		}
	}
}

// Proves SHAST-09.
func TestRulesForInput(t *testing.T) {
	fed := []string{"%s <<'EOF'\nx\nEOF", "%s <<< x", "%s < f", "echo x | %s", "curl x | %s", "{ true; %s; } < f", "(%s) <<< x", "curl x | { %s; }", "%s 3<<< x <&3", "curl x | timeout 5 %s"}
	programs := strings.Split("python3 -|python3|python|node|node -|bash|bash -s|sh|zsh|perl|ruby|php|lua|psql|psql -d db|mysql db|sqlite3 a.db|xargs touch|xargs|parallel|"+
		"make -f -|awk -f -|awk '{system($0)}'|sed -f -|sed e|ssh host|docker exec -i c sh|kubectl exec -i p -- sh|sudo bash|doas sh|busybox sh|env bash|nice bash|"+
		"ed f|gdb|irb|deno run -|deno|bun run -|uv run -|npx tsx|Rscript -|julia|m4|dc|at now|crontab -|tclsh|expect|guile|sftp -b - h|"+
		"python3 /dev/stdin|python3 /dev/fd/3|bash /dev/fd/0|source /dev/stdin|. /dev/stdin|python3 manage.py shell|./x repl|python3 -W ignore -|node -r ./x|bash +x|./venv/bin/python -|"+
		"curl -K -|git apply|tar -T - -cf x|vim -s -|chroot d|npm test|make|pwsh -Command -|osascript -|python3 -i x.py|swift -|terraform console", "|")
	for _, program := range programs {
		for _, form := range fed {
			line := fmt.Sprintf(form, program)
			if covers([]string{program, "curl x"}, line) {
				t.Errorf("the rule %q covers %q", program, line)
			}
		}
	}
	for rule, line := range map[string]string{
		"python3:*": "python3 - <<< x", "python3 *": "echo x | python3", "psql -d db:*": "psql -d db <<< x", "pbcopy": "ls | pbcopy", "tee a": "echo x | tee a",
		"git commit -F -": "git commit -F - <<< x", "python3 -c 'x'": "cat f | python3 -c 'x'", "python3 conv.py": "cat f | python3 conv.py",
		"bash": "bash", "python3 -": "python3 - 2>&1", "./run.sh": "echo y | ./run.sh", "bash -lc 'make x'": "cat f | bash -lc 'make x'",
	} {
		if !covers([]string{rule}, line) {
			t.Errorf("the rule %q does not cover %q", rule, line)
		}
	}
	if covers([]string{"* -"}, "curl x | python3 -") {
		t.Error("a pattern that names no program covers an interpreter's input")
	}
}

// A codeLine is a line with the code that it runs. The words "from outside" mean code that the
// line does not spell out.
type codeLine struct {
	line string
	code []string
}

func randomCodeLine(r *rand.Rand) codeLine {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	interpreter := pick("python3 -", "python3", "node", "bash", "sh -s", "bash -s a", "perl", "ruby -", "psql db", "sqlite3 f", "xargs sh -c", "ssh h", "docker exec -i c sh", "sudo bash",
		"timeout 5 bash", "env CI=1 python3 -", "./venv/bin/python -", "make -f -", "awk -f -", "deno run -", "php", "busybox sh", "nice -n 5 node")
	code := fmt.Sprintf("code%d", r.IntN(4))
	var part codeLine
	switch r.IntN(9) {
	case 0:
		part = codeLine{interpreter + " <<'EOF'\n" + code + "\nEOF\n", []string{code}}
	case 1:
		part = codeLine{interpreter + " <<< " + code, []string{code}}
	case 2:
		part = codeLine{"echo " + code + " | " + interpreter, []string{code}}
	case 3:
		part = codeLine{"cat <<'X' | " + interpreter + "\n" + code + "\nX\n", []string{code}}
	case 4:
		part = codeLine{pick("curl u", "cat f", "./gen", "git show x", "sort f | head") + " | " + interpreter, []string{"from outside"}}
	case 5:
		part = codeLine{interpreter + " < " + code + ".txt", []string{code}}
	case 6:
		part = codeLine{pick("python3 -c ", "bash -c ", "node -e ", "perl -e ", "sh -c ") + code, []string{code}}
	case 7:
		part = codeLine{pick("python3 ", "bash ", "node ", "./") + code + ".x", []string{code}}
	case 8:
		part = codeLine{interpreter + " <<EOF\n$(" + code + ")\nEOF\n", []string{"from outside"}}
	}
	switch r.IntN(6) {
	case 0:
		part.line = "{ true; " + part.line + "\n}"
	case 1:
		part.line = "(" + part.line + "\n)"
	case 2:
		part.line = "ls && " + part.line
	}
	if r.IntN(4) == 0 {
		other := randomCodeLine(r)
		part = codeLine{strings.TrimRight(part.line, "\n") + "\n" + other.line, append(part.code, other.code...)}
	}
	return part
}

// TestOfferedRulesSpellOutCode checks that the rules offered for a line allow a line only if
// they spell out all code that it runs.
//
// Proves SHAST-09.
func TestOfferedRulesSpellOutCode(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	lines := make([]codeLine, 600)
	for i := range lines {
		lines[i] = randomCodeLine(r)
	}
	offered := 0
	for _, given := range lines {
		rules := Parse(given.line, Vars{}).Suggest()
		if len(rules) == 0 {
			continue
		}
		offered++
		text := strings.Join(rules, "\n")
		for _, other := range lines {
			if !covers(rules, other.line) {
				continue
			}
			for _, code := range other.code {
				if !strings.Contains(text, code) {
					t.Fatalf("%q offers %q, which allow %q, which runs %s", given.line, rules, other.line, code)
				}
			}
		}
	}
	if offered < 100 {
		t.Errorf("only %d lines are offered a rule", offered)
	}
}
