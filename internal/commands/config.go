package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"adze/internal/platform/text/amount"
	"adze/internal/platform/text/rank"
	"adze/internal/tool"
)

func configCommand() Command {
	return Command{Name: "config", Aliases: []string{"settings"}, Kind: Change, Args: "[KEY [VALUE]|WORD]",
		Doc: "show active settings, one setting or matching settings, or change one; unset KEY removes it",
		Run: func(ctx context.Context, r *Registry, arg string) (Answer, error) { return runConfig(ctx, r, arg) },
		Complete: func(r *Registry, _ string) []string {
			var names []string
			for _, s := range r.Env.Options(true) {
				names = append(names, s.Key)
			}
			return names
		}}
}

// Env is the environment of a session: settings, programs, directories.
type Env struct {
	// Settings returns the settings used by front ends.
	Settings func() Settings
	// Options returns the settings that are set, or all that a file can hold.
	Options func(all bool) []Option
	// Change sets a value in the user's settings, or removes it if it is nil. It returns a
	// message for the user.
	Change func(ctx context.Context, key string, value *string) (string, error)
	// About returns fields that describe the environment. Examine checks for problems, and if
	// online is true also tests the provider. Both may be nil.
	About   func() Fields
	Examine func(ctx context.Context, online bool) []Check
	// Commands returns dynamic commands, such as skills and server prompts, each with its
	// Origin; if wait is true because no user is at a terminal, it may wait for them. Resources
	// returns completions for a mention being typed, such as server:uri; a completion that ends
	// in a colon is incomplete. Both may be nil.
	Commands  func(wait bool) []Command
	Resources func(ctx context.Context, typed string) []string
	// Enabled reports whether a setting is on; nil means that all are. Score returns how often
	// a dynamic command is used, for name completion; it may be nil.
	Enabled func(setting string) bool
	// Disabled returns the environment variable that overrides an enabled setting, or ""; it
	// may be nil.
	Disabled func(setting string) string
	Score    func(name string) float64
	// CompactPercent returns how full the usable window may get before the conversation is
	// compacted; nil means the default.
	CompactPercent func() int
	// HTML renders Markdown for exports; it may be nil.
	HTML func(markdown string) string
	// StatusLine returns the output of the user's status line command, or "" if none is
	// configured; it may be nil.
	StatusLine func(ctx context.Context, r *Registry) (string, error)
	// Request looks up the state of the pull request. It reports false if the user has disabled
	// it. It may be nil.
	Request func(ctx context.Context) (Request, bool)
	Remarks Remarks
	// Schedule holds the scheduled prompts; nil disables scheduling.
	Schedule Schedule
	Keys     Keys
	// Styles are the output styles.
	Styles Styles
	// Sessions manages the files of stored sessions.
	Sessions SessionFiles
	// Sections are further built-in commands. They are added to existing sections of the same
	// name.
	Sections []Section
}

// Remarks provides texts that a small model generates alongside the conversation. Each is "" if
// there is nothing to say or the user has disabled it, and each function may be nil.
type Remarks struct {
	// Away summarizes the finished work and next steps for a user who was away for at least
	// After.
	Away  func(ctx context.Context) string
	After func() time.Duration
	// Next returns a proposal for the user's next message.
	Next func(ctx context.Context) string
}

// An Option is one setting.
type Option struct {
	Key, Value, Doc string
	// Values lists the possible values, if they are few.
	Values []string
	// Origin is the source of the value; empty for the default.
	Origin string
}

// runConfig shows or changes settings.
func runConfig(ctx context.Context, r *Registry, arg string) (Answer, error) {
	key, value, changes := strings.Cut(arg, " ")
	value = strings.TrimSpace(value)
	switch {
	case arg == "" && r.Terminal:
		return r.optionsList(), nil
	case arg == "" || arg == "list":
		return configPage(r.Env.Options(false)), nil
	case (key == "set" || key == "get" || key == "unset") && value == "":
		return nil, errors.New("usage: /config, /config KEY, /config KEY VALUE or /config unset KEY")
	case key == "set" || key == "get":
		key, value, changes = strings.Cut(value, " ")
		value = strings.TrimSpace(value)
	case key == "unset":
		return setOption(ctx, r, value, nil)
	}
	if changes && value != "" {
		return setOption(ctx, r, key, &value)
	}
	all := r.Env.Options(true)
	i := slices.IndexFunc(all, func(o Option) bool { return strings.EqualFold(o.Key, key) })
	if i >= 0 {
		all = all[i : i+1]
	}
	found := slices.DeleteFunc(slices.Clone(all), func(o Option) bool { return i < 0 && !about(key, o.Key, o.Doc) })
	switch len(found) {
	case 0:
		return nil, unknownOption(all, key)
	case 1:
		return found[0].page(), nil
	}
	return optionsAbout(key, found), nil
}

// page shows a setting.
func (o *Option) page() Page {
	return Page{Blocks: []Block{Fields{{o.Key, o.Value}, {"from", cmp.Or(o.Origin, "the default")}, {"about", o.Doc}}}}
}

// maxOptions is the maximum number of settings listed for a word.
const maxOptions = 20

// optionsAbout lists the settings that match a word: first the ones with the word in their
// names.
func optionsAbout(word string, found []Option) Page {
	slices.SortStableFunc(found, func(a, b Option) int {
		named := func(o Option) int {
			if about(word, o.Key) {
				return 0
			}
			return 1
		}
		return named(a) - named(b)
	})
	var t Terms
	for _, o := range found[:min(maxOptions, len(found))] {
		value := "not set"
		if o.Value != "" {
			value = o.Value + " (" + cmp.Or(o.Origin, "the default") + ")"
		}
		t = append(t, Term{o.Key, tool.OneLine(value, 80) + ": " + o.Doc})
	}
	p := Page{Blocks: []Block{t}}
	if more := len(found) - len(t); more > 0 {
		p.Add(Text("And " + amount.Of(more, "setting", "settings") + " more; adze config list --all lists every setting."))
	}
	p.Add(Text("/config KEY VALUE changes a setting."))
	return p
}

// unknownOption returns the error for a setting that does not exist.
func unknownOption(all []Option, key string) error {
	var names []string
	for _, o := range all {
		names = append(names, o.Key)
	}
	if near := rank.Closest(key, names, 1); len(near) > 0 {
		return fmt.Errorf("unknown setting %s; did you mean %s?", key, near[0])
	}
	return fmt.Errorf("unknown setting %s", key)
}

// configPage lists the settings that are set.
func configPage(options []Option) Page {
	if len(options) == 0 {
		return Say("Nothing is set: every setting has its default. /config KEY VALUE changes one.")
	}
	table := Table{Columns: []Column{{Name: "Setting"}, {Name: "value", Cut: true}, {Name: "from"}}}
	for _, o := range options {
		table.Rows = append(table.Rows, []string{o.Key, o.Value, o.Origin})
	}
	return Page{Blocks: []Block{table, Text("/config KEY shows a setting, /config KEY VALUE changes it in your settings, /config unset KEY removes it.")}}
}

// ErrTerminal is returned by commands that change permissions or stored data and require a
// terminal, because a prompt may contain text written by others.
var ErrTerminal = errors.New("this can be changed at a terminal only")

// setOption changes a setting.
func setOption(ctx context.Context, r *Registry, key string, value *string) (Answer, error) {
	if !r.Terminal {
		return nil, ErrTerminal
	}
	text, err := r.Env.Change(ctx, key, value)
	if err != nil {
		return nil, err
	}
	return Say(text), nil
}
