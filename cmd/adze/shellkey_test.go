//go:build unix

package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestShellKey checks that the key of adze shell-init sends the command line, or the last command if that failed.
//
// Proves X-198.
func TestShellKey(t *testing.T) {
	for name, start := range map[string]string{
		"bash": `eval "$(adze shell-init bash)"`,
		"zsh":  `ZDOTDIR=$PWD exec zsh`,
		"fish": `exec fish --no-config -C 'function fish_prompt; echo -n "\$ "; end; adze shell-init fish | source'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tm := newTerminal(t, 100, 24, "forever\nsay Sure.\n")
			if err := os.WriteFile(filepath.Join(tm.dir, ".zshrc"), []byte("PROMPT='$ '\neval \"$(adze shell-init zsh)\"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			tm.enter("export ADZE_MODEL=replay:model.txt; clear; " + start)
			tm.waitForShell()
			for _, c := range []struct{ typed, sent string }{
				{"why is it 'slow' & $HOME", `why is it 'slow' & \$HOME`},
				{"", ""},
			} {
				if c.typed == "" {
					tm.enter("ls ./nothing 'a b'")
					tm.waitFor(`cannot access`)
					c.sent = `The command failed with exit status 2: ls \./nothing 'a b'`
				}
				tm.tmux("send-keys", "-l", c.typed)
				tm.key("M-a")
				tm.waitFor(`^❯ ` + c.sent)
				tm.waitFor(`Sure\.`)
				tm.enter("/exit")
				tm.enter("clear")
				tm.waitForShell()
			}
		})
	}
}

// TestPager checks that what does not fit on the terminal goes through the user's pager.
//
// Proves X-198.
func TestPager(t *testing.T) {
	tm := newTerminal(t, 100, 24, "")
	tm.enter("export PAGER='sed s/^/paged:/'; clear; adze help flags")
	tm.waitFor(`^paged:Permissions:`)
	tm.enter("clear; adze --version")
	tm.waitFor(`^[0-9.]+\S* \(adze\)`)
	tm.enter("clear; PAGER=nothing adze help flags")
	tm.waitFor(`^Permissions:`)
}
