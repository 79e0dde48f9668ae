package skills

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"adze/internal/domain/skill"
	"adze/internal/model"
	"adze/internal/model/catalog"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/session"
	"adze/internal/tool"
	skilltool "adze/internal/tools/skill"
)

var errNone = errors.New("no skills")

// maxPrompt is the maximum size of an expanded prompt, in bytes.
const maxPrompt = 400_000

func (s *Skills) enabled() error {
	switch {
	case s.cfg.Off:
		return errors.New("skills are left out in this session")
	case s.start.get() != nil || len(s.menu.listed()) > 0:
		return nil
	}
	if _, ok := s.cfg.Library.(*fetching); ok { // remote skills are not listed
		return nil
	}
	return errNone
}

// typed builds the prompt of a skill typed by the user.
func (s *Skills) typed(ctx context.Context, name, args string) (session.Prompt, error) {
	k := s.menu.find(ctx, name)
	if k == nil {
		return session.Prompt{}, fmt.Errorf("the skill /%s no longer exists", name)
	}
	granted, err := s.consent(ctx, k, args)
	if err != nil {
		return session.Prompt{}, err
	}
	x, err := s.expand(ctx, k, args, granted)
	if err != nil {
		return session.Prompt{}, err
	}
	line := strings.TrimSpace("/" + name + " " + args)
	if k.Fork {
		text, err := s.fork(ctx, x, nil)
		if err != nil {
			return session.Prompt{}, err
		}
		x.text = catalogue.Text(s.cfg.Language(), "forked", k.Name) + "\n\n" + text
		return session.Prompt{Parts: []msg.Part{&msg.Text{Text: line}, msg.Reminder(msg.Neutralise(x.text))}, Words: line}, nil
	}
	s.cfg.override(ctx, k)
	text := catalogue.Text(s.cfg.Language(), "typed", k.Name) + "\n" + x.text
	return session.Prompt{Parts: []msg.Part{&msg.Text{Text: line}, &msg.Text{Text: text}}, Words: args + "\n" + x.words}, nil
}

// consent determines whether a skill typed by the user gets the permissions it requests. Typing
// the name implies consent to its text; anything beyond that prompts. An error means the skill
// does not run.
func (s *Skills) consent(ctx context.Context, k *skill.Skill, args string) (granted bool, err error) {
	w := s.cfg.wish(k)
	if w.Broken != nil {
		return false, w.Broken
	}
	input, err := json.Marshal(skilltool.Input{Skill: k.Name, Args: args})
	if err != nil {
		return false, err
	}
	u := &tool.Use{ToolUse: *msg.NewToolUse("typed_skill", skilltool.Name, string(input)), Tool: s.Tool(), Call: s.tool.Call(k, args)}
	p := s.cfg.Gate.Policy()
	d := permission.Decide(p, permission.FactsOf(p, u.Tool, u.Call))
	switch {
	case d.Behavior == permission.Deny && d.Reason.Type() == permission.ByRule:
		return false, fmt.Errorf("the skill /%s is not run: %s", k.Name, d.Reason)
	case d.Behavior == permission.Allow:
		return true, nil
	case d.Behavior == permission.Ask && !d.Firm && k.Origin.Kind == skill.Managed:
		return true, nil
	case d.Behavior == permission.Ask:
		if err := s.cfg.Gate.Before(ctx, u); err != nil {
			return false, err
		}
		if u.Verdict.Decision == tool.Allow {
			return true, nil
		}
		if u.Verdict.Rejected {
			return false, fmt.Errorf("the skill /%s is not run, because you said no", k.Name)
		}
	}
	how := fmt.Sprintf("to allow it, add the rule %s(%s)", skilltool.Name, k.Name)
	if w.Personal {
		how = "call it at a terminal to review its hooks"
	}
	s.cfg.Say(fmt.Sprintf("the skill /%s runs without the permissions it requests (%s); %s", k.Name, inLine(w.Text), how))
	return false, nil
}

// inLine formats a list for use in a sentence.
func inLine(list string) string {
	return tool.OneLine(strings.ReplaceAll(strings.TrimPrefix(list, "- "), "\n- ", "; "), 300)
}

