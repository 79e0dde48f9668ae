package term

import (
	"strings"
	"testing"
)

func TestLinks(t *testing.T) {
	for env, want := range map[string]bool{
		"":                            false,
		"VTE_VERSION=7600":            true,
		"VTE_VERSION=4999":            false,
		"VTE_VERSION=x":               false,
		"KITTY_WINDOW_ID=1":           true,
		"TERM=foot-extra":             true,
		"TERM_PROGRAM=Apple_Terminal": false,
		"TERM_PROGRAM=WezTerm":        true,
		"TMUX=/x TERM_PROGRAM=tmux TERM_PROGRAM_VERSION=3.3a VTE_VERSION=7600": false,
		"TMUX=/x TERM_PROGRAM=tmux TERM_PROGRAM_VERSION=3.4":                   true,
		"TMUX=/x TERM_PROGRAM=tmux TERM_PROGRAM_VERSION=next":                  false,
		"TMUX=/x KITTY_WINDOW_ID=1":                                            false,
		"STY=1 KITTY_WINDOW_ID=1":                                              false,
	} {
		got := Links(func(name string) string {
			for part := range strings.FieldsSeq(env) {
				if value, ok := strings.CutPrefix(part, name+"="); ok {
					return value
				}
			}
			return ""
		})
		if got != want {
			t.Errorf("%s: %v", env, got)
		}
	}
}
