package headless

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"adze/internal/permission"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/hostapi"
	"adze/internal/ui/streamjson"
)

// asked sends a question to the host, or refuses it without a host. Hosts answer permission
// requests, questions from the model, and server elicitations.
func (f *Front) asked(ctx context.Context, q session.Asked) {
	if f.host != nil {
		if request := f.host.requestFor(q); request != nil && f.host.ask(question{q, request}) {
			f.host.state(true)
			return
		}
	}
	f.refuse(ctx, q)
}

// requestFor returns the request that sends a question to the host, or nil if the host does not
// support it.
func (sv *server) requestFor(q session.Asked) []byte {
	switch of := q.Question.(type) {
	case session.Permission:
		if sv.h.Asks {
			return canUseTool(q.ID, of, sv.h.provenance(of.Server))
		}
	case session.Choices:
		if sv.h.Asks {
			return askChoices(q.ID, of)
		}
	case session.Form:
		if sv.initialized.Load() {
			return elicitation(q.ID, of.From, of.Message, func(o *streamjson.Object) {
				o.Str("mode", "form")
				o.Raw("requested_schema", of.Schema)
			})
		}
	case session.Visit:
		if sv.initialized.Load() && !of.Opened {
			return elicitation(q.ID, of.From, of.Message, func(o *streamjson.Object) {
				o.Str("mode", "url")
				o.Str("url", of.URL)
				o.StrIf("elicitation_id", of.ID)
			})
		}
	}
	return nil
}

// elicitation returns the request that sends a server's question to the host.
func elicitation(id, from, message string, fill func(*streamjson.Object)) []byte {
	o := &streamjson.Object{}
	o.Str("type", "control_request")
	o.Str("request_id", id)
	o.Object("request", func(o *streamjson.Object) {
		o.Str("subtype", "elicitation")
		o.Str("mcp_server_name", from)
		o.Str("message", message)
		fill(o)
	})
	return o.Line()
}

// complete notifies the host that the user has finished on a server's web page.
func (f *Front) complete(from, id string) {
	if !f.host.initialized.Load() {
		return
	}
	o := streamjson.System("elicitation_complete")
	o.Str("mcp_server_name", from)
	o.Str("elicitation_id", id)
	f.emit(o)
}

// refuse answers a question with its default reply for when nobody can answer.
func (f *Front) refuse(ctx context.Context, q session.Asked) {
	f.cfg.Session.Submit(ctx, session.Answer{ID: q.ID, Reply: q.Unanswered()}) // ok: a question that is settled needs no answer
}

// settled withdraws a question that was answered elsewhere or no longer needs an answer.
func (f *Front) settled(q session.Settled) {
	if f.host == nil {
		return
	}
	if _, ok := f.host.pending.drop(q.ID); ok {
		o := &streamjson.Object{}
		o.Str("type", "control_cancel_request")
		o.Str("request_id", q.ID)
		f.out.Write(o.Line())
	}
	f.host.state(true)
}

// ask sends a question to the host. It reports false if the host has disconnected.
func (sv *server) ask(q question) bool {
	if !sv.pending.ask(q) {
		return false
	}
	sv.f.out.Write(q.request)
	return true
}

// canUseTool returns the request that asks the host whether a call may run.
func canUseTool(id string, q session.Permission, from streamjson.Server) []byte {
	o := &streamjson.Object{}
	o.Str("type", "control_request")
	o.Str("request_id", id)
	o.Object("request", func(o *streamjson.Object) {
		o.Str("subtype", "can_use_tool")
		o.Str("tool_name", q.Tool)
		o.Raw("input", q.Input)
		o.Str("tool_use_id", q.ID)
		if q.Agent != nil {
			o.Str("agent_id", q.Agent.ID)
		}
		if q.Warning == "" { // adze asks about a dangerous call every time
			o.Value("permission_suggestions", q.Suggestions)
		}
		o.StrIf("blocked_path", q.BlockedPath)
		o.StrIf("decision_reason", q.Reason.String())
		o.StrIf("decision_reason_type", string(q.Reason.Type()))
		o.StrIf("title", q.Title)
		o.StrIf("display_name", q.DisplayName)
		o.StrIf("description", q.Warning)
		if q.Server != "" {
			o.Object("mcp_server", func(o *streamjson.Object) {
				o.Str("name", from.Name)
				o.Str("source", from.Source)
			})
		}
		if q.NeedsPerson {
			o.Bool("requires_user_interaction", true)
		}
	})
	return o.Line()
}

