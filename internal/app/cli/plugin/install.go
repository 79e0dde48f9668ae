package plugin

import (
	"context"
	"fmt"
	"strings"

	"adze/internal/domain/plugin"
	"adze/internal/feature/plugins"
	"adze/internal/setup"
	"adze/internal/tool"
)

// install fetches a plugin, shows its contents, and installs it if the user agrees.
func install(ctx context.Context, t *Task) error {
	to, err := t.scope()
	if err != nil {
		return err
	}
	offer, err := t.Plugins.Fetch(ctx, t.Args[0])
	if err != nil {
		return err
	}
	defer offer.Discard()
	if yes, err := t.agree(offer, "Install"); err != nil || !yes {
		return err
	}
	text, err := t.Plugins.Accept(ctx, offer, to)
	if err != nil {
		return err
	}
	if err := t.Show(text + "\n"); err != nil {
		return err
	}
	return t.askOptions(ctx, offer.Plugin, t.Values)
}

func enable(ctx context.Context, t *Task) error {
	to, err := t.scope()
	if err != nil {
		return err
	}
	offer, err := t.Plugins.Consider(ctx, t.Args[0])
	if err != nil {
		return err
	}
	if !offer.Settled() {
		if yes, err := t.agree(offer, "Enable"); err != nil || !yes {
			return err
		}
	}
	text, err := t.Plugins.Accept(ctx, offer, to)
	if err != nil {
		return err
	}
	if err := t.Show(text + "\n"); err != nil {
		return err
	}
	return t.askOptions(ctx, offer.Plugin, t.Values)
}

func disable(ctx context.Context, t *Task) error {
	to, err := t.scope()
	if err != nil {
		return err
	}
	text, err := t.Plugins.Disable(ctx, t.Args[0], to)
	if err != nil {
		return err
	}
	return t.Show(text + "\n")
}

// update updates the named plugins, or all.
func update(ctx context.Context, t *Task) error {
	names := t.Args
	if len(names) == 0 {
		all, err := t.Plugins.Installed()
		if err != nil {
			return err
		}
		for _, in := range all {
			names = append(names, in.ID.String())
		}
		if len(names) == 0 {
			t.Say("no plugins are installed")
		}
	}
	failed := false
	for _, name := range names {
		if err := t.updateOne(ctx, name); err != nil {
			t.Say(err.Error())
			failed = true
		}
	}
	if failed {
		return ErrFailed
	}
	return nil
}

func (t *Task) updateOne(ctx context.Context, name string) error {
	offer, err := t.Plugins.Update(ctx, name)
	if err != nil {
		return err
	}
	defer offer.Discard()
	if offer.Current() {
		return t.Show(offer.ID.String() + " is up to date\n")
	}
	yes, err := t.agree(offer, "Update")
	if err != nil {
		return err
	}
	if !yes {
		return t.Show(offer.ID.String() + " is left as it is\n")
	}
	text, err := t.Plugins.Accept(ctx, offer, "")
	if err != nil {
		return err
	}
	return t.Show(text + "\n")
}

func uninstall(ctx context.Context, t *Task) error {
	text, err := t.Plugins.Uninstall(ctx, t.Args[0], t.Data)
	if err != nil {
		return err
	}
	return t.Show(text + "\n")
}

// configure sets a plugin's options.
func configure(ctx context.Context, t *Task) error {
	_, x, err := t.Plugins.Look(t.Args[0])
	if err != nil {
		return err
	}
	return t.askOptions(ctx, x, append(t.Args[1:], t.Values...))
}

// askOptions sets the given options of a plugin. If none are given, it asks the user for each
// option without a value.
func (t *Task) askOptions(ctx context.Context, x *plugin.Plugin, given []string) error {
	options := make([]plugin.Option, len(given))
	for i, pair := range given { // validate all before setting any
		name, value, assigned := strings.Cut(pair, "=")
		o, err := plugins.Option(x, name)
		if err == nil && assigned && value != "" {
			_, err = plugins.CheckOption(o, value)
		}
		if err != nil {
			return err
		}
		options[i] = o
	}
	for i, pair := range given {
		_, value, assigned := strings.Cut(pair, "=")
		if !assigned {
			var err error
			if value, err = t.askOption(options[i]); err != nil {
				return err
			}
		}
		if err := t.setOption(ctx, x, options[i], value); err != nil {
			return err
		}
	}
	if len(given) > 0 || t.Yes || !t.StdinTerminal {
		if missing := t.Plugins.Lacks(x); len(missing) > 0 {
			t.Say(fmt.Sprintf("%s is not used before it has a value for %s; adze plugin configure %s asks for it", x.ID, strings.Join(missing, ", "), x.ID))
		}
		return nil
	}
	for _, o := range x.Options {
		value, err := t.askOption(o)
		if err != nil {
			return err
		}
		if value == "" {
			continue
		}
		if err := t.setOption(ctx, x, o, value); err != nil {
			return err
		}
	}
	return nil
}

func (t *Task) setOption(ctx context.Context, x *plugin.Plugin, o plugin.Option, value string) error {
	if value != "" {
		if _, err := plugins.CheckOption(o, value); err != nil {
			return err
		}
	}
	return t.Plugins.SetOption(ctx, x, o, value)
}

// maxQuestion is the maximum length of each part of a prompt for an option, in characters.
const maxQuestion = 300

// askOption asks for an option's value. An empty answer leaves it unchanged.
func (t *Task) askOption(o plugin.Option) (string, error) {
	question := o.Name
	if title := tool.OneLine(o.Title, maxQuestion); title != "" && title != o.Name {
		question += " (" + title + ")"
	}
	if o.Description != "" {
		question += ": " + tool.OneLine(o.Description, maxQuestion)
	}
	switch {
	case len(o.Default) > 0:
		question += fmt.Sprintf(" [%s]", tool.OneLine(string(o.Default), maxQuestion))
	case o.Required:
		question += " [required]"
	default:
		question += " [optional]"
	}
	if !o.Secret {
		return t.Ask(question + " ")
	}
	if !t.StdinTerminal {
		return "", setup.Errorf("%s is a secret: enter it at a terminal, or pass %s=VALUE", o.Name, o.Name)
	}
	return t.Secret(question + " (not shown) ")
}
