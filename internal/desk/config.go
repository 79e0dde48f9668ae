package desk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"adze/internal/platform/amount"
	"adze/internal/platform/spell"
	"adze/internal/tool"
)

func configCommand() Command {
	return Command{Name: "config", Aliases: []string{"settings"}, Kind: Change, Args: "[KEY [VALUE]|WORD]",
		Doc: "show what is set, one setting or those matching a word, or change one; unset KEY removes it",
		Run: func(ctx context.Context, d *Desk, arg string) (Answer, error) { return runConfig(ctx, d, arg) },
		Complete: func(d *Desk, _ string) []string {
			var names []string
			for _, s := range d.Surroundings.Options(true) {
				names = append(names, s.Key)
			}
			return names
		}}
}

// Surroundings are what a session runs in: settings, programs, directories.
type Surroundings struct {
	// Settings returns those that front ends go by.
	Settings func() Settings
	// Options returns the settings that are set, or all that a file can hold.
	Options func(all bool) []Option
	// Change sets a value, or removes it if it is nil, in the user's settings. It returns what to tell the user.
	Change func(ctx context.Context, key string, value *string) (string, error)
	// About returns what to show of them, and Examine looks for what is wrong, and with online tries the provider, too; both
	// may be nil.
	About   func() Fields
	Examine func(ctx context.Context, online bool) []Check
	// Commands returns further commands, which come and go, such as skills and prompts of servers, each with its Origin; where
	// no user is at a terminal it may wait for them. Resources returns what may be meant by a mention that is being typed, such
	// as server:uri; one that ends in a colon goes on. Both may be nil.
	Commands  func(wait bool) []Command
	Resources func(ctx context.Context, typed string) []string
	// Enabled reports whether a setting that switches something on is true; nil means that all are. Score returns how much
	// a command of Commands is used, to complete the name; it may be nil.
	Enabled func(setting string) bool
	// Disabled returns the variable that turns a setting off which is true, or ""; it may be nil.
	Disabled func(setting string) string
	Score    func(name string) float64
	// CompactPercent returns how full the usable window may get before the conversation is summarised; nil means as usual.
	CompactPercent func() int
	// StatusLine returns the line that the user's own command prints for the status of the session, or "" if there is no
	// command; it may be nil.
	StatusLine func(ctx context.Context, d *Desk) (string, error)
	// Request finds out the state of the pull request, and reports false if the user does not want to see it; it may be nil.
	Request func(ctx context.Context) (Request, bool)
	Remarks Remarks
	// Schedule holds the prompts that run later; nil if none can be scheduled.
	Schedule Schedule
	Keys     Keys
	// Styles are the output styles.
	Styles Styles
	// Sessions knows what belongs to stored sessions.
	Sessions Stored
	// Sections are further commands that are built in; those of a section that is there already are added to it.
	Sections []Section
}

// Remarks are what a small model says to the user beside the conversation; each is "" if there is nothing to say or the user
// does not want it, and each function may be nil.
type Remarks struct {
	// Away returns what was done and what is next, for a user who was away at least as long as After.
	Away  func(ctx context.Context) string
	After func() time.Duration
	// Next returns what the user may type next.
	Next func(ctx context.Context) string
}

// An Option is one setting.
type Option struct {
	Key, Value, Doc string
	// Values are those that it can have, if they are few.
	Values []string
	// Origin is where the value comes from; empty for the default.
	Origin string
}

// runConfig shows or changes settings.
func runConfig(ctx context.Context, d *Desk, arg string) (Answer, error) {
	key, value, changes := strings.Cut(arg, " ")
	value = strings.TrimSpace(value)
	switch {
	case arg == "" && d.Terminal:
		return optionsList(d), nil
	case arg == "" || arg == "list":
		return configPage(d.Surroundings.Options(false)), nil
	case (key == "set" || key == "get" || key == "unset") && value == "":
		return nil, errors.New("usage: /config, /config KEY, /config KEY VALUE or /config unset KEY")
	case key == "set" || key == "get":
		key, value, changes = strings.Cut(value, " ")
		value = strings.TrimSpace(value)
	case key == "unset":
		return setOption(ctx, d, value, nil)
	}
	if changes && value != "" {
		return setOption(ctx, d, key, &value)
	}
	all := d.Surroundings.Options(true)
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

// maxOptions is how many settings about a word are listed.
const maxOptions = 20

// optionsAbout lists the settings that are about a word: first those with the word in their names.
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
	if near := spell.Closest(key, names, 1); len(near) > 0 {
		return fmt.Errorf("there is no setting %s; did you mean %s?", key, near[0])
	}
	return fmt.Errorf("there is no setting %s", key)
}

// configPage lists what is set.
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

// ErrTerminal says why a command that changes what is allowed or kept is refused: a prompt may hold words of others.
var ErrTerminal = errors.New("this can be changed at a terminal only")

// setOption changes a setting.
func setOption(ctx context.Context, d *Desk, key string, value *string) (Answer, error) {
	if !d.Terminal {
		return nil, ErrTerminal
	}
	text, err := d.Surroundings.Change(ctx, key, value)
	if err != nil {
		return nil, err
	}
	return Say(text), nil
}