// provenance describes the named server to the host.
func (h *Host) provenance(name string) streamjson.Server {
	if h.Servers != nil && name != "" {
		if s := h.Servers(); s != nil {
			for _, st := range s.List() {
				if st.Name == name {
					return streamjson.Server{Name: st.Given, Source: hostapi.SourceName(st.Entry)}
				}
			}
		}
	}
	return streamjson.Server{Name: name, Source: "unknown"}
}

// hangUp records that the host has disconnected: open questions are denied, and no more queries
// are started.
func (sv *server) hangUp() {
	sv.mu.Lock()
	sv.hungUp = true
	sv.mu.Unlock()
	for _, q := range sv.pending.hangUp() {
		sv.f.refuse(sv.ctx, q.Asked)
	}
}

// answered handles the host's answer to a question or hook call. Late and repeated answers are
// ignored; an invalid one denies.
func (sv *server) answered(body json.RawMessage) error {
	var r struct {
		Subtype   string          `json:"subtype"`
		RequestID string          `json:"request_id"`
		Response  json.RawMessage `json:"response"`
		Error     string          `json:"error"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return fmt.Errorf("has no usable response: %w", err)
	}
	if sv.pending.replied(r.RequestID, r.Subtype, bytes.Clone(r.Response), r.Error) {
		return nil
	}
	q, ok := sv.pending.drop(r.RequestID)
	if !ok {
		return nil
	}
	a := hostAnswer{body: r.Response}
	if r.Subtype != "success" {
		a.err = "The host could not answer: " + r.Error
	}
	reply, problem := a.reply(q.Question)
	if problem != "" {
		sv.f.warn(problem)
	}
	if s, ok := reply.(session.Selection); ok && s.Declined && a.decision().Interrupt {
		sv.f.cfg.Session.Submit(sv.ctx, session.Interrupt{Cause: tool.AbortUser}) // ok: interrupts are always accepted
		return nil
	}
	sv.f.cfg.Session.Submit(sv.ctx, session.Answer{ID: r.RequestID, Reply: reply}) // ok: it may have been withdrawn in the meantime
	return nil
}

// decision returns the host's decision about a call. An invalid answer denies.
func (a hostAnswer) decision() session.Decision {
	if a.err != "" {
		return session.Decision{Answer: permission.Answer{Behavior: permission.Deny, By: "host", Message: a.err}}
	}
	return session.ReadDecision(a.body, "host")
}

// A hostAnswer is the host's answer, or an error.
type hostAnswer struct {
	body json.RawMessage
	err  string
}

// reply returns the reply to a question. If the answer is invalid, the reply lets nothing happen
// and problem is the reason.
func (a hostAnswer) reply(q session.Question) (reply session.Reply, problem string) {
	switch q := q.(type) {
	case session.Permission:
		return a.decision(), ""
	case session.Choices:
		return chosenBy(a.decision().Answer, q)
	}
	var r struct {
		Action  session.Action  `json:"action"`
		Content json.RawMessage `json:"content"`
	}
	err := json.Unmarshal(a.body, &r)
	switch {
	case a.err != "":
		return q.Unanswered(), a.err
	case err != nil:
		return q.Unanswered(), "the host's answer to a server is not valid: " + hostapi.Mistake(err)
	case r.Action != session.Accept && r.Action != session.Decline && r.Action != session.Cancel:
		return q.Unanswered(), fmt.Sprintf("the host answered a server neither accept, decline nor cancel, but %q", r.Action)
	}
	form, ok := q.(session.Form)
	if !ok {
		return session.Visited{Action: r.Action}, ""
	}
	filled := session.Filled{Action: r.Action}
	if r.Action == session.Accept {
		if filled.Values, err = form.Fill(r.Content); err != nil {
			return q.Unanswered(), fmt.Sprintf("the host's values for the server %s do not fit: %v", form.From, err)
		}
	}
	return filled, ""
}
