package toolbox

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/permission"
	"adze/internal/permission/rule"
	"adze/internal/platform/proc/task"
	"adze/internal/tool"
	toolcommand "adze/internal/tool/command"
	"adze/internal/tool/tooltest"
	"adze/internal/tools/bash"
	"adze/internal/tools/powershell"
)

// TestPowerShellIsJudged checks that rules apply to PowerShell as they do to the shell.
//
// Proves X-004.
func TestPowerShellIsJudged(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, "project")
	for _, name := range []string{"project/sub", "elsewhere"} {
		if err := os.MkdirAll(filepath.Join(home, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(home, "elsewhere"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		command, rules string // rules are behaviors with their rules, separated by blanks and |
		mode           permission.Mode
		want           permission.Behavior
		because        string
	}{
		{command: "Get-ChildItem", want: permission.Allow},
		{command: "cat a.txt", want: permission.Allow},
		{command: "pwd", want: permission.Allow},
		{command: "cat ../elsewhere/a", want: permission.Ask, because: "outside the working directories"},
		{command: "cat link/a", want: permission.Ask, because: "outside"},
		{command: "cat secret.txt", rules: "deny Read(secret.txt)", want: permission.Deny},
		{command: "cat secret.txt -Wait", rules: "deny Read(secret.txt)", mode: permission.Bypass, want: permission.Deny},
		{command: "git status", want: permission.Ask, because: "adze can't verify"},
		{command: "git status", mode: permission.Bypass, want: permission.Allow},
		{command: "git status", mode: permission.DontAsk, want: permission.Deny},
		{command: "git status", mode: permission.Plan, want: permission.Deny},
		{command: "cat a.txt", mode: permission.Plan, want: permission.Allow},
		{command: "git status", rules: "allow PowerShell(git status:*)", want: permission.Allow},
		{command: "git status; git push", rules: "allow PowerShell(git status:*)", want: permission.Ask},
		{command: "git status; git push", rules: "allow PowerShell(git status:*)|allow PowerShell(git push:*)", want: permission.Allow},
		{command: "git status; ls", rules: "allow PowerShell(git status:*)", want: permission.Allow},
		{command: "git status $(rm x)", rules: "allow PowerShell(git status:*)", want: permission.Ask},
		{command: "git status", rules: "allow PowerShell", want: permission.Allow},
		{command: "git status", rules: "allow Bash(git status)", want: permission.Ask},
		{command: "git status", rules: "allow PowerShell(git:*)|ask PowerShell(git:*)", want: permission.Ask, because: "requires confirmation for git status"},
		{command: "ls", rules: "ask PowerShell(Get-ChildItem:*)", mode: permission.Bypass, want: permission.Ask},
		{command: "del x", rules: "allow PowerShell|deny PowerShell(Remove-Item:*)", mode: permission.Bypass, want: permission.Deny, because: "denies remove-item x"},
		{command: "ls | % { R`M x }", rules: "deny PowerShell(rm:*)", mode: permission.Bypass, want: permission.Deny},
		{command: "Remove\u2013Item x", rules: "deny PowerShell(rm:*)", mode: permission.Bypass, want: permission.Deny},
		{command: "& $x", rules: "deny PowerShell(rm:*)", mode: permission.Bypass, want: permission.Ask, because: "can't be determined in advance"},
		{command: "iex $x", rules: "deny Read(secret.txt)", mode: permission.Bypass, want: permission.Ask, because: "computed at run time"},
		{command: "& $x", mode: permission.Bypass, want: permission.Allow},
		{command: "git push", rules: "deny PowerShell(git push", mode: permission.Bypass, want: permission.Deny, because: "can't be read"},
		{command: "git push", rules: "deny PowerShell(:*)", mode: permission.Bypass, want: permission.Deny},
		{command: "rm -Recurse ~", mode: permission.Bypass, want: permission.Ask},
		{command: "rm -Recurse '~'", mode: permission.Bypass, want: permission.Ask, because: "the home directory"},
		{command: "Compress-Archive sub x.zip", rules: "deny Read(secret.txt)", mode: permission.Bypass, want: permission.Ask, because: "or files in it"},
		{command: "git push", rules: "deny Read(secret.txt)", mode: permission.Bypass, want: permission.Allow},
		{command: "rm -Recurse " + home + "/project", mode: permission.Bypass, want: permission.Ask},
		{command: `Remove-Item C:\ -Recurse`, mode: permission.Bypass, want: permission.Ask, because: "root"},
		{command: "rm $x", mode: permission.Bypass, want: permission.Ask, because: "may remove any file"},
		{command: "rm sub/x", mode: permission.Bypass, want: permission.Allow},
		{command: "iex x", rules: "allow PowerShell(iex:*)", mode: permission.Auto, want: permission.Ask},
		{command: "npm test", rules: "allow PowerShell(npm test)", mode: permission.Auto, want: permission.Allow},
	}
	tl := powershell.New(powershell.Config{Config: toolcommand.Config{Dir: func() string { return dir }}})
	for _, tt := range tests {
		var rules []rule.Rule
		for text := range strings.SplitSeq(tt.rules, "|") {
			behavior, content, ok := strings.Cut(text, " ")
			if !ok {
				continue
			}
			r, _ := rule.Parse(content) // ok: some are invalid on purpose
			r.Behavior = permission.Behavior(behavior)
			rules = append(rules, r)
		}
		p := permission.Compile(permission.Config{Rules: rules, Mode: tt.mode, Dir: dir, Home: home})
		input, _ := json.Marshal(powershell.Input{Command: tt.command}) // ok: cannot fail
		call, err := tl.Bind(input)
		if err != nil {
			t.Fatal(err)
		}
		d := permission.Decide(p, permission.FactsOf(p, tl, call))
		if d.Behavior != tt.want || !strings.Contains(d.Reason.String(), tt.because) {
			t.Errorf("%q with %q in mode %q: %s, %s", tt.command, tt.rules, tt.mode, d.Behavior, d.Reason.String())
		}
		if tt.command == "git status" && tt.rules == "" && tt.mode == "" && (len(d.Suggestions) != 1 || d.Suggestions[0].Rules[0].String() != "PowerShell(git status)") {
			t.Errorf("suggested is %+v", d.Suggestions)
		}
	}
}

// Proves SH-02.
func TestWhenPowerShellIsOffered(t *testing.T) {
	none := func() error { return errors.New("no Git Bash") }
	there := func() error { return nil }
	for _, tt := range []struct {
		system  string
		missing func() error
		offered bool
	}{{"windows", none, true}, {"windows", there, false}, {"linux", none, false}, {"darwin", there, false}} {
		if err := noPowerShell(tt.system, tt.missing); (err == nil) != tt.offered {
			t.Errorf("%s: %v", tt.system, err)
		}
	}
}

// TestOtherShellsAreTranslated checks that the descriptions for other shells exist in both
// languages.
//
// Proves SH-02, CTX-10.
func TestOtherShellsAreTranslated(t *testing.T) {
	for _, program := range []string{"sh", "pwsh", "powershell"} {
		bin := t.TempDir()
		if err := os.WriteFile(filepath.Join(bin, program), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", bin)
		for _, tasks := range []*task.Table{nil, task.New(t.TempDir(), nil)} {
			for _, move := range []func(string) string{nil, func(string) string { return "" }} {
				c := bash.Config{Config: toolcommand.Config{Dir: func() string { return "/" }, SetDir: move, Limits: toolcommand.Limits{Tasks: tasks}}}
				other := inPowerShell(c)
				other.Unwanted = nil
				for _, tl := range []tool.Tool{bash.New(c), powershell.New(other)} {
					tooltest.Translated(t, tl)
				}
			}
		}
	}
}
