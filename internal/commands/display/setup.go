package display

import (
	"context"
	"strings"

	"adze/internal/commands"
	"adze/internal/platform/term"
	"adze/internal/platform/text/amount"
)

func setupCommand(c Config) commands.Command {
	return commands.Command{Name: "terminal-setup", Doc: "show your terminal's capabilities, and how to enable more",
		Run: func(ctx context.Context, _ *commands.Registry, _ string) (commands.Answer, error) {
			return setupPage(ctx, c), nil
		}}
}

// setupPage shows the terminal's capabilities. Settings the user would have to change are
// written out to be copied: nothing is changed.
func setupPage(ctx context.Context, c Config) commands.Page {
	t := term.Detect(c.Getenv)
	name := t.Name
	if name == "" {
		name = "unknown: TERM is not set"
	}
	if t.Inside != "" {
		name += ", in " + t.Inside
	}
	colours := amount.Grouped(t.Colours)
	if t.Colours == 1<<24 {
		colours = "16 million"
	}
	missing := missingOf(ctx, c, t)
	p := commands.Page{Blocks: []commands.Block{commands.Fields{
		{Name: "Terminal", Value: name},
		{Name: "Colours", Value: colours},
		{Name: "Shift-Enter", Value: works(t.ShiftEnter, missing[extendedKeys], "Alt-Enter, Ctrl-J and \\ before Enter begin a line everywhere")},
		{Name: "Links", Value: works(linksOf(c.Getenv), false, "addresses are written out")},
		{Name: "Clipboard", Value: works(t.Clipboard, missing[setClipboard], "/copy uses wl-copy, xclip, xsel or pbcopy where there is one")},
		{Name: "Focus", Value: works(t.Focus, missing[focusEvents], "you are notified after a minute without a key")},
		{Name: "Notifications", Value: string(t.Notices) + " (the setting notifications.channel chooses another)"},
	}}}
	add(&p, t)
	var lines commands.Items
	for _, o := range tmuxOptions {
		if missing[o.name] {
			lines = append(lines, o.line)
		}
	}
	if len(lines) > 0 {
		p.Add(commands.Text("For tmux, add these lines to ~/.tmux.conf, and run tmux source-file ~/.tmux.conf:"), lines)
	}
	p.Add(commands.Text("Nothing was changed."))
	return p
}

// works describes whether something works, or the alternative.
func works(how string, blocked bool, instead string) string {
	switch {
	case how == term.Unsupported:
		return "not known to work; " + instead
	case how != "" || blocked:
		return "has to be set, see below; " + instead
	}
	return "works"
}

// linksOf returns [term.Unsupported] if links are not written.
func linksOf(getenv func(string) string) string {
	if term.Links(getenv) {
		return ""
	}
	return term.Unsupported
}

// add adds advice for configuring the terminal.
func add(p *commands.Page, t term.Terminal) {
	for _, s := range []struct{ what, how string }{{"begin a line with Shift-Enter", t.ShiftEnter}, {"let /copy reach the clipboard", t.Clipboard}} {
		if s.how == "" || s.how == term.Unsupported {
			continue
		}
		text := "To " + s.what + ", set in " + t.Name + ":"
		if t.File != "" {
			text = "To " + s.what + ", add to " + t.File + " of " + t.Name + ":"
		}
		p.Add(commands.Text(text), commands.Items{s.how})
	}
}

// The relevant tmux options.
const (
	extendedKeys = "extended-keys"
	focusEvents  = "focus-events"
	setClipboard = "set-clipboard"
	passthrough  = "allow-passthrough"
)

// tmuxOptions are the options with their scope, acceptable values, and the line that sets one.
var tmuxOptions = []struct{ name, scope, good, line string }{
	{extendedKeys, "-s", "always", "set -s extended-keys always"},
	{focusEvents, "-g", "on", "set -g focus-events on"},
	{setClipboard, "-s", "on external", "set -s set-clipboard on"},
	{passthrough, "-g", "on all", "set -g allow-passthrough on"},
}

// missingOf returns the tmux options that are not set as required. An option that tmux does not
// know or that cannot be queried counts as not set.
func missingOf(ctx context.Context, c Config, t term.Terminal) map[string]bool {
	missing := map[string]bool{}
	if !strings.HasPrefix(t.Inside, "tmux") {
		return missing
	}
	for _, o := range tmuxOptions {
		value := ""
		if c.Ask != nil {
			out, err := c.Ask(ctx, "tmux", "show-options", o.scope, "-v", o.name)
			if err == nil {
				value = strings.TrimSpace(out)
			}
		}
		missing[o.name] = value == "" || !strings.Contains(" "+o.good+" ", " "+value+" ")
	}
	return missing
}
