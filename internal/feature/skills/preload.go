package skills

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/session"
	"adze/internal/tool"
	skilltool "adze/internal/tools/skill"
)

// Preload returns a prompt hook that adds skill texts to the first prompt, without granting their
// permissions. The user and the model are notified of skills that cannot be loaded.
func (s *Skills) Preload(names []string) func(context.Context, session.Prompt) session.HookResult {
	var once sync.Once
	return func(ctx context.Context, _ session.Prompt) (h session.HookResult) {
		if s == nil || len(names) == 0 {
			return h
		}
		once.Do(func() {
			for _, name := range names {
				h.Context = append(h.Context, msg.Reminder(s.preload(ctx, name)))
			}
		})
		return h
	}
}

// preload returns a skill's text for an agent whose definition names it, or the error message.
func (s *Skills) preload(ctx context.Context, name string) string {
	l := s.cfg.Language()
	text, err := s.load(ctx, name)
	if err != nil {
		shown := tool.OneLine(name, 80)
		s.cfg.Say(fmt.Sprintf("the agent works without the skill %s, which its definition names: %v", shown, err))
		return catalogue.Text(l, "unloaded", msg.Neutralise(shown), tool.OneLine(msg.Neutralise(err.Error()), 300))
	}
	return catalogue.Text(l, "preloaded", name) + "\n" + text
}

// load returns the text of a skill without calling it.
func (s *Skills) load(ctx context.Context, name string) (string, error) {
	if s.cfg.Off {
		return "", errors.New("skills are left out in this session")
	}
	k := s.menu.find(ctx, name)
	switch {
	case k == nil:
		return "", errors.New("no such skill")
	case k.Manual:
		return "", errors.New("only the user calls it")
	}
	p := s.cfg.Gate.Policy()
	if d := permission.Decide(p, permission.FactsOf(p, s.Tool(), s.tool.Call(k, ""))); d.Behavior == permission.Deny && d.Reason.Type() == permission.ByRule {
		return "", fmt.Errorf("%s(%s): %s", skilltool.Name, k.Name, d.Reason)
	}
	x, err := s.expand(ctx, k, "", false)
	if err != nil {
		return "", err
	}
	return x.text, nil
}
