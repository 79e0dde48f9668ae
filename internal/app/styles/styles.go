// Package styles finds the output styles of a workspace, and says which one the settings choose. What styles are is left
// to the package style.
package styles

import (
	"context"
	"fmt"
	"strings"

	"adze/internal/app/settings"
	"adze/internal/platform/scope"
	"adze/internal/platform/spell"
	"adze/internal/platform/texts"
	"adze/internal/style"
)

// A Chooser knows the output styles of a workspace. All its fields are required.
type Chooser struct {
	Project  *settings.Project
	Language func() texts.Language
	// Plugins returns the folders of plugins.
	Plugins func() []style.Root
	Say     func(string)
}

// All returns the styles that can be chosen, as they are on disk now.
func (c *Chooser) All() *style.Set {
	var roots []style.Root
	for _, f := range c.Project.Folders("output-styles") {
		roots = append(roots, style.Root{Path: f.Path, Origin: f.Scope.Text()})
	}
	return style.Load(append(roots, c.Plugins()...), c.Language())
}

// Chosen returns the style that the settings name. One that does not exist is reported, and the default used.
func (c *Chooser) Chosen() style.Style {
	usual := style.Style{Name: style.Default, Coding: true}
	name := c.Project.Values().Prompt.Style
	if name == "" || strings.EqualFold(name, style.Default) {
		return usual
	}
	set := c.All()
	if s := set.Find(name); s != nil {
		return *s
	}
	c.Say(unknown(set, name).Error() + "; the default is used")
	return usual
}

// unknown returns the error for a style that does not exist.
func unknown(set *style.Set, name string) error {
	if near := spell.Closest(name, set.Names(), 1); len(near) > 0 {
		return fmt.Errorf("there is no output style %s; did you mean %s?", name, near[0])
	}
	return fmt.Errorf("there is no output style %s", name)
}

// Choose saves a style in the local settings, for the conversations that follow one with the style now. It returns what
// to tell the user; short writes paths as users do.
func (c *Chooser) Choose(ctx context.Context, name, now string, short func(path string) string) (string, error) {
	set := c.All()
	s := set.Find(name)
	if s == nil {
		return "", unknown(set, name)
	}
	file, idle, err := c.Project.Change(ctx, c.Say, scope.Local, "outputStyle", &s.Name)
	if err != nil || idle != "" {
		return idle, err
	}
	if s.Name == now {
		return fmt.Sprintf("The output style is %s, in this conversation and the next ones. Saved in %s.", s.Name, short(file)), nil
	}
	return fmt.Sprintf("The output style is %s from the next conversation on: /clear or a new start begins one. This one keeps %s, so that what was sent stays cached. Saved in %s.",
		s.Name, now, short(file)), nil
}
