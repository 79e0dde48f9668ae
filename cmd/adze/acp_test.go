//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// checkACP checks a message against the published schema. It is nil unless the schema is
// installed; see the tests of published clients.
var checkACP func(t *testing.T, fromAgent bool, method string, frame []byte)

// An acpMessage is a message from the program.
type acpMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// An acpUpdate is an update of a session.
type acpUpdate struct {
	Kind    string `json:"sessionUpdate"`
	Session string `json:"-"`
	raw     json.RawMessage

	Content           json.RawMessage
	MessageID         string `json:"messageId"`
	ToolCallID        string `json:"toolCallId"`
	Title, Status     string
	CurrentModeID     string `json:"currentModeId"`
	AvailableCommands []struct{ Name, Description string }
	ConfigOptions     []acpOption
	Entries           []struct{ Content, Status string }
	Used, Size        int
}

type acpOption struct {
	ID, Type     string
	CurrentValue any
	Options      []struct{ Value string }
}

// text returns the text of a piece of a message.
func (u *acpUpdate) text() string {
	var c struct{ Text string }
	json.Unmarshal(u.Content, &c) // ok: others have no text
	return c.Text
}

// An acpEditor is an editor that drives adze acp, line by line.
type acpEditor struct {
	t     *testing.T
	dir   string // working directory
	home  string
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	last  int
	err   strings.Builder
	known map[string]string // methods by request ID

	updates []acpUpdate
	asked   []acpMessage // requests of the program
	// answer answers the program's requests; nil means that the first option is chosen.
	answer func(m acpMessage) (result any, problem string)
}

// startACP starts adze acp with a scripted model.
func startACP(t *testing.T, script string, args ...string) *acpEditor {
	t.Helper()
	e := &acpEditor{t: t, dir: t.TempDir(), home: t.TempDir()}
	e.start(script, args...)
	return e
}

// start starts the program again with another script.
func (e *acpEditor) start(script string, args ...string) {
	e.t.Helper()
	model := filepath.Join(e.t.TempDir(), "model.replay")
	write(e.t, model, script)
	bin, err := exec.LookPath("adze")
	if err != nil {
		e.t.Fatal(err)
	}
	e.startProgram(bin, append([]string{"acp", "--model", "replay:" + model}, args...)...)
}

func (e *acpEditor) startProgram(bin string, args ...string) {
	e.t.Helper()
	var err error
	e.cmd = exec.CommandContext(e.t.Context(), bin, args...)
	e.cmd.Dir = e.t.TempDir() // sessions have directories of their own
	e.cmd.Env = append(os.Environ(), "HOME="+e.home, "ADZE_HOME="+e.home, "ADZE_NO_FSYNC=1")
	e.cmd.Stderr = &e.err
	e.known = map[string]string{}
	if e.in, err = e.cmd.StdinPipe(); err != nil {
		e.t.Fatal(err)
	}
	out, err := e.cmd.StdoutPipe()
	if err != nil {
		e.t.Fatal(err)
	}
	e.out = bufio.NewReader(out)
	if err := e.cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() {
		e.cmd.Process.Kill() // ok: it has usually ended
		if e.t.Failed() {
			e.t.Logf("stderr: %s", &e.err)
		}
	})
}

// send sends a line.
func (e *acpEditor) send(line string) {
	e.t.Helper()
	if _, err := io.WriteString(e.in, line+"\n"); err != nil {
		e.t.Fatalf("%v\n%s", err, &e.err)
	}
}

func (e *acpEditor) sendJSON(v map[string]any) {
	e.t.Helper()
	v["jsonrpc"] = "2.0"
	data, err := json.Marshal(v)
	if err != nil {
		e.t.Fatal(err)
	}
	if method, ok := v["method"].(string); ok && checkACP != nil {
		checkACP(e.t, false, method, data)
	}
	e.send(string(data))
}

func (e *acpEditor) notify(method string, params any) {
	e.t.Helper()
	e.sendJSON(map[string]any{"method": method, "params": params})
}

// request sends a request and returns its ID.
func (e *acpEditor) request(method string, params any) string {
	e.t.Helper()
	e.last++
	id := fmt.Sprint(e.last)
	e.known[id] = method
	e.sendJSON(map[string]any{"id": e.last, "method": method, "params": params})
	return id
}

// next returns the program's next message. Updates and requests are recorded, and requests
// answered.
func (e *acpEditor) next() acpMessage {
	e.t.Helper()
	line, err := e.out.ReadBytes('\n')
	if err != nil {
		e.t.Fatalf("%v\n%s", err, &e.err)
	}
	var m acpMessage
	if err := json.Unmarshal(line, &m); err != nil {
		e.t.Fatalf("%v: %s", err, line)
	}
	if checkACP != nil {
		method := m.Method
		if method == "" {
			method = e.known[string(m.ID)]
		}
		checkACP(e.t, true, method, line)
	}
	switch {
	case m.Method == "session/update":
		var p struct {
			SessionID string `json:"sessionId"`
			Update    json.RawMessage
		}
		var u acpUpdate
		if err := json.Unmarshal(m.Params, &p); err != nil {
			e.t.Fatalf("%v: %s", err, line)
		}
		if err := json.Unmarshal(p.Update, &u); err != nil {
			e.t.Fatalf("%v: %s", err, line)
		}
		u.Session, u.raw = p.SessionID, p.Update
		e.updates = append(e.updates, u)
	case m.Method != "" && m.ID != nil:
		e.asked = append(e.asked, m)
		e.reply(m)
	}
	return m
}

// reply answers a request of the program.
func (e *acpEditor) reply(m acpMessage) {
	e.t.Helper()
	var result any
	problem := ""
	switch {
	case e.answer != nil:
		if result, problem = e.answer(m); result == nil && problem == "" {
			return
		}
	default:
		result = acpChoose("allow")
	}
	answer := map[string]any{"id": m.ID, "result": result}
	if problem != "" {
		answer = map[string]any{"id": m.ID, "error": map[string]any{"code": -32603, "message": problem}}
	}
	e.sendJSON(answer)
}

