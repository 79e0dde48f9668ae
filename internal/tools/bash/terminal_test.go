package bash

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/platform/shell"
)

// Proves SHBG-03.
func TestWhatNeedsATerminal(t *testing.T) {
	for command, want := range map[string]bool{
		"vim":                             true,
		"vim a.txt":                       true,
		"cd sub && nano a.txt":            true,
		"/usr/bin/vi a":                   true,
		"emacs -nw a":                     true,
		"watch -n 1 date":                 true,
		"htop":                            true,
		"vim -es -c 'wq' a":               false,
		"vim +q":                          false,
		"nvim --headless -c q":            false,
		"emacs --batch -l x.el":           false,
		"vim --version":                   false,
		"vim < keys":                      false,
		"ls | vim -":                      false,
		"echo vim":                        false,
		"less a":                          false,
		"top -b -n 1":                     false,
		"for f in *; do vim \"$f\"; done": false, // loops are not analyzed
	} {
		if got := Interactive(command) != ""; got != want {
			t.Errorf("%q waits: %v", command, got)
		}
	}
	for command, want := range map[string]bool{
		"python3":                      true,
		"python3 -i":                   true,
		"node":                         true,
		"bash":                         true,
		"ssh host":                     true,
		"git rebase -i HEAD~2":         true,
		"git add -p":                   true,
		"git commit":                   true,
		"git commit --amend":           true,
		"python3 -c 'print()'":         false,
		"python3 x.py":                 false,
		"bash -c true":                 false,
		"bash < x.sh":                  false,
		"echo 1 | bc":                  false,
		"ssh host uptime":              false,
		"git commit -m x":              false,
		"git commit -am x":             false,
		"git commit --amend --no-edit": false,
		"git rebase main":              false,
		"git log -p":                   false,
	} {
		if got := missed(shell.Parse(command, shell.Vars{})) != ""; got != want {
			t.Errorf("%q misses a terminal: %v", command, got)
		}
	}
	env := []string{"PATH=/bin", "EDITOR=vim -f", "VISUAL=/usr/bin/nano", "GIT_EDITOR=code --wait", "X=vim"}
	want := []string{"PATH=/bin", "EDITOR=" + noEditor, "VISUAL=" + noEditor, "GIT_EDITOR=code --wait", "X=vim"}
	if diff := cmp.Diff(want, quietEditors(env)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
