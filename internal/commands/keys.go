package commands

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// Keys describes the keys of a terminal. Each function may be nil.
type Keys struct {
	// Lines is true if the terminal edits input, so that adze receives whole lines and no keys.
	Lines bool
	// Bound returns the current key bindings and their descriptions.
	Bound func() Terms
	// File returns the keybindings file, or "", and Problems the problems in it.
	File     func() string
	Problems func() []string
	// Create returns the user's own file, creating it if necessary.
	Create func() (string, error)
}

func keysCommand() Command {
	return Command{Name: "keybindings", Aliases: []string{"keys"}, Args: "[edit]", Doc: "show the keys, or edit the file that changes them", Terminal: true,
		Run:      func(_ context.Context, r *Registry, arg string) (Answer, error) { return runKeys(r.Env.Keys, arg) },
		Complete: words("edit")}
}

// runKeys shows the keys, or lets the user edit them.
func runKeys(k Keys, arg string) (Answer, error) {
	switch {
	case arg == "edit" && k.Create != nil:
		path, err := k.Create()
		if err != nil {
			return nil, err
		}
		return Edit{Path: path, Page: Say("The keys in the file apply at once. /keybindings shows them.")}, nil
	case arg != "":
		return nil, errors.New("usage: /keybindings, or /keybindings edit")
	case k.Lines:
		return Say("Here your terminal edits the line, with its own keys. Enter sends it, Ctrl-C interrupts the model, and Ctrl-D on an empty line exits."), nil
	case k.Bound == nil:
		return Say("No keys are bound in this session."), nil
	}
	p := Page{Blocks: []Block{append(k.Bound(), Term{"?", "show the most used keys and commands, at an empty prompt"})}}
	if k.File == nil || k.File() == "" {
		return p, nil
	}
	for _, problem := range k.Problems() {
		p.Add(Notice(problem))
	}
	p.Add(Text("As " + k.File() + " says."))
	return p, nil
}

// editorMode is the setting for the editing mode, and vim its value for vim mode.
const (
	editorMode = "editorMode"
	vim        = "vim"
)

func vimCommand() Command {
	return Command{Name: "vim", Kind: Change, Doc: "switch editing as in vim on or off", Terminal: true,
		Run: func(ctx context.Context, r *Registry, arg string) (Answer, error) {
			if arg != "" {
				return nil, errors.New("usage: /vim")
			}
			if r.Env.Keys.Lines {
				return nil, errors.New("here your terminal edits the line, so /vim would change nothing")
			}
			return toggleVim(ctx, r)
		}}
}

// toggleVim toggles the setting, and tells the user which keys to press.
func toggleVim(ctx context.Context, r *Registry) (Answer, error) {
	value, said := vim, "Vim mode is on. /vim turns it off."
	options := r.Env.Options(true)
	if i := slices.IndexFunc(options, func(o Option) bool { return o.Key == editorMode }); i >= 0 && strings.Trim(options[i].Value, `"`) == vim {
		value, said = "normal", "Text is now edited as usual. /vim switches editing as in vim on."
	}
	if _, err := r.Env.Change(ctx, editorMode, &value); err != nil {
		return nil, err
	}
	return Say(said), nil
}
