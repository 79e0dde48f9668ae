package acp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/ask"
	"adze/internal/ui/draw"
)

// errSettled is why a request to the client is cancelled when its question needs no answer any
// more.
var errSettled = errors.New("the question is settled")

// asked asks the client a question in the background. A question that the client cannot show is
// refused.
func (t *thread) asked(q session.Asked) {
	var put func(ctx context.Context) (session.Reply, error)
	use := ""
	switch of := q.Question.(type) {
	case session.Permission:
		use = of.ID
		t.pend(&msg.ToolUse{ID: of.ID, Name: of.Tool, Input: of.Input})
		put = func(ctx context.Context) (session.Reply, error) { return t.askPermission(ctx, &of.Question) }
	case session.Choices:
		put = t.chooser(of)
	case session.Form:
		if t.caps.Elicitation.Form != nil && len(of.Schema) > 0 {
			put = func(ctx context.Context) (session.Reply, error) { return t.askForm(ctx, of) }
		}
	case session.Visit:
		if t.caps.Elicitation.URL != nil && !of.Opened {
			put = func(ctx context.Context) (session.Reply, error) { return t.askVisit(ctx, q.ID, of) }
		}
	}
	if put == nil {
		t.reply(q.ID, q.Unanswered())
		return
	}
	ctx, cancel := context.WithCancelCause(t.ctx)
	t.mu.Lock()
	done := make(chan struct{})
	t.open[q.ID] = openQuestion{cancel, done, use}
	t.mu.Unlock()
	t.asks.Go(func() {
		defer close(done)
		defer cancel(nil)
		reply, err := put(ctx)
		if err != nil {
			reply = q.Unanswered()
			if ctx.Err() == nil && !errors.Is(err, errGone) {
				t.s.cfg.Say(err.Error())
			}
		}
		t.reply(q.ID, reply)
	})
}

func (t *thread) reply(id string, r session.Reply) {
	t.Session.Submit(context.WithoutCancel(t.ctx), session.Answer{ID: id, Reply: r}) // ok: it may have been withdrawn in the meantime
}

// An openQuestion is a question for the client.
type openQuestion struct {
	cancel context.CancelCauseFunc
	done   <-chan struct{}
	use    string // ID of the call that needs approval; may be empty
}

// settled cancels the request for a question that was withdrawn. A call that was allowed goes
// on.
func (t *thread) settled(q session.Settled) {
	t.mu.Lock()
	open, ok := t.open[q.ID]
	delete(t.open, q.ID)
	t.mu.Unlock()
	if !ok {
		return
	}
	if q.Reply == nil {
		open.cancel(errSettled)
		<-open.done // the client gets this before the end of the turn
	}
	if d, ok := q.Reply.(session.Decision); ok && d.Behavior == permission.Allow && t.view.calls[open.use] {
		t.send(toolCall{Update: callUpdated, ToolCallID: open.use, Status: running})
	}
}

// pend tells the client that a call waits for an answer.
func (t *thread) pend(use *msg.ToolUse) {
	if t.view.know(use.ID) {
		t.send(toolCall{Update: callUpdated, ToolCallID: use.ID, Status: pending})
		return
	}
	c := t.describe(use)
	c.Update, c.Status = callStarted, pending
	t.send(c)
}

// The IDs of the permission options.
const (
	allowOnce  = "allow"
	rejectOnce = "reject"
	allowMore  = "always" // followed by a number
)

// askPermission asks whether a call may run. Only an option that was offered allows it.
func (t *thread) askPermission(ctx context.Context, q *permission.Question) (session.Reply, error) {
	yes := "Yes"
	if q.Draft != nil && q.Draft.Plan != nil {
		yes = "Yes, go ahead"
		if asks := q.Draft.Plan.Asks; len(asks) > 0 {
			yes += "; also allow: " + strings.Join(asks, "; ")
		}
	}
	options := []permissionOption{{allowOnce, tool.OneLine(yes, ask.MaxAbout), "allow_once"}}
	updates := map[string][]permission.Update{}
	for i, u := range lasting(q) {
		id := allowMore + strconv.Itoa(i)
		updates[id] = u
		options = append(options, permissionOption{id, tool.OneLine("Yes, and "+ask.Changes(q, u), ask.MaxAbout), "allow_always"})
	}
	options = append(options, permissionOption{rejectOnce, "No", "reject_once"})
	c := t.describe(&msg.ToolUse{ID: q.ID, Name: q.Tool, Input: q.Input})
	c.Status = pending
	c.Content = t.questionContent(q)
	chosen, err := t.choose(ctx, c, options)
	if err != nil {
		return nil, err
	}
	answer := permission.Answer{Behavior: permission.Deny, Interrupt: true}
	switch more, ok := updates[chosen]; {
	case chosen == allowOnce:
		answer = permission.Answer{Behavior: permission.Allow}
	case ok:
		answer = permission.Answer{Behavior: permission.Allow, Updates: more}
	}
	return session.Decision{Answer: answer}, nil
}

