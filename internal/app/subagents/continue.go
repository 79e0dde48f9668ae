package subagents

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adze/internal/msg"
	"adze/internal/platform/texts"
	"adze/internal/session"
	"adze/internal/tool"
)

// Known returns the ids of the agents that can be spoken to, in order.
func (a *Agents) Known() []string {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	ids := slices.Collect(maps.Keys(a.runs))
	a.mu.Unlock()
	ids = append(ids, a.records.ids()...)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Any reports whether there are agents that can be spoken to.
func (a *Agents) Any() bool {
	if a == nil {
		return false
	}
	a.mu.Lock()
	some := len(a.runs) > 0
	a.mu.Unlock()
	return some || len(a.records.ids()) > 0
}

// listed returns names as part of a sentence.
func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// ErrUnknown says that there is no such agent.
var ErrUnknown = errors.New("there is no such agent")

// Continue tells an agent something: one that works hears it when its current step is done, one that has ended goes on
// in the background. It returns what to tell the model.
func (a *Agents) Continue(ctx context.Context, id, text string) (string, error) {
	if a == nil || !slices.Contains(a.Known(), id) {
		return "", fmt.Errorf("%w: %s; there are %s", ErrUnknown, tool.OneLine(id, 80), listed(a.Known()))
	}
	a.mu.Lock()
	x := a.runs[id]
	a.mu.Unlock()
	if x != nil {
		if sent, err := x.send(ctx, text); sent || err != nil {
			return said(a.cfg.Language(), "sent", id, err)
		}
		<-x.done // it is about to end
	}
	r, err := a.again(id, x)
	if err != nil {
		return "", err
	}
	r.Prompt, r.Background = text, true
	_, err = a.Launch(ctx, *r, nil)
	return said(a.cfg.Language(), "resumed", id, err)
}

// said returns a text of the catalogue about an agent, unless something went wrong.
func said(l texts.Language, name, id string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return catalogue.Text(l, name, id), nil
}

// send tells an agent that works something, and reports whether it still hears it.
func (x *run) send(ctx context.Context, text string) (bool, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended || x.worker == nil {
		return false, nil
	}
	return true, x.worker.Session.Submit(ctx, session.FollowUp{Parts: []msg.Part{&msg.Text{Text: text}}, Quoted: true})
}

// again returns the request that continues an agent: x, or one of an earlier process if x is nil.
func (a *Agents) again(id string, x *run) (*Request, error) {
	r := &Request{}
	if x != nil {
		r.Birth, r.Definition = x.birth, x.birth.Definition
		r.Birth.Tree = nil
		r.Use, r.Description = x.use, x.birth.Title
	} else if err := a.recall(id, r); err != nil {
		return nil, err
	}
	if r.Birth.Keeper != nil {
		return nil, errors.New("an agent that looks after memories is not continued")
	}
	r.Birth.ID, r.Birth.Asks, r.Birth.Again = id, nil, true
	if r.Definition == nil && upToAnswer(a.cfg.Session().Conversation(), r.Birth.Use) == nil {
		return nil, fmt.Errorf("the agent %s cannot go on: %w", id, errNoAnswer)
	}
	if r.Definition != nil && r.Definition.OneShot {
		return nil, fmt.Errorf("an agent of the type %s is not continued: launch another one", r.Definition.Name)
	}
	if dir := r.Birth.Dir; dir != "" {
		if err := checkDir(dir); err != nil {
			return nil, fmt.Errorf("the agent %s cannot go on: %w", id, err)
		}
	}
	return r, nil
}

// recall completes a request with what was kept of an agent.
func (a *Agents) recall(id string, r *Request) error {
	kind, b, err := a.records.read(id)
	if err != nil {
		return err
	}
	if kind != forkType {
		if r.Definition = a.cfg.Definitions.All().Get(kind); r.Definition == nil {
			return fmt.Errorf("the agent %s cannot go on: %w", id, a.kinds.unknown(kind))
		}
	}
	r.Birth, r.Description, r.Use = b, b.Title, b.Use
	return nil
}
