package acp

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/agent"
	"adze/internal/commands"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/tool"
)

const (
	agentText   = "agent_message_chunk"
	agentThink  = "agent_thought_chunk"
	userText    = "user_message_chunk"
	callStarted = "tool_call"
	callUpdated = "tool_call_update"

	pending   = "pending"
	running   = "in_progress"
	completed = "completed"
	failed    = "failed"
)

// A view sends the events of turns as updates. It is used by one goroutine.
type view struct {
	t *thread

	chore      bool                 // an operation runs instead of a turn
	replaying  bool                 // the turns of a resumed session are sent
	blocks     map[int]*writtenText // ID of the incoming response
	order      []int                // the text blocks, in order
	calls      map[string]bool      // calls that the client knows, until they are done
	compaction string               // ID of the running compaction
	used       int                  // tokens in the window after the last response
}

// A writtenText is a block of a response, as far as it was sent.
type writtenText struct {
	message string // its ID
	text    strings.Builder
}

func (v *view) begin(ev session.Started) {
	v.chore = ev.Chore
	v.respond()
}

// respond prepares for a response.
func (v *view) respond() { v.blocks, v.order = map[int]*writtenText{}, nil }

// end sends how a turn ended if the answer to its prompt does not tell.
func (v *view) end(ev session.Finished) {
	v.compacted(failed)
	if ev.Reason.Aborted() {
		v.abandon()
	}
	say := func(text string, markdown bool) {
		if text = strings.TrimSpace(text); text == "" {
			return
		}
		if !markdown && strings.Contains(text, "\n") {
			text = fenced(text)
		}
		v.t.text(agentText, msg.NewID(), text)
	}
	switch o := ev.Local; {
	case o != nil && o.Err != nil:
		say(o.Err.Error(), false)
	case o != nil:
		say(o.Text, o.Markdown)
	case ev.Reason.OK(), ev.Err != nil, ev.Reason.Aborted():
	case ev.Detail != "":
		say(ev.Detail, false)
	}
}

// event sends an event of the agent loop.
func (v *view) event(ev agent.Event) {
	switch ev := ev.(type) {
	case agent.Requesting:
		v.respond()
	case agent.Delta:
		v.delta(ev.Event)
	case agent.Withdrawn:
		v.withdrawn()
	case agent.Appended:
		if ev.Entry.Message.Role == msg.Assistant {
			v.answer(ev.Entry)
		}
	case agent.ToolStarted:
		v.started(ev)
	case agent.ToolProgress:
		v.progress(ev)
	case agent.ToolDone:
		v.done(ev)
	case agent.Retrying:
		r := ev.Retrying
		v.t.notice("info", fmt.Sprintf("%s; trying again (%d of %d)", model.Cause(r.Err), r.Attempt, r.Max))
	case agent.Notice:
		v.noticed(ev)
	case agent.Compacted:
		v.used = ev.After
		v.compacted(completed)
		if v.chore {
			text := fmt.Sprintf("The conversation was shortened from about %d to %d tokens.", ev.Before, ev.After)
			if ev.Cleared {
				text = "Starting a new conversation; the previous one is saved on disk."
			}
			v.t.text(agentText, msg.NewID(), text)
		}
		v.usage()
	}
}

func (v *view) delta(ev model.Event) {
	switch d := ev.(type) {
	case model.TextDelta:
		v.write(agentText, d.Block, d.Text)
	case model.ThinkingDelta:
		kind := agentThink
		if d.Update { // a message between calls, which arrives as thinking
			kind = agentText
		}
		if d.Text != "" {
			w := v.block(-1 - d.Block) // thinking has numbers of its own
			v.t.text(kind, w.message, d.Text)
		}
	}
}

// block returns a block of the response.
func (v *view) block(n int) *writtenText {
	w := v.blocks[n]
	if w == nil {
		w = &writtenText{message: msg.NewID()}
		v.blocks[n] = w
	}
	return w
}

