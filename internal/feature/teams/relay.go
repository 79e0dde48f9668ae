package teams

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"adze/internal/domain/team"
	"adze/internal/permission"
	"adze/internal/platform/fs/scope"
	"adze/internal/tool"
)

// planTool is the tool that presents a plan.
const planTool = "ExitPlanMode"

// Ask forwards a permission prompt to the lead: a plan that needs approval goes to the lead's
// model, any other call to the user. It implements [permission.Asker].
func (m *Teammate) Ask(ctx context.Context, q permission.Question) (permission.Answer, error) {
	if q.Tool == planTool {
		return m.askPlan(ctx, q)
	}
	request, err := relayed(q)
	if err != nil {
		return permission.Answer{}, err
	}
	body, err := m.post.Ask(ctx, team.Lead, &team.PermissionRequest{Request: team.NewRequest(), Question: request})
	if err != nil {
		return permission.Answer{}, err
	}
	r, ok := body.(*team.PermissionResponse)
	if !ok {
		return permission.Answer{}, errors.New("the lead has answered something else")
	}
	a := permission.Answer{Behavior: permission.Deny, Message: r.Message, Interrupt: r.Interrupt}
	if r.Allowed {
		a = permission.Answer{Behavior: permission.Allow, Input: r.Input}
		if len(r.Updates) > 0 {
			if err := json.Unmarshal(r.Updates, &a.Updates); err != nil {
				return permission.Answer{}, fmt.Errorf("the answer of the lead cannot be read: %w", err)
			}
		}
	}
	return a, nil
}

// askPlan asks the lead to approve a plan. A teammate that entered plan mode on its own needs
// no approval.
func (m *Teammate) askPlan(ctx context.Context, q permission.Question) (permission.Answer, error) {
	t, err := m.cfg.Store.Open(m.cfg.Team)
	if err != nil {
		return permission.Answer{}, err
	}
	if me := t.Member(m.cfg.Name); me != nil && !me.Plans {
		return permission.Answer{Behavior: permission.Allow, By: "the teammate"}, nil
	}
	var plan struct {
		Plan string `json:"plan"`
		Path string `json:"planFilePath"`
	}
	if err := json.Unmarshal(q.Input, &plan); err != nil {
		return permission.Answer{}, fmt.Errorf("reading the plan: %w", err)
	}
	body, err := m.post.Ask(ctx, team.Lead, &team.PlanRequest{Request: team.NewRequest(), Plan: plan.Plan, Path: plan.Path})
	if err != nil {
		return permission.Answer{}, err
	}
	r, ok := body.(*team.PlanResponse)
	if !ok {
		return permission.Answer{}, errors.New("the lead has answered something else")
	}
	if !r.Approved {
		return permission.Answer{Behavior: permission.Deny, By: "lead", Message: r.Feedback}, nil
	}
	a := permission.Answer{Behavior: permission.Allow, By: "the lead"}
	mode, err := permission.ParseMode(r.Mode)
	if err != nil || mode == permission.Plan {
		mode = permission.Default
	}
	a.Updates = []permission.Update{{Type: permission.SetMode, Mode: mode, Destination: scope.Session}}
	return a, nil
}

// A suggestion is a permission update offered by a dialog.
type suggestion struct {
	permission.Update
	Wider bool `json:"wider,omitempty"`
}

// relayed converts a question for sending.
func relayed(q permission.Question) (team.Question, error) {
	r := team.Question{
		Tool: q.Tool, Title: q.Title, DisplayName: q.DisplayName, Command: q.Command, About: q.About, Consent: q.Consent, Server: q.Server,
		Input: q.Input, Reason: q.Reason.String(), BlockedPath: q.BlockedPath, NeedsPerson: q.NeedsPerson, Firm: q.Firm, Dir: q.Dir, Warning: q.Warning,
	}
	if p, ok := q.Preview.(tool.Plain); ok {
		r.Preview = p.Text
	}
	if diffs := tool.Diffs(q.Preview); len(diffs) > 0 {
		data, err := json.Marshal(diffs)
		if err != nil {
			return r, err
		}
		r.Changes = data
	}
	var all []suggestion
	for _, u := range q.Suggestions {
		all = append(all, suggestion{u, u.Wider})
	}
	data, err := json.Marshal(all)
	r.Suggestions = data
	return r, err
}

// received converts a question for the lead's front end, adding the teammate's name.
func received(from string, r team.Question) (permission.Question, error) {
	q := permission.Question{
		Tool: r.Tool, Title: r.Title, Agent: &permission.Agent{ID: from, Type: "teammate", Title: from}, DisplayName: r.DisplayName, Command: r.Command, About: r.About, Consent: r.Consent, Server: r.Server,
		Input: r.Input, Reason: permission.Reason{Text: r.Reason},
		BlockedPath: r.BlockedPath, NeedsPerson: r.NeedsPerson, Firm: r.Firm, Dir: r.Dir, Warning: r.Warning,
	}
	if r.Preview != "" {
		q.Preview = tool.Plain{Text: r.Preview}
	}
	if len(r.Changes) > 0 {
		var changes tool.Changes
		if err := json.Unmarshal(r.Changes, &changes); err != nil {
			return q, fmt.Errorf("the changes of the question cannot be read: %w", err)
		}
		q.Preview = changes
	}
	var all []suggestion
	if len(r.Suggestions) > 0 {
		if err := json.Unmarshal(r.Suggestions, &all); err != nil {
			return q, fmt.Errorf("reading the suggestions: %w", err)
		}
	}
	for _, s := range all {
		s.Update.Wider = s.Wider
		q.Suggestions = append(q.Suggestions, s.Update)
	}
	return q, nil
}

// relay prompts the user with a teammate's question and sends the answer back.
func (l *Lead) relay(ctx context.Context, m team.Message, r *team.PermissionRequest) {
	q, err := received(m.From, r.Question)
	var a permission.Answer
	if err == nil {
		a, err = l.cfg.Gate.Ask(ctx, q)
	}
	if ctx.Err() != nil {
		return
	}
	answer := &team.PermissionResponse{Request: r.Request, Allowed: err == nil && a.Behavior == permission.Allow, Message: a.Message, Interrupt: a.Interrupt}
	switch {
	case err != nil:
		answer.Message = err.Error()
	case answer.Allowed:
		answer.Input = a.Input
		answer.Updates, err = json.Marshal(a.Updates)
	case a.By == permission.Headless:
		answer.Message = "no user to answer questions at the lead"
	}
	if err != nil {
		answer.Allowed = false
	}
	if _, err := l.office().Send(ctx, m.From, team.Message{Body: answer}); err != nil {
		l.cfg.Log.Warn("an answer did not reach a teammate", "to", m.From, "err", err)
	}
}
