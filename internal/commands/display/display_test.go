package display

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/commands"
)

// newRegistry returns a registry with changeable settings.
func newRegistry(value *string, kept bool) *commands.Registry {
	return commands.New(commands.Config{Terminal: true, Env: commands.Env{
		Options: func(bool) []commands.Option { return []commands.Option{{Key: Theme, Value: *value}} },
		Change: func(_ context.Context, key string, v *string) (string, error) {
			if kept {
				return key + " stays", nil
			}
			*value = *v
			return key + " changed", nil
		},
		Sections: Sections(Config{Getenv: func(string) string { return "" }}),
	}})
}

// Proves X-124, CMD-03.
func TestTheme(t *testing.T) {
	value := "auto"
	r := newRegistry(&value, false)
	a, err := r.Run(t.Context(), "theme", "")
	list, ok := a.(commands.List)
	if !ok || err != nil || len(list.Choices) != 7 {
		t.Fatal(a, err)
	}
	sample, err := list.Preview(t.Context(), list.Choices[2])
	if diff := cmp.Diff(commands.Page{Blocks: []commands.Block{commands.Swatch("dark")}}, sample); diff != "" || err != nil {
		t.Error(diff, err)
	}
	a, err = list.Choose(t.Context(), list.Choices[3])
	if diff := cmp.Diff(commands.Answer(commands.Say("The theme is now light.")), a); diff != "" || err != nil || value != "light" {
		t.Error(diff, err, value)
	}
	if _, err := r.Run(t.Context(), "theme", "pink"); err == nil || value != "light" {
		t.Error("there is a pink theme")
	}
	kept := newRegistry(&value, true)
	if a, err := kept.Run(t.Context(), "theme", "dark"); err != nil || cmp.Diff(commands.Answer(commands.Say("theme stays")), a) != "" {
		t.Error(a, err)
	}
}

// Proves X-116, CMD-03.
func TestTerminalSetup(t *testing.T) {
	tests := []struct {
		name, env string
		tmux      map[string]string
		want      []string
		not       []string
	}{
		{"kitty", "TERM=xterm-kitty KITTY_WINDOW_ID=1 COLORTERM=truecolor", nil,
			[]string{"Terminal: kitty", "Colours: 16 million", "Shift-Enter: works", "Links: works", "Notifications: osc99", "Nothing was changed."}, []string{"tmux", "see below"}},
		{"an editor", "TERM=xterm-256color TERM_PROGRAM=vscode", nil,
			[]string{"Colours: 256", "add to keybindings.json of VS Code:", `"key": "shift+enter"`}, []string{"tmux"}},
		{"nothing known", "TERM=vt220", nil, []string{"Terminal: vt220", "Shift-Enter: not known to work; Alt-Enter"}, []string{"see below"}},
		{"tmux", "TERM=screen TMUX=/tmp/t,1,0 TERM_PROGRAM=tmux TERM_PROGRAM_VERSION=3.3a KITTY_WINDOW_ID=1", map[string]string{"focus-events": "on", "set-clipboard": "external", "extended-keys": "off"},
			[]string{"kitty, in tmux 3.3a", "Shift-Enter: has to be set", "Focus: works", "set -s extended-keys always", "set -g allow-passthrough on"}, []string{"set -g focus-events on", "set-clipboard"}},
		{"tmux that does not answer", "TERM=screen TMUX=/tmp/t,1,0", nil, []string{"set -g focus-events on"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env := map[string]string{}
			for pair := range strings.FieldsSeq(tt.env) {
				name, value, _ := strings.Cut(pair, "=")
				env[name] = value
			}
			page := setupPage(t.Context(), Config{
				Getenv: func(name string) string { return env[name] },
				Ask: func(_ context.Context, name string, args ...string) (string, error) {
					if value, ok := tt.tmux[args[len(args)-1]]; ok && name == "tmux" {
						return value + "\n", nil
					}
					return "", errors.New("unknown option")
				},
			})
			got := text(page)
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("%q is not in\n%s", want, got)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(got, not) {
					t.Errorf("%q is in\n%s", not, got)
				}
			}
		})
	}
}

// text returns a page as lines.
func text(p commands.Page) string {
	var b strings.Builder
	for _, block := range p.Blocks {
		switch block := block.(type) {
		case commands.Fields:
			for _, f := range block {
				fmt.Fprintf(&b, "%s: %s\n", f.Name, f.Value)
			}
		case commands.Items:
			fmt.Fprintln(&b, strings.Join(block, "\n"))
		default:
			fmt.Fprintln(&b, block)
		}
	}
	return b.String()
}