// write sends more of a text block.
func (v *view) write(kind string, n int, text string) {
	if v.blocks[n] == nil {
		v.order = append(v.order, n)
	}
	w := v.block(n)
	w.text.WriteString(text)
	v.t.text(kind, w.message, text)
}

// answer sends the part of an answer that did not arrive in pieces.
func (v *view) answer(e msg.Entry) {
	n := 0
	for _, part := range e.Message.Parts {
		if thought, ok := part.(*msg.Thinking); ok && v.replaying {
			v.t.text(agentThink, msg.NewID(), thought.Text)
		}
		t, ok := part.(*msg.Text)
		if !ok {
			continue
		}
		id, rest := msg.NewID(), t.Text
		if n < len(v.order) {
			w := v.blocks[v.order[n]]
			if more, ok := strings.CutPrefix(t.Text, w.text.String()); ok {
				id, rest = w.message, more
			}
		}
		n++
		v.t.text(agentText, id, rest)
	}
	if u := e.Usage; u != nil {
		v.used = u.Input + u.CacheRead + u.CacheWrite + u.Output
		if !v.replaying { // once, at the end
			v.usage()
		}
	}
	v.respond()
}

// withdrawn marks the parts of a response as void.
func (v *view) withdrawn() {
	v.abandon()
	if len(v.order) > 0 {
		v.t.text(agentText, msg.NewID(), "(The answer was cut off; asking again.)\n\n")
	}
	v.respond()
}

// abandon marks the running calls as failed.
func (v *view) abandon() {
	for _, id := range slices.Sorted(maps.Keys(v.calls)) {
		v.t.send(toolCall{Update: callUpdated, ToolCallID: id, Status: failed})
	}
	v.calls = nil
}

// usage sends how full the context window is, and the cost.
func (v *view) usage() {
	u := usageUpdate{Update: "usage_update", Used: max(0, v.used)}
	if m, err := v.t.Commands.Preamble.Resolve(v.t.Session.Model()); err == nil {
		u.Size = max(0, m.Window)
	}
	if sum := v.t.Session.Totals(); !sum.HasUnknownCost {
		u.Cost = &cost{sum.CostUSD, "USD"}
	}
	v.t.send(u)
}

func (v *view) noticed(n agent.Notice) {
	if n.Compacting {
		v.compaction = msg.NewID()
		if v.t.caps.Session.Compaction != nil {
			v.t.send(compactionUpdate{Update: "compaction_update", CompactionID: v.compaction, Status: running})
		}
		return
	}
	severity := "info"
	if n.Warning {
		severity = "warning"
	}
	// The notices of an operation are its result.
	if !v.chore && v.t.notice(severity, n.Text) {
		return
	}
	if v.chore || n.Warning {
		v.t.text(agentText, msg.NewID(), n.Text+"\n\n")
	}
}

// compacted ends a running compaction.
func (v *view) compacted(status string) {
	if v.compaction != "" && v.t.caps.Session.Compaction != nil {
		v.t.send(compactionUpdate{Update: "compaction_update", CompactionID: v.compaction, Status: status})
	}
	v.compaction = ""
}

// know records that the client knows a call, and reports whether it did before.
func (v *view) know(id string) bool {
	if v.calls == nil {
		v.calls = map[string]bool{}
	}
	known := v.calls[id]
	v.calls[id] = true
	return known
}

func (v *view) started(ev agent.ToolStarted) {
	if v.know(ev.Use.ID) {
		v.t.send(toolCall{Update: callUpdated, ToolCallID: ev.Use.ID, Status: running})
		return
	}
	c := v.t.describe(ev.Use)
	c.Update, c.Status, c.Title = callStarted, running, cmp.Or(ev.Title, c.Title)
	v.t.send(c)
}