func acpChoose(id string) any {
	return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": id}}
}

// wait returns the answer to a request.
func (e *acpEditor) wait(id string) acpMessage {
	e.t.Helper()
	for {
		if m := e.next(); m.Method == "" && string(m.ID) == id {
			return m
		}
	}
}

// call sends a request and waits for its result, which must not be an error.
func (e *acpEditor) call(method string, params any, result any) {
	e.t.Helper()
	m := e.wait(e.request(method, params))
	if m.Error != nil {
		e.t.Fatalf("%s: %d %s\n%s", method, m.Error.Code, m.Error.Message, &e.err)
	}
	if result != nil {
		if err := json.Unmarshal(m.Result, result); err != nil {
			e.t.Fatalf("%s: %v: %s", method, err, m.Result)
		}
	}
}

// refused sends a request that must be answered with an error.
func (e *acpEditor) refused(method string, params any, code int, text string) {
	e.t.Helper()
	m := e.wait(e.request(method, params))
	if m.Error == nil || m.Error.Code != code || !strings.Contains(m.Error.Message, text) {
		e.t.Errorf("%s %v is answered with %+v %s", method, params, m.Error, m.Result)
	}
}

// initialize sends the first request. Capabilities are JSON.
func (e *acpEditor) initialize(capabilities string) {
	e.t.Helper()
	e.call("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": json.RawMessage(capabilities)}, nil)
}

// open starts a session.
func (e *acpEditor) open() string {
	e.t.Helper()
	return e.openIn(e.dir)
}

func (e *acpEditor) openIn(dir string) string {
	e.t.Helper()
	var s struct {
		SessionID string `json:"sessionId"`
	}
	e.call("session/new", map[string]any{"cwd": dir, "mcpServers": []any{}}, &s)
	if s.SessionID == "" {
		e.t.Fatal("the session has no ID")
	}
	return s.SessionID
}

func acpPrompt(session, text string) map[string]any {
	return map[string]any{"sessionId": session, "prompt": []any{map[string]any{"type": "text", "text": text}}}
}

// prompt runs a prompt and returns the stop reason.
func (e *acpEditor) prompt(session, text string) string {
	e.t.Helper()
	return e.stopped(e.request("session/prompt", acpPrompt(session, text)))
}

func (e *acpEditor) stopped(request string) string {
	e.t.Helper()
	m := e.wait(request)
	var r struct{ StopReason string }
	if m.Error != nil {
		return fmt.Sprintf("error %d: %s", m.Error.Code, m.Error.Message)
	}
	if err := json.Unmarshal(m.Result, &r); err != nil {
		e.t.Fatal(err)
	}
	return r.StopReason
}

// until reads until an update meets a condition.
func (e *acpEditor) until(is func(u *acpUpdate) bool) {
	e.t.Helper()
	for {
		n := len(e.updates)
		e.next()
		if len(e.updates) > n && is(&e.updates[n]) {
			return
		}
	}
}

// said returns the text of all pieces of a kind.
func (e *acpEditor) said(kind string) string {
	var b strings.Builder
	for i := range e.updates {
		if e.updates[i].Kind == kind {
			b.WriteString(e.updates[i].text())
		}
	}
	return b.String()
}

// kinds returns the kinds of updates, without repetitions in a row.
func (e *acpEditor) kinds() string {
	var all []string
	for _, u := range e.updates {
		kind := u.Kind
		if u.Status != "" {
			kind += " " + u.Status
		}
		all = append(all, kind)
	}
	return strings.Join(slices.Compact(all), "\n")
}

// end closes the connection and waits for the program.
func (e *acpEditor) end() {
	e.t.Helper()
	e.in.Close()               // ok: the program reports missing input
	io.Copy(io.Discard, e.out) // ok: the rest
	if err := e.cmd.Wait(); err != nil {
		e.t.Errorf("%v\n%s", err, &e.err)
	}
}

// has reports whether the working directory has a file.
func (e *acpEditor) has(name string) bool { return exists(filepath.Join(e.dir, name)) }

const acpWrite = `use Write {"file_path":"made.txt","content":"made\n"}`

// TestACPTurn checks a turn with thinking, text and a call that needs approval, in the order of
// its updates.
//
// Proves X-080.
func TestACPTurn(t *testing.T) {
	t.Parallel()
	e := startACP(t, "usage input=1000 output=10\nthink Let me see.\ntext \"I make \"\ntext+ \"it.\"\n"+acpWrite+"\n---\nexpect result toolu_1_1 \"made.txt\"\nsay Done.")
	e.initialize(`{}`)
	id := e.open()
	e.updates = nil
	e.until(func(u *acpUpdate) bool { return u.Kind == "available_commands_update" })
	if stop := e.prompt(id, "Make it"); stop != "end_turn" {
		t.Errorf("the turn ended with %s", stop)
	}
	const want = "available_commands_update\nagent_thought_chunk\nagent_message_chunk\nusage_update\n" +
		"tool_call pending\ntool_call_update in_progress\ntool_call_update completed\nagent_message_chunk\nusage_update"
	got := strings.ReplaceAll(e.kinds(), "\nsession_info_update", "")
	got = strings.Replace(got, "tool_call in_progress\ntool_call_update pending", "tool_call pending", 1) // either way
	if got != want {
		t.Errorf("the updates are\n%s", got)
	}
	if got := e.said("agent_message_chunk"); got != "I make it.Done." {
		t.Errorf("it said %q", got)
	}
	if got := e.said("agent_thought_chunk"); got != "Let me see." {
		t.Errorf("it thought %q", got)
	}
	var ids []string
	for _, u := range e.updates {
		if u.Kind == "agent_message_chunk" || u.Kind == "agent_thought_chunk" {
			ids = append(ids, u.MessageID)
		}
		if u.Kind == "usage_update" && (u.Size == 0 || u.Used == 0) {
			t.Errorf("usage: %s", u.raw)
		}
	}
	if ids = slices.Compact(ids); len(ids) != 3 || slices.Contains(ids, "") {
		t.Errorf("the messages are %q", ids)
	}
	if !e.has("made.txt") {
		t.Error("nothing was written")
	}
	question := string(e.asked[0].Params)
	for _, part := range []string{`"type":"diff"`, `"newText":"made\n"`, `"kind":"edit"`, `"allow_once"`, `"allow_always"`, `"reject_once"`, filepath.Join(e.dir, "made.txt")} {
		if !strings.Contains(question, part) {
			t.Errorf("the question lacks %s: %s", part, question)
		}
	}
	e.end()
}

