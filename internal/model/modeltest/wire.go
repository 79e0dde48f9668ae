package modeltest

import (
	"fmt"
	"io"
	"net/http"

	"adze/internal/model"
	"adze/internal/msg"
)

// begin sends the header of an answer.
func begin(w http.ResponseWriter, contentType string) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Request-Id", "req_1")
	w.WriteHeader(http.StatusOK)
}

// send writes events; errors show on the other side.
func send(w io.Writer, first string, more ...string) {
	for _, e := range append([]string{first}, more...) {
		io.WriteString(w, "data: "+e+"\n\n")
	}
}

// stream returns a server that answers with the given events.
func stream(first string, more ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		begin(w, "text/event-stream")
		send(w, first, more...)
	}
}

func start(input int) string {
	return fmt.Sprintf(`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"model-1-real","content":[],"usage":{"input_tokens":%d,"output_tokens":1}}}`, input)
}

func startBlock(i int, block string) string {
	return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, i, block)
}

func delta(i int, delta string) string {
	return fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, i, delta)
}

func stopBlock(i int) string { return fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i) }

// text opens block 0 with a text.
func text(s string) string {
	return startBlock(0, `{"type":"text","text":`+string(msg.AppendString(nil, s))+`}`)
}

func use(i int, id string) string {
	return startBlock(i, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"Read","input":{}}`, id))
}

func input(i int, fragment string) string {
	return delta(i, `{"type":"input_json_delta","partial_json":`+string(msg.AppendString(nil, fragment))+`}`)
}

func finish(reason string, output int) []string {
	return []string{
		fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q},"usage":{"output_tokens":%d}}`, reason, output),
		`{"type":"message_stop"}`,
	}
}

// A conversation is a streamed answer and what it spells.
type conversation struct {
	name   string
	events []string
	want   reply
}

func conversations() []conversation {
	say := func(parts ...msg.Part) msg.Message { return msg.Message{Role: msg.Assistant, Parts: parts} }
	used := msg.Usage{Input: 10, Output: 5}
	end := finish("end_turn", 5)
	answer := func(events ...string) []string { return append([]string{start(10)}, events...) }
	return []conversation{
		{"text", answer(append([]string{
			`{"type":"ping"}`, text("Hel"), delta(0, `{"type":"text_delta","text":"lo"}`), stopBlock(0)}, end...)...),
			reply{Message: say(&msg.Text{Text: "Hello"}), Usage: used, Stop: model.StopEnd}},
		{"tool", answer(append([]string{
			use(0, "toolu_1"), input(0, `{"path":`), input(0, `"a b"}`), stopBlock(0)}, finish("tool_use", 5)...)...),
			reply{Message: say(msg.NewToolUse("toolu_1", "Read", `{"path":"a b"}`)), Usage: used, Stop: model.StopTools}},
		{"parallel tools", answer(append([]string{
			text("Both."), stopBlock(0), use(1, "toolu_1"), input(1, `{"a":1}`), stopBlock(1), use(2, "toolu_2"), stopBlock(2)},
			finish("tool_use", 5)...)...),
			reply{Message: say(&msg.Text{Text: "Both."}, msg.NewToolUse("toolu_1", "Read", `{"a":1}`), msg.NewToolUse("toolu_2", "Read", "")), Usage: used, Stop: model.StopTools}},
		{"malformed tool input", answer(append([]string{use(0, "toolu_1"), input(0, `{"path`), stopBlock(0)}, end...)...),
			reply{Message: say(msg.NewToolUse("toolu_1", "Read", `{"path`)), Usage: used, Stop: model.StopEnd}},
		{"thinking", answer(append([]string{
			startBlock(0, `{"type":"thinking","thinking":"","signature":""}`), delta(0, `{"type":"thinking_delta","thinking":"Hm."}`),
			delta(0, `{"type":"signature_delta","signature":"c2ln"}`), stopBlock(0),
			startBlock(1, `{"type":"redacted_thinking","data":"eA=="}`), stopBlock(1)}, end...)...),
			reply{Message: say(&msg.Thinking{Text: "Hm.", Signature: "c2ln"}, &msg.Redacted{Data: "eA=="}), Usage: used, Stop: model.StopEnd}},
		{"server tool", answer(append([]string{
			startBlock(0, `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}`), input(0, `{"query":"x"}`), stopBlock(0)},
			finish("pause_turn", 5)...)...),
			reply{Message: say(&msg.Server{Raw: []byte(`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}}`)}), Usage: used, Stop: model.StopPause}},
		{"unknown block and event", answer(append([]string{
			`{"type":"weather"}`, startBlock(0, `{"type":"hologram"}`), delta(0, `{"type":"beam"}`), stopBlock(0)}, end...)...),
			reply{Message: say(&msg.Opaque{Raw: []byte(`{"type":"hologram"}`)}), Usage: used, Stop: model.StopEnd}},
		{"cache usage", []string{
			`{"type":"message_start","message":{"id":"msg_1","model":"model-1-real","usage":{"input_tokens":1,"cache_creation_input_tokens":20,"cache_read_input_tokens":300,"output_tokens":1}}}`,
			end[0], end[1]},
			reply{Message: say(), Usage: msg.Usage{Input: 1, CacheWrite: 20, CacheRead: 300, Output: 5}, Stop: model.StopEnd}},
		{"output limit", answer(append([]string{text("cut"), stopBlock(0)}, finish("max_tokens", 5)...)...),
			reply{Message: say(&msg.Text{Text: "cut"}), Usage: used, Stop: model.StopMaxTokens}},
		{"context exceeded", answer(finish("model_context_window_exceeded", 5)...),
			reply{Message: say(), Usage: used, Stop: model.StopContextExceeded}},
		{"refusal", answer(finish("refusal", 5)...), reply{Message: say(), Usage: used, Stop: model.StopRefusal}},
	}
}