// progress sends a running call's output. If the client is slow, the next one replaces it.
func (v *view) progress(ev agent.ToolProgress) {
	text := ""
	switch d := ev.Display.(type) {
	case tool.Output:
		text = fenced(d.Text)
	case tool.Plain:
		text = d.Text
	}
	if text == "" || !v.calls[ev.ID] {
		return
	}
	c := toolCall{Update: callUpdated, ToolCallID: ev.ID, Content: []callContent{textContent(text)}}
	v.t.s.conn.out.progress(v.t.id, ev.ID, len(text)+200, func() frame { return update(v.t.id, c) })
}

func (v *view) done(ev agent.ToolDone) {
	delete(v.calls, ev.Use.ID)
	c := toolCall{Update: callUpdated, ToolCallID: ev.Use.ID, Status: completed}
	if ev.Denied || ev.Result != nil && ev.Result.IsError {
		c.Status = failed
	}
	if list, ok := ev.Display.(tool.Checklist); ok && c.Status == completed {
		v.plan(list)
	}
	switch {
	case ev.Denied:
		c.Content = []callContent{textContent("Not run: " + tool.OneLine(ev.Refusal, 500))}
	case c.Status == completed && len(tool.Diffs(ev.Display)) > 0:
		c.Content, c.Locations = v.t.diffs(ev.Display)
	default:
		c.Content = v.t.resultContent(ev)
	}
	if f, ok := ev.Display.(tool.File); ok {
		c.Locations = []location{{v.t.absolute(f.Path), f.First}}
	}
	v.t.send(c)
}

// plan sends the task list.
func (v *view) plan(list tool.Checklist) {
	p := plan{Update: "plan", Entries: []planEntry{}}
	for _, item := range list {
		status := pending
		switch item.State {
		case tool.Doing:
			status = running
		case tool.Done:
			status = completed
		}
		p.Entries = append(p.Entries, planEntry{item.Text, "medium", status})
	}
	v.t.send(p)
}

// replay sends the turns of a resumed session.
func (t *thread) replay(events []agent.Event) {
	v := &t.view
	v.respond()
	v.replaying = true
	defer func() {
		v.replaying, v.calls = false, nil
		if v.used > 0 {
			v.usage()
		}
	}()
	for _, ev := range events {
		t.s.conn.out.room(t.ctx)
		a, ok := ev.(agent.Appended)
		if !ok || a.Entry.Message.Role != msg.User {
			v.event(ev)
			continue
		}
		text := commands.MessageText(a.Entry.Message)
		if command, output, ran := msg.RanCommand(text); ran {
			text = fenced("$ " + command + "\n" + output)
		}
		t.text(userText, a.Entry.ID, text)
		for _, part := range a.Entry.Message.Parts {
			if image, ok := part.(*msg.Image); ok {
				t.send(chunk{userText, imageBlock(image), a.Entry.ID})
			}
		}
	}
}

// maxInput is the maximum size of a call's input that is sent, and maxShown of a result's text, in
// bytes.
const (
	maxInput = 64 << 10
	maxShown = 16 << 10
)

// describe returns a call with everything that is known before it runs.
func (t *thread) describe(use *msg.ToolUse) toolCall {
	c := toolCall{ToolCallID: use.ID, Title: tool.OneLine(use.Name, 80), Name: use.Name, Kind: "other"}
	if len(use.Input) <= maxInput && json.Valid(use.Input) {
		c.RawInput = use.Input
	}
	found, _, ok := t.Session.Pool().Lookup(use.Name)
	if !ok {
		return c
	}
	call, err := found.Bind(use.Input)
	if err != nil {
		return c
	}
	c.Title = cmp.Or(tool.TitleOf(use.Name, call), c.Title)
	c.Kind = kindOf(found.Traits(), call)
	if a, ok := tool.As[tool.Accesser](call); ok && !found.Traits().Shell {
		for _, access := range a.Access() {
			c.Locations = append(c.Locations, location{Path: t.absolute(access.Target)})
		}
	}
	return c
}