// TestACPAnswers checks that only an option that was offered allows a call.
//
// Proves X-080.
func TestACPAnswers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		result  any
		problem string
		made    bool
	}{
		"allow":         {acpChoose("allow"), "", true},
		"always":        {acpChoose("always0"), "", true},
		"reject":        {acpChoose("reject"), "", false},
		"cancelled":     {map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}, "", false},
		"not offered":   {acpChoose("always7"), "", false},
		"no option":     {acpChoose(""), "", false},
		"no outcome":    {map[string]any{}, "", false},
		"not an object": {[]any{1}, "", false},
		"an error":      {nil, "the dialog was closed", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := startACP(t, acpWrite+"\n---\nforever\nsay Done.")
			e.answer = func(acpMessage) (any, string) { return tt.result, tt.problem }
			e.initialize(`{}`)
			if stop := e.prompt(e.open(), "Make it"); stop != "end_turn" || len(e.asked) != 1 {
				t.Errorf("the turn ended with %s after %d questions", stop, len(e.asked))
			}
			if e.has("made.txt") != tt.made {
				t.Errorf("made: %t", !tt.made)
			}
			e.end()
		})
	}
}

// TestACPAlways checks that the answer always applies to later calls.
//
// Proves X-080.
func TestACPAlways(t *testing.T) {
	t.Parallel()
	e := startACP(t, acpWrite+"\n---\nuse Write {\"file_path\":\"other.txt\",\"content\":\"x\"}\n---\nsay Done.")
	e.answer = func(acpMessage) (any, string) { return acpChoose("always0"), "" }
	e.initialize(`{}`)
	e.prompt(e.open(), "Make both")
	if len(e.asked) != 1 || !e.has("other.txt") {
		t.Errorf("%d questions", len(e.asked))
	}
	e.end()
}

// TestACPBadInput checks that invalid messages are answered with an error each, and harm
// nothing else.
//
// Proves X-080.
func TestACPBadInput(t *testing.T) {
	t.Parallel()
	e := startACP(t, "forever\nsay Still here.")
	expect := func(id string, code int) {
		t.Helper()
		m := e.next()
		for m.Method != "" {
			m = e.next()
		}
		if m.Error == nil || m.Error.Code != code || string(m.ID) != id {
			t.Errorf("the answer is %s %+v, not %s %d", m.ID, m.Error, id, code)
		}
	}
	for _, tt := range []struct {
		line, id string
		code     int
	}{
		{`nonsense`, `null`, -32700},
		{`{"jsonrpc":"2.0","id":1,"method":"initialize"`, `null`, -32700},
		{`[]`, `null`, -32600},
		{`"text"`, `null`, -32600},
		{`{}`, `null`, -32600},
		{`{"jsonrpc":"2.0","id":{},"method":"initialize"}`, `null`, -32600},
		{`{"jsonrpc":"2.0","id":1.5,"method":"initialize"}`, `null`, -32600},
		{`{"jsonrpc":"2.0","id":"x","method":7}`, `"x"`, -32600},
		{`{"jsonrpc":"2.0","id":"x","method":"session/unknown"}`, `"x"`, -32601},
		{`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`, `2`, -32600}, // before initialize
		{`{"jsonrpc":"2.0","id":3,"method":"initialize","params":[]}`, `3`, -32602},
		{`{"jsonrpc":"2.0","id":3,"method":"initialize","params":{}}`, `3`, -32602},
		{`{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":"one"}}`, `3`, -32602},
		{`{"jsonrpc":"2.0","id":4,"method":"initialize","params":{"protocolVersion":1,"x":"` + strings.Repeat("x", 100<<20) + `"}}`, `4`, -32600},
		{strings.Repeat("x", 33<<20), `null`, -32600},
		{strings.Repeat(`[`, 1<<20), `null`, -32700},
	} {
		e.send(tt.line)
		expect(tt.id, tt.code)
	}
	// These have no answer.
	e.send("\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"unknown/notification\"}\n{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}")
	e.notify("session/cancel", map[string]any{"sessionId": "none"})
	e.notify("$/cancel_request", map[string]any{"requestId": 99})
	var first struct{ ProtocolVersion int }
	e.call("initialize", map[string]any{"protocolVersion": 2}, &first)
	if first.ProtocolVersion != 1 {
		t.Errorf("it speaks version %d", first.ProtocolVersion)
	}
	e.refused("session/new", map[string]any{"cwd": "relative", "mcpServers": []any{}}, -32602, "absolute")
	e.refused("session/new", map[string]any{"cwd": filepath.Join(e.dir, "missing"), "mcpServers": []any{}}, -32602, "not a directory")
	e.refused("session/new", map[string]any{"cwd": e.dir, "mcpServers": "x"}, -32602, "mcpServers")
	e.refused("session/new", map[string]any{"cwd": e.dir, "mcpServers": []any{map[string]any{"type": "acp", "name": "x"}}}, -32602, "acp")
	e.refused("session/prompt", acpPrompt("none", "x"), -32002, "not open")
	e.refused("session/load", map[string]any{"sessionId": "none", "cwd": e.dir, "mcpServers": []any{}}, -32002, "no session")
	e.refused("session/set_mode", map[string]any{"sessionId": "none", "modeId": "plan"}, -32002, "not open")
	e.refused("session/close", map[string]any{"sessionId": "none"}, -32002, "not open")
	e.refused("session/delete", map[string]any{"sessionId": "../../etc/passwd"}, -32002, "no session")
	e.refused("session/list", map[string]any{"cursor": "x"}, -32602, "cursor")
	e.refused("authenticate", map[string]any{"methodId": "x"}, -32602, "provider")
	id := e.open()
	e.refused("session/prompt", map[string]any{"sessionId": id, "prompt": []any{}}, -32602, "empty")
	e.refused("session/prompt", acpPrompt(id, "  \n"), -32602, "empty")
	e.refused("session/prompt", map[string]any{"sessionId": id, "prompt": []any{map[string]any{"type": "audio", "data": "x", "mimeType": "audio/wav"}}}, -32602, "audio")
	e.refused("session/prompt", map[string]any{"sessionId": id, "prompt": []any{map[string]any{"type": "image", "data": "%%%", "mimeType": "image/png"}}}, -32602, "base64")
	e.refused("session/set_mode", map[string]any{"sessionId": id, "modeId": "everything"}, -32602, "unknown permission mode")
	e.refused("session/set_mode", map[string]any{"sessionId": id, "modeId": "bypassPermissions"}, -32602, "")
	e.refused("session/set_config_option", map[string]any{"sessionId": id, "configId": "color", "value": "red"}, -32602, "color")
	e.refused("session/set_config_option", map[string]any{"sessionId": id, "configId": "effort", "value": "utmost"}, -32602, "effort")
	e.notify("session/cancel", map[string]any{"sessionId": id}) // nothing runs
	if stop := e.prompt(id, "Are you there?"); stop != "end_turn" || e.said("agent_message_chunk") != "Still here." {
		t.Errorf("the turn ended with %s: %q", stop, e.said("agent_message_chunk"))
	}
	e.end()
}

