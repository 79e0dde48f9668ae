package app

import (
	"context"
	"errors"
	"path/filepath"

	"adze/internal/instruct"
	"adze/internal/platform/fsys"
	"adze/internal/platform/paths"
	"adze/internal/platform/replace"
	"adze/internal/platform/term"
	"adze/internal/ui/plain"
)

var errNoInstructions = errors.New("no instructions are read in this session, so none can be added to")

// places lists the files of instructions that a line can be added to.
func (d *desk) places() ([]plain.Choice, error) {
	b := d.builder
	if b.announcer == nil || !b.announcer.Instructed() || b.home == "" {
		return nil, errNoInstructions
	}
	var choices []plain.Choice
	for _, p := range b.announcer.Places() {
		about := map[instruct.Kind]string{instruct.Project: "project", instruct.User: "for all your projects", instruct.Local: "private"}[p.Kind]
		if p.New {
			about += ", will be made"
		}
		if p.Keeps != "" {
			about += " and includes " + b.shortPath(p.Keeps)
		}
		choices = append(choices, plain.Choice{ID: p.Path, Title: b.shortPath(p.Path), About: about})
	}
	return choices, nil
}

// addLine adds a line to a file of instructions.
func (d *desk) addLine(ctx context.Context, path, line string) (string, error) {
	b := d.builder
	if err := b.announcer.Add(ctx, replace.New(filepath.Join(b.home, "locks")), path, line); err != nil {
		return "", err
	}
	return "Added to " + b.shortPath(path) + ". The model is told with your next prompt.", nil
}

// shortPath returns how a person would write a path, fit for the screen.
func (b *builder) shortPath(path string) string {
	short, home := paths.Relative(b.env.Dir, path), fsys.UserHome(b.env.Getenv)
	if short == path && home != "" && paths.Relative(home, path) != path {
		short = filepath.Join("~", paths.Relative(home, path))
	}
	return term.Sanitize(short)
}
