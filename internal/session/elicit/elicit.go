// Package elicit handles MCP elicitation and sampling requests: it asks the user to fill in a
// form, visit a page, or permit a request to the model. Hooks may answer first. It limits how
// often a server may ask, and rejects requests that cannot be displayed.
package elicit

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"adze/internal/agent/sidequery"
	"adze/internal/hook"
	"adze/internal/mcp"
	"adze/internal/session"
)

// maxAsked is the number of requests a server may make per turn.
const maxAsked = 20

// Config configures an [Asker].
type Config struct {
	// Ask asks the user a question.
	Ask func(context.Context, session.Question) (session.Reply, error)
	// Fire runs the hooks of an event.
	Fire func(context.Context, hook.Event) hook.Outcome
	// Open opens a page in the user's web browser.
	Open func(url string) error
	// Say shows a message to the user.
	Say func(string)

	// Model sends a request to the conversation's model, whose ID ModelID returns. It is nil if
	// sampling is not available.
	Model   func(context.Context, sidequery.Question) (*sidequery.Answer, error)
	ModelID func() string
}

// An Asker asks the user of a conversation on behalf of servers. It is safe for concurrent use.
type Asker struct {
	cfg Config

	mu       sync.Mutex
	asked    map[string]int          // requests per server in this turn
	pages    map[page]chan<- bool    // pages the user should visit, with channels to signal completion
	complete func(server, id string) // called when a visit is complete; may be nil
}

// New returns an Asker.
func New(cfg Config) *Asker {
	return &Asker{cfg: cfg, asked: map[string]int{}, pages: map[page]chan<- bool{}}
}

// Client returns the handlers for server requests.
func (a *Asker) Client() mcp.Client {
	return mcp.Client{Elicit: a.elicit, Elicited: a.completed, Sample: a.sample}
}

// PromptHook resets the request limits at the start of a turn. It is a [session.PromptHook].
func (a *Asker) PromptHook(context.Context, session.Prompt) (h session.HookResult) {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.asked)
	return h
}

// errTooOften is returned to a server that exceeds maxAsked.
var errTooOften = errors.New("the server has asked too often in this turn")

// count counts a server's request and returns an error if the limit is exceeded.
func (a *Asker) count(server string) error {
	a.mu.Lock()
	a.asked[server]++
	n := a.asked[server]
	a.mu.Unlock()
	switch {
	case n <= maxAsked:
		return nil
	case n == maxAsked+1:
		a.cfg.Say(fmt.Sprintf("the server %s has made %d requests in this turn; ignoring further requests until the next turn", server, maxAsked))
	}
	return errTooOften
}

// elicit answers a server's request by asking the hooks, then the user.
func (a *Asker) elicit(ctx context.Context, e mcp.Elicitation) (mcp.Elicited, error) {
	server := e.Server
	if a.count(server) != nil {
		return answer(session.Decline), nil
	}
	q, err := questionOf(e)
	if err != nil {
		a.cfg.Say(fmt.Sprintf("a question of the server %s was declined: %v", server, err))
		return answer(session.Decline), nil
	}
	asked := hook.ElicitRequest{Server: server, Message: e.Message, Schema: e.Schema, URL: e.URL, ID: e.ID}
	out := a.cfg.Fire(ctx, hook.OnElicitation(asked))
	result, hooked := a.hooked(q, out, mcp.Elicited{})
	if !hooked {
		if result, err = a.ask(ctx, q, e); err != nil {
			return answer(session.Cancel), err
		}
	}
	out = a.cfg.Fire(ctx, hook.OnElicitationResult(asked, result.Action, result.Values))
	if changed, hooked := a.hooked(q, out, result); hooked {
		result = changed
	}
	return result, nil
}

func answer(action session.Action) mcp.Elicited { return mcp.Elicited{Action: string(action)} }

// hooked returns the hooks' answer, which replaces earlier, and reports whether there is one.
func (a *Asker) hooked(q session.Question, out hook.Outcome, earlier mcp.Elicited) (mcp.Elicited, bool) {
	switch {
	case out.Blocked || out.Stop != "":
		return answer(session.Decline), true
	case out.Action == "":
		return earlier, false
	case out.Action != string(session.Accept):
		return mcp.Elicited{Action: out.Action}, true
	}
	result := mcp.Elicited{Action: out.Action, Values: earlier.Values}
	form, ok := q.(session.Form)
	if !ok || out.Content == nil && earlier.Values != nil {
		return result, true
	}
	values, err := form.Fill(out.Content)
	if err != nil { // do not show a hook's error to the server
		a.cfg.Say(fmt.Sprintf("the answer of a hook to the server %s does not fit and is not used: %v", form.From, err))
		return earlier, false
	}
	result.Values = values
	return result, true
}

// ask asks the user.
func (a *Asker) ask(ctx context.Context, q session.Question, e mcp.Elicitation) (mcp.Elicited, error) {
	// External notifiers may be slow, so this does not wait; they end with the hooks.
	go a.cfg.Fire(context.WithoutCancel(ctx), hook.OnNotification("elicitation_dialog", e.Server, e.Message))
	if v, ok := q.(session.Visit); ok {
		action, err := a.visit(ctx, v, e)
		return answer(action), err
	}
	form := q.(session.Form)
	r, err := a.cfg.Ask(ctx, form)
	if err != nil {
		return mcp.Elicited{}, err
	}
	filled := r.(session.Filled)
	result := answer(filled.Action)
	if filled.Action == session.Accept {
		result.Values = form.WithDefaults(filled.Values)
	}
	return result, nil
}

// questionOf converts a server request to a question for the user.
func questionOf(e mcp.Elicitation) (session.Question, error) {
	if e.URL != "" {
		return pageOf(e)
	}
	return FormOf(e)
}