// lasting returns the changes that the user can agree to: the suggested ones together, and each
// wider one.
func lasting(q *permission.Question) (all [][]permission.Update) {
	if list := q.Lasting(); len(list) > 0 {
		all = append(all, list)
	}
	for _, u := range q.Suggestions {
		if u.Wider && q.Warning == "" {
			all = append(all, []permission.Update{u})
		}
	}
	return all
}

// choose asks the client for an option and returns its ID, or "" if the question was cancelled.
func (t *thread) choose(ctx context.Context, c toolCall, options []permissionOption) (string, error) {
	var out permissionResponse
	if err := t.s.conn.call(ctx, "session/request_permission", permissionRequest{t.id, c, options}, &out); err != nil {
		return "", err
	}
	if out.Outcome.Outcome != "selected" {
		return "", nil
	}
	return out.Outcome.OptionID, nil
}

// questionContent returns everything the user has to see to approve a call.
func (t *thread) questionContent(q *permission.Question) (content []callContent) {
	var notes []string
	if q.Agent != nil {
		notes = append(notes, tool.OneLine(q.Agent.String(), ask.MaxAbout)+" asks.")
	}
	if q.Warning != "" {
		notes = append(notes, "**"+q.Warning+"**")
	}
	if q.Command != "" && q.About != "" {
		notes = append(notes, tool.OneLine(q.About, ask.MaxAbout))
	}
	if why := ask.Why(q); why != "" {
		notes = append(notes, why)
	}
	if q.Consent != "" {
		notes = append(notes, q.Consent)
	}
	if len(notes) > 0 {
		content = append(content, textContent(strings.Join(notes, "\n\n")))
	}
	if q.Command != "" {
		content = append(content, textContent(fenced(spelled(q.Command))))
	}
	var input map[string]any
	switch d := q.Preview.(type) {
	case nil:
		switch {
		case q.Command != "":
		case q.Draft != nil && q.Draft.Plan != nil && json.Unmarshal(q.Input, &input) == nil:
			plan, _ := input[q.Draft.Field].(string) // ok: then the input is shown
			content = append(content, textContent(plan))
		case len(q.Input) > 0 && !q.NeedsPerson:
			content = append(content, textContent(fenced(spelled(indented(q.Input)))))
		}
	case tool.Plain:
		content = append(content, textContent(fenced(spelled(d.Text))))
	default:
		changes, _ := t.diffs(d)
		content = append(content, changes...)
	}
	return content
}

// spelled returns text with the characters spelled out that reorder or hide others.
func spelled(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = draw.Spell(lines[i])
	}
	return strings.Join(lines, "\n")
}

func indented(input json.RawMessage) string {
	var value any
	if json.Unmarshal(input, &value) != nil {
		return string(input)
	}
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return string(input)
	}
	return string(data)
}

// chooser returns a function that asks multiple-choice questions: in a form, or else one after
// the other, as if asking for a permission. It returns nil if the client can show neither.
func (t *thread) chooser(c session.Choices) func(context.Context) (session.Reply, error) {
	if t.caps.Elicitation.Form != nil {
		return func(ctx context.Context) (session.Reply, error) { return t.askChoices(ctx, c) }
	}
	if slices.ContainsFunc(c.Items, func(item session.Choice) bool { return len(item.Options) == 0 }) {
		return nil
	}
	return func(ctx context.Context) (session.Reply, error) {
		var s session.Selection
		for i, item := range c.Items {
			options := make([]permissionOption, 0, len(item.Options)+1)
			for j, o := range item.Options {
				name := o.Label
				if o.Description != "" {
					name += ": " + o.Description
				}
				options = append(options, permissionOption{strconv.Itoa(j), tool.OneLine(name, ask.MaxAbout), "allow_once"})
			}
			options = append(options, permissionOption{rejectOnce, "Skip", "reject_once"})
			call := toolCall{ToolCallID: cmpID(c, i), Title: tool.OneLine(item.Text, ask.MaxAbout), Kind: "other", Status: pending, Content: []callContent{textContent(item.Text)}}
			chosen, err := t.choose(ctx, call, options)
			if err != nil {
				return nil, err
			}
			n, err := strconv.Atoi(chosen)
			if err != nil || n < 0 || n >= len(item.Options) {
				return session.Selection{Declined: true}, nil
			}
			s.Chosen = append(s.Chosen, []string{item.Options[n].Label})
		}
		return s, nil
	}
}

