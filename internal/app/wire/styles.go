package wire

import (
	"context"
	"fmt"
	"strings"

	"adze/internal/app/settings"
	"adze/internal/desk"
	"adze/internal/platform/scope"
	"adze/internal/platform/spell"
	"adze/internal/platform/texts"
	"adze/internal/skill"
	"adze/internal/skill/library"
	"adze/internal/style"
)

// styles returns the output styles that can be chosen.
func (w *Workspace) styles() *style.Set {
	return style.Load(append(styleRoots(w.Project), pluginSet(w).Styles()...), w.language())
}

// styleRoots returns the folders of output styles.
func styleRoots(p *settings.Project) []style.Root {
	var roots []style.Root
	for _, f := range p.Folders("output-styles") {
		roots = append(roots, style.Root{Path: f.Path, Origin: f.Scope.Text()})
	}
	return roots
}

// style returns the output style that the settings name. One that does not exist is reported, and the default used.
func (w *Workspace) style() style.Style {
	name := w.values().Prompt.Style
	if name == "" || strings.EqualFold(name, style.Default) {
		return style.Style{Name: style.Default, Coding: true}
	}
	set := w.styles()
	if s := set.Find(name); s != nil {
		return *s
	}
	w.Say(unknownStyle(set, name).Error() + "; the default is used")
	return style.Style{Name: style.Default, Coding: true}
}

// unknownStyle returns the error for a style that does not exist.
func unknownStyle(set *style.Set, name string) error {
	if near := spell.Closest(name, set.Names(), 1); len(near) > 0 {
		return fmt.Errorf("there is no output style %s; did you mean %s?", name, near[0])
	}
	return fmt.Errorf("there is no output style %s", name)
}

// deskStyles gives the desk access to output styles.
func deskStyles(c *Conversation) desk.Styles {
	return desk.Styles{
		All:     c.ws.styles,
		Current: func() string { return c.told.style },
		Choose: func(ctx context.Context, name string) (string, error) {
			set := c.ws.styles()
			s := set.Find(name)
			if s == nil {
				return "", unknownStyle(set, name)
			}
			file, idle, err := c.ws.Project.Change(ctx, c.ws.Say, scope.Local, "outputStyle", &s.Name)
			if err != nil || idle != "" {
				return idle, err
			}
			return fmt.Sprintf("The output style is %s from the next conversation on: /clear or a new start begins one. This one keeps %s, so that what was sent stays cached. Saved in %s.",
				s.Name, c.told.style, shortPath(c.ws.Dir, c.ws.Project.User, file)), nil
		},
	}
}

// Ecosystem returns the skills and output styles that conversations in the workspace would find on disk.
func Ecosystem(ctx context.Context, p *settings.Project) (*library.Set, *style.Set) {
	var roots []library.Root
	for _, name := range []string{"skills", "commands"} {
		for _, f := range p.Folders(name) {
			kind := map[scope.Scope]skill.Kind{scope.Managed: skill.Managed, scope.User: skill.User, scope.Project: skill.Project}[f.Scope]
			roots = append(roots, library.Root{Dir: f.Path, Origin: skill.Origin{Kind: kind, Command: name == "commands"}})
		}
	}
	l := library.Open(library.Config{Roots: func() []library.Root { return roots }, Dir: p.Trust.Dir})
	defer l.Close()
	return l.Set(ctx), style.Load(styleRoots(p), texts.English)
}
