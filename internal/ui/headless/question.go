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

// asked sends a question to the host, or refuses it if there is no host to ask. Hosts are asked about permissions, what the
// model wants to know of the user, and what servers do.
func (f *Front) asked(ctx context.Context, q session.Asked) {
	if f.host != nil {
		if request := f.host.requestFor(q); request != nil && f.host.ask(question{q, request}) {
			f.host.state(true)
			return
		}
	}
	f.refuse(ctx, q)
}

// requestFor returns the request that puts a question to the host, or nil if it cannot be asked.
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

// elicitation returns the request that puts a question of a server to the host.
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

// complete tells the host that what the user did at a page of a server is complete.
func (f *Front) complete(from, id string) {
	if !f.host.initialized.Load() {
		return
	}
	o := streamjson.System("elicitation_complete")
	o.Str("mcp_server_name", from)
	o.Str("elicitation_id", id)
	f.emit(o)
}

// refuse answers a question with the reply for when it cannot be asked.
func (f *Front) refuse(ctx context.Context, q session.Asked) {
	f.cfg.Session.Submit(ctx, session.Answer{ID: q.ID, Reply: q.Unanswered()}) // ok: a question that is settled needs no answer
}

// settled withdraws a question that was answered elsewhere or needs no answer any more.
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

// ask sends a question to the host. It reports whether the host can be asked.
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
		o.StrIf("decision_reason", q.Reason.Text)
		o.StrIf("decision_reason_type", string(q.Reason.Type))
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

// provenance returns the server of that name as the host knows it.
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

// hangUp notes that the host is gone: open questions are denied, and no more queries are started.
func (sv *server) hangUp() {
	sv.mu.Lock()
	sv.hungUp = true
	sv.mu.Unlock()
	for _, q := range sv.pending.hangUp() {
		sv.f.refuse(sv.ctx, q.Asked)
	}
}

// answered handles the host's answer to a question or a call of a hook. Late and repeated answers are ignored; an
// invalid one denies.
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
	reply, problem := a.to(q.Question)
	if problem != "" {
		sv.f.warn(problem)
	}
	if s, ok := reply.(session.Selection); ok && s.Declined && a.decision().Interrupt {
		sv.f.cfg.Session.Submit(sv.ctx, session.Interrupt{Cause: tool.AbortUser}) // ok: interrupts are always taken
		return nil
	}
	sv.f.cfg.Session.Submit(sv.ctx, session.Answer{ID: r.RequestID, Reply: reply}) // ok: it may have been withdrawn meanwhile
	return nil
}

// decision returns what the host decides about a call. What is no answer denies.
func (a hostAnswer) decision() session.Decision {
	if a.err != "" {
		return session.Decision{Answer: permission.Answer{Behavior: permission.Deny, By: "host", Message: a.err}}
	}
	return session.ReadDecision(a.body, "host")
}

// A hostAnswer is what the host answers, or why it does not.
type hostAnswer struct {
	body json.RawMessage
	err  string
}

// to returns the reply to a question. One that does not fit lets nothing happen, and problem says why.
func (a hostAnswer) to(q session.Question) (reply session.Reply, problem string) {
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
