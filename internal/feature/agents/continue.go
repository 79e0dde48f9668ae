package agents

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adze/internal/msg"
	"adze/internal/platform/text/texts"
	"adze/internal/session"
	"adze/internal/tool"
)

// Known returns the IDs of the agents that can be messaged, in order.
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

// Any reports whether any agents can be messaged.
func (a *Agents) Any() bool {
	if a == nil {
		return false
	}
	a.mu.Lock()
	some := len(a.runs) > 0
	a.mu.Unlock()
	return some || len(a.records.ids()) > 0
}

// listed joins names for use in a sentence.
func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// ErrUnknown reports an unknown agent.
var ErrUnknown = errors.New("no such agent")

// Continue sends a message to an agent. A running agent receives it after its current step; a
// finished one resumes in the background. It returns a text for the model.
func (a *Agents) Continue(ctx context.Context, id, text string) (string, error) {
	if a == nil || !slices.Contains(a.Known(), id) {
		return "", fmt.Errorf("%w: %s; there are %s", ErrUnknown, tool.OneLine(id, 80), listed(a.Known()))
	}
	a.mu.Lock()
	x := a.runs[id]
	a.mu.Unlock()
	if x != nil {
		if sent, err := x.send(ctx, text); sent || err != nil {
			return statusText(a.cfg.Language(), "sent", id, err)
		}
		<-x.done // about to end
	}
	r, err := a.again(id, x)
	if err != nil {
		return "", err
	}
	r.Prompt, r.Background = text, true
	_, err = a.Launch(ctx, *r, nil)
	return statusText(a.cfg.Language(), "resumed", id, err)
}

// statusText returns a catalog text about an agent, or err.
func statusText(l texts.Language, name, id string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return catalogue.Text(l, name, id), nil
}

// send sends text to a running agent and reports whether it was delivered.
func (x *run) send(ctx context.Context, text string) (bool, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended || x.worker == nil {
		return false, nil
	}
	return true, x.worker.Session.Submit(ctx, session.FollowUp{Parts: []msg.Part{&msg.Text{Text: text}}, Quoted: true})
}

// again returns the request to resume an agent: x, or an agent of an earlier process if x is
// nil.
func (a *Agents) again(id string, x *run) (*Request, error) {
	r := &Request{}
	if x != nil {
		r.Spec, r.Definition = x.spec, x.spec.Definition
		r.Spec.Tree = nil
		r.Use, r.Description = x.use, x.spec.Title
	} else if err := a.recall(id, r); err != nil {
		return nil, err
	}
	if r.Spec.MemoryTask != nil {
		return nil, errors.New("an agent that looks after memories is not continued")
	}
	r.Spec.ID, r.Spec.Asks, r.Spec.Resumed = id, nil, true
	if r.Definition == nil && upToAnswer(a.cfg.Session().Conversation(), r.Spec.Use) == nil {
		return nil, fmt.Errorf("the agent %s cannot go on: %w", id, errNoAnswer)
	}
	if r.Definition != nil && r.Definition.OneShot {
		return nil, fmt.Errorf("an agent of the type %s is not continued: launch another one", r.Definition.Name)
	}
	if dir := r.Spec.Dir; dir != "" {
		if err := checkDir(dir); err != nil {
			return nil, fmt.Errorf("the agent %s cannot go on: %w", id, err)
		}
	}
	return r, nil
}

// recall completes a request from an agent's stored record.
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
	r.Spec, r.Description, r.Use = b, b.Title, b.Use
	return nil
}