// TestACPCancel checks the ways to cancel a prompt.
//
// Proves X-080.
func TestACPCancel(t *testing.T) {
	t.Parallel()
	const script = "use Bash {\"command\":\"sleep 600\",\"description\":\"wait\"}\n---\nforever\nsay Again."
	working := func(u *acpUpdate) bool { return u.Kind == "tool_call" }
	for name, cancel := range map[string]func(e *acpEditor, session, request string){
		"session/cancel": func(e *acpEditor, session, _ string) {
			e.notify("session/cancel", map[string]any{"sessionId": session})
		},
		"$/cancel_request": func(e *acpEditor, _, request string) {
			e.notify("$/cancel_request", map[string]any{"requestId": json.RawMessage(request)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := startACP(t, script, "--allowed-tools", "Bash(sleep *)")
			e.initialize(`{}`)
			id := e.open()
			request := e.request("session/prompt", acpPrompt(id, "Wait"))
			e.until(working)
			e.refused("session/prompt", acpPrompt(id, "Another"), -32600, "is running")
			cancel(e, id, request)
			if stop := e.stopped(request); stop != "cancelled" {
				t.Errorf("the turn ended with %s", stop)
			}
			if stop := e.prompt(id, "And now?"); stop != "end_turn" || !strings.HasSuffix(e.said("agent_message_chunk"), "Again.") {
				t.Errorf("the next turn ended with %s", stop)
			}
			e.end()
		})
	}
	t.Run("a question", func(t *testing.T) {
		t.Parallel()
		e := startACP(t, acpWrite+"\n---\nforever\nsay Again.")
		e.initialize(`{}`)
		id := e.open()
		e.answer = func(m acpMessage) (any, string) {
			e.notify("session/cancel", map[string]any{"sessionId": id})
			return nil, "" // the program must not wait for the answer
		}
		request := e.request("session/prompt", acpPrompt(id, "Make it"))
		withdrawn := false
		for {
			m := e.next()
			withdrawn = withdrawn || m.Method == "$/cancel_request"
			if string(m.ID) == request && m.Method == "" {
				if !strings.Contains(string(m.Result), "cancelled") {
					t.Errorf("the turn ended with %s", m.Result)
				}
				break
			}
		}
		if e.prompt(id, "And now?"); !withdrawn || e.has("made.txt") {
			t.Errorf("withdrawn: %t, made: %t", withdrawn, e.has("made.txt"))
		}
		e.end()
	})
	t.Run("at once", func(t *testing.T) {
		t.Parallel()
		e := startACP(t, "forever\nhang", "--allowed-tools", "Bash(sleep *)")
		e.initialize(`{}`)
		id := e.open()
		for range 20 {
			request := e.request("session/prompt", acpPrompt(id, "Wait"))
			e.notify("session/cancel", map[string]any{"sessionId": id})
			if stop := e.stopped(request); stop != "cancelled" {
				t.Fatalf("the turn ended with %s", stop)
			}
		}
		e.end()
	})
}

// TestACPGone checks that a question is denied and the session stored if the client dies while
// it is open.
//
// Proves X-080.
func TestACPGone(t *testing.T) {
	t.Parallel()
	e := startACP(t, "think Hm.\nsay I make it.\n"+acpWrite+"\n---\nforever\nsay Done.")
	e.initialize(`{}`)
	id := e.open()
	e.answer = func(acpMessage) (any, string) { return nil, "" }
	e.request("session/prompt", acpPrompt(id, "Make it"))
	for len(e.asked) == 0 {
		e.next()
	}
	e.end()
	if e.has("made.txt") {
		t.Error("the call ran without an answer")
	}
	e.start("expect text \"Make it\"\nexpect text \"I make it.\"\nsay Welcome back.")
	e.initialize(`{}`)
	e.updates = nil
	e.call("session/load", map[string]any{"sessionId": id, "cwd": e.dir, "mcpServers": []any{}}, nil)
	if got := e.said("user_message_chunk") + "|" + e.said("agent_message_chunk"); !strings.HasPrefix(got, "Make it|I make it.") || e.said("agent_thought_chunk") != "Hm." {
		t.Errorf("loaded: %q", got)
	}
	if stop := e.prompt(id, "Again"); stop != "end_turn" {
		t.Errorf("the turn ended with %s", stop)
	}
	e.end()
}

// TestACPSessions checks that one process holds several sessions in different directories, each
// with the settings of its own, and lists, loads, resumes, forks, closes and deletes them.
//
// Proves X-080.
func TestACPSessions(t *testing.T) {
	t.Parallel()
	e := startACP(t, "forever\nwhen last \"please\"\n"+acpWrite+"\n---\nforever\nsay Done.", "--permission-mode", "acceptEdits")
	e.initialize(`{}`)
	other := t.TempDir()
	write(t, filepath.Join(other, ".adze", "settings.json"), `{"permissions":{"deny":["Write"]}}`)
	first, second := e.open(), e.openIn(other)
	requests := []string{e.request("session/prompt", acpPrompt(first, "one please")), e.request("session/prompt", acpPrompt(second, "two please"))}
	for answered := 0; answered < 2; {
		if m := e.next(); m.Method == "" && slices.Contains(requests, string(m.ID)) {
			if answered++; m.Error != nil {
				t.Error(m.Error.Message)
			}
		}
	}
	if !e.has("made.txt") || exists(filepath.Join(other, "made.txt")) {
		t.Errorf("made: %t, %t", e.has("made.txt"), exists(filepath.Join(other, "made.txt")))
	}
	list := func(params map[string]any) (ids []string) {
		t.Helper()
		var l struct {
			Sessions []struct{ SessionID, CWD, Title, UpdatedAt string }
		}
		e.call("session/list", params, &l)
		for _, s := range l.Sessions {
			if s.CWD == "" || s.Title == "" || s.UpdatedAt == "" {
				t.Errorf("listed: %+v", s)
			}
			ids = append(ids, s.SessionID)
		}
		slices.Sort(ids)
		return ids
	}
	both := []string{first, second}
	slices.Sort(both)
	if got := list(map[string]any{}); !slices.Equal(got, both) {
		t.Errorf("all: %q", got)
	}
	if got := list(map[string]any{"cwd": other}); !slices.Equal(got, []string{second}) {
		t.Errorf("of the second directory: %q", got)
	}
	e.refused("session/resume", map[string]any{"sessionId": first, "cwd": other, "mcpServers": []any{}}, -32602, "belongs to")

	// An open session can be loaded again, and a closed one resumed without its turns.
	e.updates = nil
	e.call("session/load", map[string]any{"sessionId": first, "cwd": e.dir, "mcpServers": []any{}}, nil)
	if e.said("user_message_chunk") != "one please" || e.said("agent_message_chunk") != "Done." || !strings.Contains(e.kinds(), "tool_call_update completed") {
		t.Errorf("loaded:\n%s", e.kinds())
	}
	e.call("session/close", map[string]any{"sessionId": first}, nil)
	e.refused("session/prompt", acpPrompt(first, "x"), -32002, "not open")
	e.updates = nil
	e.call("session/resume", map[string]any{"sessionId": first, "cwd": e.dir}, nil)
	if strings.Contains(e.kinds(), "message_chunk") {
		t.Errorf("resumed:\n%s", e.kinds())
	}
	var fork struct{ SessionID string }
	e.call("session/fork", map[string]any{"sessionId": first, "cwd": e.dir, "mcpServers": []any{}}, &fork)
	if fork.SessionID == "" || fork.SessionID == first {
		t.Errorf("the copy is %q", fork.SessionID)
	}
	if stop := e.prompt(fork.SessionID, "more"); stop != "end_turn" {
		t.Errorf("the copy's turn ended with %s", stop)
	}
	e.call("session/delete", map[string]any{"sessionId": first}, nil) // while it is open
	e.call("session/delete", map[string]any{"sessionId": second}, nil)
	e.refused("session/delete", map[string]any{"sessionId": second}, -32002, "no session")
	if got := list(map[string]any{}); !slices.Equal(got, []string{fork.SessionID}) {
		t.Errorf("after deleting: %q", got)
	}
	e.end()
}

// TestACPLoad checks that all turns of a session are loaded, also those before a compaction.
//
// Proves X-080.
func TestACPLoad(t *testing.T) {
	t.Parallel()
	e := startACP(t, "forever\nwhen no-text \"PLEASE SUMMARISE\"\nsay Answer "+strings.Repeat("long ", 200)+"{n}.", "--prompt-size", "small") // without servers
	e.initialize(`{"session":{"compaction":{}}}`)
	id := e.open()
	var want strings.Builder
	for i := range 6 {
		text := fmt.Sprintf("Prompt %d.", i)
		want.WriteString(text)
		e.prompt(id, text)
	}
	e.updates = nil
	e.call("session/load", map[string]any{"sessionId": id, "cwd": e.dir, "mcpServers": []any{}}, nil)
	if got := e.said("user_message_chunk"); got != want.String() {
		t.Errorf("loaded: %q", got)
	}
	if stop := e.prompt(id, "/compact"); stop != "end_turn" {
		t.Errorf("the compaction ended with %s", stop)
	}
	kinds := e.kinds()
	if !strings.Contains(kinds, "compaction_update in_progress") || !strings.Contains(kinds, "compaction_update completed") {
		t.Errorf("the updates are\n%s", kinds)
	}
	e.updates = nil
	e.call("session/load", map[string]any{"sessionId": id, "cwd": e.dir, "mcpServers": []any{}}, nil)
	if got := e.said("user_message_chunk"); !strings.HasPrefix(got, want.String()) {
		t.Errorf("loaded after the compaction: %q", got)
	}
	e.end()
}

// TestACPOptions checks that modes and options can be set and that changes are announced, also
// by commands.
//
// Proves X-080.
func TestACPOptions(t *testing.T) {
	t.Parallel()
	e := startACP(t, acpWrite+"\n---\nsay Done.")
	e.initialize(`{"session":{"notices":{}}}`)
	var s struct {
		SessionID     string
		Modes         struct{ CurrentModeID string }
		ConfigOptions []acpOption
	}
	e.call("session/new", map[string]any{"cwd": e.dir, "mcpServers": []any{}}, &s)
	value := func(list []acpOption, id string) any {
		t.Helper()
		i := slices.IndexFunc(list, func(o acpOption) bool { return o.ID == id })
		if i < 0 {
			t.Fatalf("there is no option %s in %v", id, list)
		}
		return list[i].CurrentValue
	}
	if s.Modes.CurrentModeID != "default" || value(s.ConfigOptions, "mode") != "default" || value(s.ConfigOptions, "thinking") != "on" {
		t.Errorf("the options are %+v %+v", s.Modes, s.ConfigOptions)
	}
	e.call("session/set_mode", map[string]any{"sessionId": s.SessionID, "modeId": "plan"}, nil)
	e.until(func(u *acpUpdate) bool { return u.Kind == "current_mode_update" && u.CurrentModeID == "plan" })
	e.until(func(u *acpUpdate) bool {
		return u.Kind == "config_option_update" && value(u.ConfigOptions, "mode") == "plan"
	})
	var c struct{ ConfigOptions []acpOption }
	e.call("session/set_config_option", map[string]any{"sessionId": s.SessionID, "configId": "mode", "value": "acceptEdits"}, &c)
	if value(c.ConfigOptions, "mode") != "acceptEdits" {
		t.Errorf("the mode is %v", value(c.ConfigOptions, "mode"))
	}
	e.call("session/set_config_option", map[string]any{"sessionId": s.SessionID, "configId": "thinking", "value": "off"}, &c)
	if value(c.ConfigOptions, "thinking") != "off" {
		t.Errorf("thinking is %v", value(c.ConfigOptions, "thinking"))
	}
	if stop := e.prompt(s.SessionID, "/thinking on"); stop != "end_turn" || value(e.options(), "thinking") != "on" {
		t.Errorf("%s; thinking is %v", stop, value(e.options(), "thinking"))
	}
	e.updates = nil
	if stop := e.prompt(s.SessionID, "/nonsense"); stop != "end_turn" || !strings.Contains(e.said("agent_message_chunk"), "unknown command /nonsense") {
		t.Errorf("%s: %q", stop, e.said("agent_message_chunk"))
	}
	if stop := e.prompt(s.SessionID, "Make it"); stop != "end_turn" || len(e.asked) > 0 || !e.has("made.txt") {
		t.Errorf("%s after %d questions", stop, len(e.asked))
	}
	e.end()
}

// options returns the options as they were last announced.
func (e *acpEditor) options() []acpOption {
	for i := len(e.updates) - 1; i >= 0; i-- {
		if e.updates[i].Kind == "config_option_update" {
			return e.updates[i].ConfigOptions
		}
	}
	return nil
}

// TestACPContent checks that the model gets the content of a prompt: pictures, embedded and
// linked files.
//
// Proves X-080.
func TestACPContent(t *testing.T) {
	t.Parallel()
	e := startACP(t, "expect json messages.0.content.2.type \"image\"\nexpect text \"unsaved words\"\nexpect text \"words of the file\"\nexpect no-text \"hidden words\"\nsay Seen.",
		"--settings", `{"models":{"replay":{"images":true}}}`)
	write(t, filepath.Join(e.dir, "linked file.txt"), "words of the file\n")
	write(t, filepath.Join(e.dir, "hidden.txt"), "hidden words\n")
	e.initialize(`{}`)
	const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	request := e.request("session/prompt", map[string]any{"sessionId": e.open(), "prompt": []any{
		map[string]any{"type": "text", "text": "See "},
		map[string]any{"type": "resource_link", "name": "linked", "uri": "file://" + strings.ReplaceAll(filepath.Join(e.dir, "linked file.txt"), " ", "%20")},
		map[string]any{"type": "image", "mimeType": "image/png", "data": picture},
		map[string]any{"type": "resource", "resource": map[string]any{"uri": "file:///x.go", "text": "unsaved words @hidden.txt"}},
	}})
	if stop := e.stopped(request); stop != "end_turn" || e.said("agent_message_chunk") != "Seen." {
		t.Errorf("%s: %q", stop, e.said("agent_message_chunk"))
	}
	e.end()
}

// TestACPServers checks that the model can use the client's MCP servers, under the permission
// rules.
//
// Proves X-080.
func TestACPServers(t *testing.T) {
	t.Parallel()
	server, err := exec.LookPath("mcptest")
	if err != nil {
		t.Fatal(err)
	}
	e := startACP(t, "use mcp__tester__echo {\"text\":\"hello\"}\n---\nexpect result toolu_1_1 \"hello\"\nsay Done.")
	e.initialize(`{}`)
	var s struct{ SessionID string }
	e.call("session/new", map[string]any{"cwd": e.dir, "mcpServers": []any{
		map[string]any{"name": "tester", "command": server, "args": []string{}, "env": []any{map[string]any{"name": "A", "value": "b"}}},
	}}, &s)
	if stop := e.prompt(s.SessionID, "Say it"); stop != "end_turn" || e.said("agent_message_chunk") != "Done." {
		t.Errorf("%s: %q", stop, e.said("agent_message_chunk"))
	}
	if len(e.asked) != 1 || !strings.Contains(string(e.asked[0].Params), `tester`) {
		t.Errorf("%d questions", len(e.asked))
	}
	e.end()
}

// TestACPSlowClient checks that a session goes on while the client reads nothing, and that the
// client then gets everything in order.
//
// Proves X-080.
func TestACPSlowClient(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&text, "%d ", i)
	}
	e := startACP(t, "fragments 10000\nsay "+text.String()+"end\nuse Bash {\"command\":\"touch made.txt\",\"description\":\"make\"}\n---\nsay Done.", "--allowed-tools", "Bash(touch *)")
	e.initialize(`{"session":{"notices":{}}}`)
	id := e.open()
	request := e.request("session/prompt", acpPrompt(id, "Talk"))
	for !e.has("made.txt") { // the test's time limit ends this if the session waits for the client
		runtime.Gosched()
	}
	if stop := e.stopped(request); stop != "end_turn" {
		t.Errorf("the turn ended with %s", stop)
	}
	if got := e.said("agent_message_chunk"); got != text.String()+"endDone." {
		t.Errorf("%d bytes arrived, ending in %q", len(got), got[max(0, len(got)-200):])
	}
	e.end()
}

