package commands

import (
	"context"
	"errors"

	"adze/internal/domain/style"
)

// Styles are the output styles.
type Styles struct {
	// All returns the available styles; nil means none.
	All func() *style.Set
	// Current returns the name of the current style. Choose saves another for future
	// conversations, and returns a message for the user.
	Current func() string
	Choose  func(ctx context.Context, name string) (string, error)
}

// List returns the name of the current style, and the names of all available ones.
func (s *Styles) List() (current string, names []string) {
	if s.All == nil {
		return style.Default, []string{style.Default}
	}
	return s.Current(), s.All().Names()
}

func outputStyleCommand() Command {
	return Command{Name: "output-style", Kind: Change, Args: "[NAME]", Doc: "show the output styles, or choose one for new conversations",
		Run: func(ctx context.Context, r *Registry, name string) (Answer, error) {
			s := r.Env.Styles
			if s.All == nil {
				return nil, errors.New("no output styles in this session")
			}
			if name != "" {
				return chooseStyle(ctx, r, name)
			}
			return r.stylesPage(s.All()), nil
		},
		Complete: func(r *Registry, _ string) []string { _, names := r.Env.Styles.List(); return names }}
}

// chooseStyle saves a style for future conversations.
func chooseStyle(ctx context.Context, r *Registry, name string) (Answer, error) {
	if !r.Terminal {
		return nil, ErrTerminal
	}
	text, err := r.Env.Styles.Choose(ctx, name)
	if err != nil {
		return nil, err
	}
	return Say(text), nil
}

// stylesPage lists the styles to choose from.
func (r *Registry) stylesPage(set *style.Set) Answer {
	page := Say("The output style of this conversation is " + r.Env.Styles.Current() + ".")
	for _, p := range set.Problems {
		page.Add(Notice(p.Error()))
	}
	if !r.Terminal {
		var t Terms
		for _, s := range set.Styles {
			t = append(t, Term{s.Name, s.Description + " (" + s.Origin + ")"})
		}
		page.Add(t)
		return page
	}
	list := List{Page: page, Title: "Output style", Usage: "/output-style NAME", Choose: func(ctx context.Context, c Choice) (Answer, error) { return chooseStyle(ctx, r, c.ID) }}
	for _, s := range set.Styles {
		list.Choices = append(list.Choices, Choice{ID: s.Name, Title: s.Name, About: s.Description + " (" + s.Origin + ")"})
	}
	return list
}
