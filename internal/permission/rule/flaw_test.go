package rule

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/permission/compat"
)

// TestFlaws checks that rules that can never match are detected, with a suggestion.
//
// Proves PERM-06, PERM-10.
func TestFlaws(t *testing.T) {
	base := t.TempDir()
	if err := os.MkdirAll(filepath.Join(base, "etc2"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(base, "a, b.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	flawed := []struct{ rule, want string }{
		{"bash", "unknown tool bash (did you mean Bash?)"},
		{"BASH(rm:*)", "did you mean Bash?"},
		{"Bsh(rm:*)", "did you mean Bash?"},
		{"read", "did you mean Read?"},
		{"Webfetch(domain:x.org)", "did you mean WebFetch?"},
		{"Writ", "did you mean Write?"},
		{"Kubernetes", "unknown tool Kubernetes"},
		{"mcp_db_query", "mcp__server__tool"},
		{"MCP__db", "mcp__server__tool"},
		{"Bash(rm:)", "no command is called rm:"},
		{"Bash(git:push)", "no command is called git:push"},
		{"Bash(*:rm)", "no command is called *:rm"},
		{"Bash(:rm)", "no command is called :rm"},
		{"Bash(command:rm *)", "no command is called command:rm"},
		{"Shell(rm: -rf)", "such as Shell(git push:*)"},
		{"Bash(rm:**)", "no command is called rm:**"},
		{"Bash(rm,mv)", "no command is called rm,mv; a rule has one pattern"},
		{"Bash(rm, mv)", "no command is called rm,"},
		{"Bash((rm|mv):*)", "no command is called (rm|mv)"},
		{"Bash(rm|mv *)", "no command is called rm|mv"},
		{"Bash({rm,mv}:*)", "its only wildcard is *"},
		{"Bash(r?)", "its only wildcard is *"},
		{"Bash(r[m]:*)", "its only wildcard is *"},
		{"Bash(!rm)", "no command is called !rm"},
		{`Bash(rm\ -rf:*)`, `no command is called rm\`},
		{"Bash(^rm)", "not a regular expression"},
		{"Bash(rm .*$)", "not a regular expression"},
		{"Bash(cd * && rm *)", `"&&" is never in one`},
		{"Bash(curl * | sh:*)", `"|" is never in one`},
		{"Bash(a; rm *)", `";" is never in one`},
		{"Bash(echo * > /etc/passwd)", `">" is never in one`},
		{"Bash(rm * &)", `"&" is never in one`},
		{"Bash(FOO=1 rm:*)", "leave the assignment out"},
		{"Read($HOME/.ssh/**)", "variables are not replaced"},
		{"Read(%USERPROFILE%/x)", "variables are not replaced"},
		{"Read(~root/.ssh)", "only ~/ means a home directory"},
		{"Edit(file:///etc/passwd)", "a path is not a URL"},
		{"Edit(a.txt, b.txt)", "a rule has one pattern"},
		{"Read(/etc/**)", "write //etc/** for the path from the root"},
		{"Read(/etc/passwd)", "write //etc/passwd for the path from the root"},
		{"Write(/etc/pass*)", "write //etc/pass* for the path from the root"},
	}
	sound := []string{
		"Bash", "Shell(x)", "Read(*)", "Task(explore)", "Agent", "Skill(review)", "Skill(pre:*)", "mcp__db", "mcp__db__*", "mcp__github__create_issue", "AskUserQuestion",
		"WebSearch", "MultiEdit(src/**)", "KillShell", "LSP", "CronCreate", "PowerShell(git push *)",
		"Bash(rm -rf /:*)", "Bash(npm run test:unit)", "Bash(npm run test:*)", "Bash(curl https://x.org:80/*)", "Bash(C:/bin/x.exe:*)", "Bash(cd x && rm y)", "Bash(FOO=1 make)",
		"Bash(echo a > file)", "Bash(curl *?a=1&b=2)", "Bash(git log --format=*)", "Bash(rm .*)", "Bash(echo $HOME)", "Bash(* --help)", "Bash(sed s/a/b/;s/c/d/ *)",
		"Bash([ -f x ])", "Bash([[ -f x ]])", "Bash(! grep x y)", "Bash(ls|wc)", "Bash((cd x; ls))", "Bash(r*m:*)", "Bash(\"rm\":*)", "Bash(g++:*)", "Bash(rm [a-z])", "Bash({ ls; })",
		"Read(~/.ssh/**)", "Read(~)", "Read(~backup)", "Read(//etc/**)", "Read(.env)", "Read(src/$x)", "Read(/etc2/**)", "Read(/no-such-thing/x)", "Read(/**)", "Read(/)",
		"Edit(a, b.txt)", "Edit(../x)", "WebFetch(domain:x.org)", "Glob(src/**)",
	}
	flawOf := func(text string) (*Rule, error) {
		r, err := Parse(text)
		if err != nil {
			t.Errorf("%s is broken: %v", text, err)
		}
		r.Behavior, r.Base, r.File = Deny, base, "settings.json"
		table := NewTable([]Rule{r}, &Anchors{Start: base, Dir: base, Home: "/home/me"})
		found := table.Rules()[0]
		if told := len(table.Problems()) == 1; told != (found.Flaw() != nil) {
			t.Errorf("%s: %v, told %v", text, found.Flaw(), table.Problems())
		} else if told && !strings.HasSuffix(table.Problems()[0].Error(), "it denies nothing") {
			t.Errorf("%s: %v", text, table.Problems())
		}
		return &found, found.Flaw()
	}
	for _, tt := range flawed {
		if _, err := flawOf(tt.rule); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.rule, err, tt.want)
		}
	}
	for _, text := range sound {
		if _, err := flawOf(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, name := range compat.Names() {
		if _, err := flawOf(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestContentForToolsThatTakeNone checks that content for a tool that takes none is an error,
// so that such a deny rule denies every call.
//
// Proves PERM-06.
func TestContentForToolsThatTakeNone(t *testing.T) {
	for _, text := range []string{"TaskStop(x)", "WebSearch(secret)", "ExitPlanMode(x)", "AskUserQuestion(x)", "mcp__db(x)", "mcp__db__query(x)"} {
		r, err := Parse(text)
		if err == nil || !strings.Contains(err.Error(), "take no content; write "+r.Tool) {
			t.Errorf("%s: %v", text, err)
		}
		r.Behavior = Deny
		if table := NewTable([]Rule{r}, &Anchors{}); table.Deny.Whole([]string{r.Tool}, nil) == nil {
			t.Errorf("%s does not deny %s", text, r.Tool)
		}
	}
}