// called runs a skill called by the model. It has passed the gates, so it gets the permissions
// it requests.
func (s *Skills) called(ctx context.Context, k *skill.Skill, args string, report func(tool.Progress)) (tool.Result, error) {
	x, err := s.expand(ctx, k, args, true)
	if err != nil {
		return tool.Result{}, err
	}
	out := skilltool.Output{Success: true, Name: k.Name, Status: "inline"}
	l := s.cfg.Language()
	if k.Fork {
		text, err := s.fork(ctx, x, report)
		if err != nil {
			return tool.Result{}, err
		}
		out.Status, out.Result = "forked", text
		r := tool.Text(catalogue.Text(l, "forked", k.Name) + "\n\n" + text)
		r.Structured = out
		return r, nil
	}
	s.cfg.override(ctx, k)
	r := tool.Text(catalogue.Text(l, "running", k.Name))
	r.Structured = out
	r.Display = tool.Plain{Text: "running the skill " + k.Name}
	r.Context = []msg.Part{msg.Reminder(catalogue.Text(l, "called", k.Name) + "\n" + x.text)}
	return r, nil
}

// fork runs a skill in its own conversation.
func (s *Skills) fork(ctx context.Context, x *expansion, report func(tool.Progress)) (string, error) {
	defer s.grants.end(x.run)
	if s.cfg.Fork == nil {
		return "", fmt.Errorf("the skill %s runs on its own (context: fork), which is not available here", x.skill.Name)
	}
	name, effort := s.cfg.wanted(x.skill)
	return s.cfg.Fork(ctx, Fork{Skill: x.skill, Prompt: x.text, Rules: x.run.rules, Model: name, Effort: effort, Report: report})
}

// override applies the skill's model and effort to the rest of the turn.
func (c *Config) override(ctx context.Context, k *skill.Skill) {
	name, effort := c.wanted(k)
	if name == "" && effort == "" {
		return
	}
	if err := c.Session().Submit(ctx, session.Override{Model: name, Effort: effort}); err != nil {
		c.Say(fmt.Sprintf("the skill %s: %v", k.Name, err))
	}
}

// overriding returns the model to use in place of the current one, keeping the long-context
// suffix if both models support it. A skill cannot send the conversation to another provider.
func (c *Models) overriding(current, name string) (string, error) {
	now, err := c.Lookup(current)
	if err != nil {
		return "", err
	}
	other, err := c.Lookup(name)
	if err == nil && providerOf(other.ID) != providerOf(now.ID) {
		return "", errors.New("it is at another provider than the current model")
	}
	if strings.HasSuffix(current, catalog.LongSuffix) && !strings.HasSuffix(name, catalog.LongSuffix) {
		if known, err := c.Lookup(name + catalog.LongSuffix); err == nil && known.Known {
			return name + catalog.LongSuffix, nil
		}
	}
	known, err := c.Lookup(name)
	if err == nil && !known.Known && !c.Elsewhere(known.ID) {
		err = errors.New("it is not known")
	}
	return name, err
}

// providerOf returns the provider prefix of a model ID; empty for the vendor's own API.
func providerOf(id string) string {
	name, _, ok := strings.Cut(id, "/")
	if !ok {
		return ""
	}
	return name
}

// wanted returns the model and effort requested by a skill, or zero values. Unknown names are
// reported and ignored.
func (c *Config) wanted(k *skill.Skill) (name string, effort model.Effort) {
	if !k.Origin.Own() {
		return "", ""
	}
	if k.Model != "" && k.Model != "inherit" {
		var err error
		if name, err = c.Models.overriding(c.Session().Model(), k.Model); err != nil {
			c.Say(fmt.Sprintf("the skill %s asks for the model %s: %v; the current one is used", k.Name, k.Model, err))
			name = ""
		}
	}
	switch e := model.Effort(k.Effort); e {
	case model.EffortDefault, model.EffortLow, model.EffortMedium, model.EffortHigh, model.EffortXHigh, model.EffortMax:
		effort = e
	default:
		c.Say(fmt.Sprintf("the skill %s has an unknown effort %s (want low, medium, high, xhigh or max); using the current one", k.Name, tool.OneLine(k.Effort, 40)))
	}
	return name, effort
}
