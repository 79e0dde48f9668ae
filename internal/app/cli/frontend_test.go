package cli

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/app/terminal"
	"adze/internal/commands/display"
	"adze/internal/settings"
	"adze/internal/settings/config"
	"adze/internal/ui/console"
	"adze/internal/ui/draw"
	"adze/internal/ui/tui/prelude"
)

// TestThemesAgree checks that the setting, the command and the renderer support the same
// themes.
//
// Proves X-124.
func TestThemesAgree(t *testing.T) {
	var offered []string
	for _, c := range display.Themes() {
		offered = append(offered, c.ID)
	}
	all := settings.Keys()
	i := slices.IndexFunc(all, func(k config.Key) bool { return k.Name == display.Theme })
	if diff := cmp.Diff(all[i].Choices, offered); diff != "" {
		t.Error(diff)
	}
	for _, name := range offered {
		if (draw.Sample(name)[0].Style == "") != (name == "none") {
			t.Errorf("%s is not drawn", name)
		}
	}
}

// TestConfirmWith checks that without a dialog questions use a line, and that an interrupt ends
// the program.
func TestConfirmWith(t *testing.T) {
	for _, tt := range []struct {
		name, input string
		chosen      int
		err         error
		yes, ends   bool
	}{
		{"yes", "", 0, nil, true, false},
		{"no", "", 1, nil, false, false},
		{"none", "", -1, nil, false, false},
		{"a line", "y\n", -1, terminal.ErrKeys, true, false},
		{"another line", "\n", -1, terminal.ErrKeys, false, false},
		{"interrupted", "y\n", -1, prelude.ErrInterrupted, false, true},
	} {
		env := &Env{Stdin: strings.NewReader(tt.input), Stdout: io.Discard, messenger: &messenger{}}
		env.messenger.ask = func(console.Choice) (int, error) { return tt.chosen, dialogError(tt.err) }
		yes, err := env.confirm("Trust it?")
		var ended *Ended
		if yes != tt.yes || errors.As(err, &ended) != tt.ends {
			t.Errorf("%s: %v, %v", tt.name, yes, err)
		}
	}
}