// kindOf returns the protocol's kind of a call.
func kindOf(traits tool.Traits, call tool.Call) string {
	switch draft := tool.DraftOf(call); {
	case traits.Shell:
		return "execute"
	case draft != nil && draft.Plan != nil:
		return "switch_mode"
	case traits.Delegates:
		return "think"
	case len(traits.Params.Hosts) > 0:
		return "fetch"
	}
	switch tool.FoldOf(call) {
	case tool.FoldRead:
		return "read"
	case tool.FoldSearch, tool.FoldList:
		return "search"
	}
	if a, ok := tool.As[tool.Accesser](call); ok {
		for _, access := range a.Access() {
			if access.Verb == tool.Write {
				return "edit"
			}
		}
	}
	return "other"
}

func (t *thread) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(t.dir, path)
}

// diffs returns changes as content, a diff for each hunk, and where they are.
func (t *thread) diffs(d tool.Display) (content []callContent, where []location) {
	for _, change := range tool.Diffs(d) {
		path := t.absolute(change.Path)
		at := location{Path: path}
		for i, h := range change.Hunks {
			oldText, newText, line := hunkTexts(h)
			if i == 0 {
				at.Line = line
			}
			c := callContent{Type: "diff", Path: path, OldText: &oldText, NewText: &newText}
			if change.Created {
				c.OldText = nil
			}
			content = append(content, c)
		}
		if change.Partial {
			content = append(content, textContent("The change is longer than shown."))
		}
		where = append(where, at)
	}
	return content, where
}

// hunkTexts returns a hunk's lines before and after, and the line of the first change.
func hunkTexts(h tool.Hunk) (before, after string, line int) {
	var old, now strings.Builder
	at := h.NewStart
	for _, text := range h.Lines {
		if text == "" {
			continue
		}
		switch text[0] {
		case '-':
			old.WriteString(text[1:] + "\n")
		case '+':
			now.WriteString(text[1:] + "\n")
		default:
			old.WriteString(text[1:] + "\n")
			now.WriteString(text[1:] + "\n")
		}
		if line == 0 && text[0] != ' ' {
			line = at
		}
		if text[0] != '-' {
			at++
		}
	}
	return old.String(), now.String(), max(1, line)
}

// resultContent returns a call's result: its display, or the text for the model.
func (t *thread) resultContent(ev agent.ToolDone) (content []callContent) {
	text := ""
	if ev.Result != nil {
		text = msg.PlainText(ev.Result.Parts)
		for _, part := range ev.Result.Parts {
			if image, ok := part.(*msg.Image); ok {
				b := imageBlock(image)
				content = append(content, callContent{Type: "content", Content: &b})
			}
		}
	}
	switch d := ev.Display.(type) {
	case tool.Output:
		text = cmp.Or(d.Text, text)
		if d.Note != "" {
			text = strings.TrimRight(text, "\n") + "\n" + d.Note
		}
	case tool.Plain:
		text = cmp.Or(d.Text, text)
	}
	if text = strings.TrimSpace(text); text == "" {
		return content
	}
	if len(text) > maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "") + "\n..."
	}
	if found, _, ok := t.Session.Pool().Lookup(ev.Use.Name); !ok || !found.Traits().Delegates { // an agent writes Markdown
		text = fenced(text)
	}
	return append(content, textContent(text))
}

func textContent(text string) callContent {
	return callContent{Type: "content", Content: &contentBlock{Type: "text", Text: &text}}
}

func imageBlock(image *msg.Image) contentBlock {
	return contentBlock{Type: "image", Data: base64.StdEncoding.EncodeToString(image.Data), MIMEType: image.MediaType}
}

// fenced returns text as a Markdown code block that nothing in it can end.
func fenced(text string) string {
	longest, now := 2, 0
	for _, r := range text {
		if r != '`' {
			now = 0
			continue
		}
		now++
		longest = max(longest, now)
	}
	fence := strings.Repeat("`", longest+1)
	return fence + "\n" + strings.TrimRight(text, "\n") + "\n" + fence
}
