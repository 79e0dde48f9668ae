// Package styles finds a workspace's output styles and selects the one named in the settings.
package styles

import (
	"context"
	"fmt"
	"strings"

	"adze/internal/domain/style"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/text/rank"
	"adze/internal/platform/text/texts"
	"adze/internal/settings"
)

// A Chooser selects a workspace's output style. All fields are required.
type Chooser struct {
	Project  *settings.Project
	Language func() texts.Language
	// Plugins returns the plugins' directories.
	Plugins func() []style.Root
	Say     func(string)
}

// All returns the available styles, read from disk.
func (c *Chooser) All() *style.Set {
	var roots []style.Root
	for _, f := range c.Project.Folders("output-styles") {
		roots = append(roots, style.Root{Path: f.Path, Origin: f.Scope.Text()})
	}
	return style.Load(append(roots, c.Plugins()...), c.Language())
}

// Chosen returns the style named in the settings. If it does not exist, this is reported and
// the default used.
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
	if near := rank.Closest(name, set.Names(), 1); len(near) > 0 {
		return fmt.Errorf("unknown output style %s; did you mean %s?", name, near[0])
	}
	return fmt.Errorf("unknown output style %s", name)
}

// Choose saves a style in the local settings, for conversations after the current one, which
// has the style now. It returns a message for the user; short abbreviates paths.
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
	return fmt.Sprintf("New conversations will use the output style %s; /clear starts one. This conversation keeps %s, so that the provider's cache stays valid. Saved in %s.",
		s.Name, now, short(file)), nil
}