// cmpID returns the ID of the call that asks, or of a question from elsewhere.
func cmpID(c session.Choices, item int) string {
	if c.Call.Use != "" {
		return c.Call.Use
	}
	return "question-" + strconv.Itoa(item) + "-" + msg.NewID()
}

// askChoices asks multiple-choice questions with one form.
func (t *thread) askChoices(ctx context.Context, c session.Choices) (session.Reply, error) {
	type option struct {
		Const string `json:"const"`
		Title string `json:"title"`
	}
	properties := map[string]any{}
	for i, item := range c.Items {
		field := map[string]any{"title": item.Text, "type": "string"}
		var options []option
		for _, o := range item.Options {
			title := o.Label
			if o.Description != "" {
				title += ": " + o.Description
			}
			options = append(options, option{o.Label, tool.OneLine(title, ask.MaxAbout)})
		}
		switch {
		case len(options) > 0 && item.Multiple:
			field["type"], field["items"] = "array", map[string]any{"anyOf": options}
		case len(options) > 0:
			field["oneOf"] = options
		}
		properties[strconv.Itoa(i)] = field
	}
	schema, err := json.Marshal(map[string]any{"type": "object", "properties": properties})
	if err != nil {
		return nil, err
	}
	message := "The model asks:"
	if c.From != "" {
		message = ask.Asks(c.From) + ":"
	}
	out, err := t.elicit(ctx, elicitationRequest{ToolCallID: c.Call.Use, Mode: "form", Message: message, RequestedSchema: schema})
	if err != nil || out.Action != string(session.Accept) {
		return session.Selection{Declined: true}, err
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(out.Content, &values); err != nil {
		return nil, err
	}
	s := session.Selection{}
	answered := false
	for i := range c.Items {
		var one string
		var several []string
		raw := values[strconv.Itoa(i)]
		if json.Unmarshal(raw, &one) == nil && one != "" {
			several = []string{one}
		} else if len(raw) > 0 && string(raw) != "null" && json.Unmarshal(raw, &several) != nil && one != "" {
			several = nil
		}
		answered = answered || len(several) > 0
		s.Chosen = append(s.Chosen, several)
	}
	if !answered {
		return session.Selection{Declined: true}, nil
	}
	return s, c.Check(s)
}

// elicit sends a question with a form or a page.
func (t *thread) elicit(ctx context.Context, in elicitationRequest) (out elicitationResponse, err error) {
	in.SessionID = t.id
	err = t.s.conn.call(ctx, "elicitation/create", in, &out)
	return out, err
}

// askForm asks for the values of a server's form.
func (t *thread) askForm(ctx context.Context, f session.Form) (session.Reply, error) {
	out, err := t.elicit(ctx, elicitationRequest{Mode: "form", Message: attributed(f.From, f.Message), RequestedSchema: f.Schema})
	if err != nil {
		return nil, err
	}
	filled := session.Filled{Action: action(out.Action)}
	if filled.Action == session.Accept {
		if filled.Values, err = f.Fill(out.Content); err != nil {
			return nil, err
		}
	}
	return filled, nil
}

// askVisit asks the user to open a server's page.
func (t *thread) askVisit(ctx context.Context, id string, v session.Visit) (session.Reply, error) {
	if v.ID != "" {
		id = v.ID
	}
	out, err := t.elicit(ctx, elicitationRequest{Mode: "url", Message: attributed(v.From, v.Message), ElicitationID: id, URL: v.URL})
	if err != nil {
		return nil, err
	}
	return session.Visited{Action: action(out.Action)}, nil
}

func attributed(from, message string) string {
	return ask.ServerAsks(from) + ": " + draw.CleanQuestion(message)
}

// action returns the user's action; anything unknown cancels.
func action(name string) session.Action {
	switch a := session.Action(name); a {
	case session.Accept, session.Decline:
		return a
	}
	return session.Cancel
}

// completed tells the client that the user has finished on a server's page.
func (t *thread) completed(_, id string) {
	if t.caps.Elicitation.URL != nil && id != "" {
		t.s.conn.notify("elicitation/complete", elicitationComplete{id})
	}
}