// TestACPPlan checks that the model's task list is the plan, and that hooks' messages and
// compactions are reported to clients that show them.
//
// Proves X-080.
func TestACPPlan(t *testing.T) {
	t.Parallel()
	e := startACP(t, "use TaskCreate {\"subject\":\"Measure\",\"description\":\"d\"}\nuse TaskCreate {\"subject\":\"Cut\",\"description\":\"d\"}\n---\nuse TaskUpdate {\"taskId\":\"1\",\"status\":\"in_progress\"}\n---\nsay Working.")
	e.initialize(`{}`)
	if stop := e.prompt(e.open(), "Plan it"); stop != "end_turn" {
		t.Errorf("the turn ended with %s", stop)
	}
	var last string
	for _, u := range e.updates {
		if u.Kind == "plan" {
			last = fmt.Sprint(u.Entries)
		}
	}
	if last != "[{1 Measure in_progress} {2 Cut pending}]" {
		t.Errorf("the plan is %s\n%s", last, e.kinds())
	}
	e.end()
}

// TestACPQuestions checks that the model's questions to the user become a form, or one question
// after the other for clients without forms.
//
// Proves X-080.
func TestACPQuestions(t *testing.T) {
	t.Parallel()
	const ask = `use AskUserQuestion {"questions":[{"question":"Which colour?","header":"Colour","options":[{"label":"Red","description":"warm"},{"label":"Blue","description":"cold"}],"multiSelect":false}]}`
	for name, tt := range map[string]struct {
		caps   string
		answer any
		want   string
	}{
		"form":            {`{"elicitation":{"form":{}}}`, map[string]any{"action": "accept", "content": map[string]any{"0": "Blue"}}, "Blue"},
		"form declined":   {`{"elicitation":{"form":{}}}`, map[string]any{"action": "decline"}, ""},
		"options":         {`{}`, acpChoose("1"), "Blue"},
		"options skipped": {`{}`, acpChoose("reject"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expect := "expect result toolu_1_1 \"" + tt.want + "\"\n"
			e := startACP(t, ask+"\n---\n"+expect+"expect no-error-result toolu_1_1\nsay Done.")
			if tt.want == "" {
				e.end()
				e = startACP(t, ask+"\n---\nexpect no-result toolu_1_1 \"Blue\"\nsay Done.")
			}
			e.answer = func(acpMessage) (any, string) { return tt.answer, "" }
			e.initialize(tt.caps)
			if stop := e.prompt(e.open(), "Ask me"); stop != "end_turn" || !strings.Contains(e.said("agent_message_chunk"), "Done.") && tt.want != "" {
				t.Errorf("%s: %q", stop, e.said("agent_message_chunk"))
			}
			if len(e.asked) != 1 || !strings.Contains(string(e.asked[0].Params), "Which colour?") {
				t.Errorf("the questions are %+v", e.asked)
			}
			e.end()
		})
	}
}

// TestACPErrors checks that a failed turn is answered with an error, and a missing provider
// with the error for signing in.
//
// Proves X-080.
func TestACPErrors(t *testing.T) {
	t.Parallel()
	e := startACP(t, "error auth Key is wrong.\n---\nerror invalid_request Bad things.\n---\nstop max_tokens\nsay cut\n---\nforever\nstop refusal\nsay No.")
	e.initialize(`{}`)
	id := e.open()
	e.refused("session/prompt", acpPrompt(id, "1"), -32000, "")
	e.refused("session/prompt", acpPrompt(id, "2"), -32603, "Bad things")
	e.end()

	bin, err := exec.LookPath("adze")
	if err != nil {
		t.Fatal(err)
	}
	n := &acpEditor{t: t, dir: t.TempDir(), home: t.TempDir()}
	n.startProgram(bin, "acp")
	n.call("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{"auth": map[string]any{"terminal": true}}}, nil)
	n.refused("session/new", map[string]any{"cwd": n.dir, "mcpServers": []any{}}, -32000, "adze auth login")
	n.refused("authenticate", map[string]any{"methodId": "provider"}, -32000, "adze auth login")
	n.end()
}

// TestACPUnsaved checks that the client's unsaved text counts as the content of a file, that the
// client gets the changed text, and that a rule which denies reading a file also keeps adze from
// asking for it.
//
// Proves X-080.
func TestACPUnsaved(t *testing.T) {
	t.Parallel()
	const script = "use Read {\"file_path\":\"a.txt\"}\n---\nexpect result toolu_1_1 \"unsaved\"\n" +
		"use Edit {\"file_path\":\"a.txt\",\"old_string\":\"unsaved\",\"new_string\":\"changed\"}\n---\nexpect no-error-result toolu_2_1\n" +
		"use Read {\"file_path\":\"a.txt\"}\n---\nexpect result toolu_3_1 \"changed\"\n" +
		"use Read {\"file_path\":\"secret.txt\"}\nuse Read {\"file_path\":\"closed.txt\"}\n---\nexpect error-result toolu_4_1\nexpect result toolu_4_2 \"on disk\"\nsay Done."
	e := startACP(t, script, "--disallowed-tools", "Read(secret.txt)")
	path := func(name string) string { return filepath.Join(e.dir, name) }
	write(t, path("a.txt"), "one\r\nsaved\r\n")
	write(t, path("secret.txt"), "secret")
	write(t, path("closed.txt"), "on disk\n")
	buffer := "one\nunsaved\n"
	var asked []string
	e.answer = func(m acpMessage) (any, string) {
		var p struct{ Path, Content string }
		if err := json.Unmarshal(m.Params, &p); err != nil {
			t.Error(err)
		}
		asked = append(asked, m.Method+" "+filepath.Base(p.Path))
		switch {
		case m.Method == "session/request_permission":
			if !strings.Contains(string(m.Params), `one\nunsaved\n`) {
				t.Errorf("the question does not show the unsaved text: %s", m.Params)
			}
			return acpChoose("allow"), ""
		case p.Path != path("a.txt"):
			return nil, "this file is not open"
		case m.Method == "fs/write_text_file":
			buffer = p.Content
			return map[string]any{}, ""
		}
		return map[string]any{"content": buffer}, ""
	}
	e.initialize(`{"fs":{"readTextFile":true,"writeTextFile":true}}`)
	if stop := e.prompt(e.open(), "Change it"); stop != "end_turn" || e.said("agent_message_chunk") != "Done." {
		t.Errorf("%s: %q", stop, e.said("agent_message_chunk"))
	}
	data, err := os.ReadFile(path("a.txt"))
	if err != nil || string(data) != "one\r\nchanged\r\n" || buffer != "one\nchanged\n" {
		t.Errorf("on disk %q, in the editor %q, %v", data, buffer, err)
	}
	if all := strings.Join(asked, "\n"); strings.Contains(all, "secret") || strings.Count(all, "fs/write_text_file a.txt") != 1 || !strings.Contains(all, "fs/read_text_file closed.txt") {
		t.Errorf("the client was asked\n%s", all)
	}
	e.end()
}

// TestACPServerQuestions checks that the questions of MCP servers reach the user as forms and
// pages, and are cancelled if the client has neither.
//
// Proves X-080.
func TestACPServerQuestions(t *testing.T) {
	t.Parallel()
	server, err := exec.LookPath("mcptest")
	if err != nil {
		t.Fatal(err)
	}
	const both = `{"elicitation":{"form":{},"url":{}}}`
	for name, tt := range map[string]struct {
		caps, use string
		answer    any
		want      string // in the result
		asked     string // in the question
	}{
		"form":         {both, `mcp__tester__ask`, map[string]any{"action": "accept", "content": map[string]any{"name": "Ann"}}, `Ann`, `"mode":"form"`},
		"form invalid": {both, `mcp__tester__ask`, map[string]any{"action": "accept", "content": map[string]any{"name": 7}}, `cancel`, `"mode":"form"`},
		"form unknown": {both, `mcp__tester__ask`, map[string]any{"action": "whatever"}, `cancel`, `"mode":"form"`},
		"no forms":     {`{}`, `mcp__tester__ask`, nil, `cancel`, ``},
		"page":         {both, `mcp__tester__open {"text":"once"}`, map[string]any{"action": "accept"}, `the user was there`, `"url":"https://example.com/x"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := startACP(t, "use "+tt.use+"\n---\nexpect result toolu_1_1 \""+tt.want+"\"\nsay Done.", "--allowed-tools", "mcp__tester")
			e.answer = func(acpMessage) (any, string) { return tt.answer, "" }
			e.initialize(tt.caps)
			var s struct{ SessionID string }
			e.call("session/new", map[string]any{"cwd": e.dir, "mcpServers": []any{
				map[string]any{"name": "tester", "command": server, "args": []string{}, "env": []any{}},
			}}, &s)
			if stop := e.prompt(s.SessionID, "Ask"); stop != "end_turn" || !strings.HasSuffix(e.said("agent_message_chunk"), "Done.") {
				t.Errorf("%s: %q", stop, e.said("agent_message_chunk"))
			}
			switch {
			case tt.asked == "" && len(e.asked) > 0:
				t.Errorf("the client was asked %s", e.asked[0].Params)
			case tt.asked != "" && (len(e.asked) != 1 || !strings.Contains(string(e.asked[0].Params), tt.asked)):
				t.Errorf("the questions are %+v", e.asked)
			}
			e.end()
		})
	}
}

// TestACPAgentAsks checks that the calls of sub-agents that need approval are asked about and
// finished like others.
//
// Proves X-080.
func TestACPAgentAsks(t *testing.T) {
	t.Parallel()
	e := startACP(t, "when text \"Delegate\"\nuse Agent {\"description\":\"make\",\"prompt\":\"Write the file\",\"subagent_type\":\"general-purpose\",\"run_in_background\":false}\n---\n"+
		"when last \"Write the file\"\n"+acpWrite+"\n---\nforever\nsay Done.")
	e.initialize(`{}`)
	if stop := e.prompt(e.open(), "Delegate"); stop != "end_turn" || !e.has("made.txt") || len(e.asked) != 1 {
		t.Errorf("%s; %d questions\n%s", stop, len(e.asked), e.kinds())
	}
	open := map[string]bool{}
	for _, u := range e.updates {
		switch {
		case u.Kind == "tool_call":
			open[u.ToolCallID] = true
		case u.Status == "completed" || u.Status == "failed":
			delete(open, u.ToolCallID)
		}
	}
	if len(open) > 0 {
		t.Errorf("these calls never end: %v\n%s", open, e.kinds())
	}
	e.end()
}
