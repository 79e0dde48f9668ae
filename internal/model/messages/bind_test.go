package messages

import (
	"net/http"
	"strings"
	"testing"

	"adze/internal/model"
)

// A signedTalk is a conversation with thinking signed by a server.
type signedTalk struct{ system, tools, first string }

func (c signedTalk) body(model, options string, messages ...string) []byte {
	return []byte(`{"model":"` + model + `","max_tokens":2000` + options + `,"system":[{"type":"text","text":"` + c.system + `"}],` +
		`"tools":[{"name":"` + c.tools + `","input_schema":{"type":"object"}}],"messages":[` + strings.Join(messages, ",") + `]}`)
}

// TestBoundThinking checks that thinking is accepted only if nothing before it has changed
// except cache marks (part of finding 2).
func TestBoundThinking(t *testing.T) {
	thinks := func(signature string) string {
		return `{"type":"thinking","thinking":"","signature":"` + signature + `"}`
	}
	text := func(s string) string { return `{"type":"text","text":"` + s + `"}` }
	was := signedTalk{system: "s", tools: "Read", first: "hi"}
	first := user(`{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}`)
	one := Server{}.Sign(was.body("m", "", first), "sig_1_0", "")
	answer := assistant(thinks(one), use1)
	two := Server{}.Sign(was.body("m", "", user(text("hi")), answer, user(result1)), "sig_2_0", "")
	three := Server{}.Sign(was.body("m", "", user(text("hi")), answer, user(result1)), "sig_2_1", two)

	four := Server{}.Sign(was.body("m", "", user(text("hi")), answer, user(result1), assistant(thinks(two), thinks(three), text("said")), user(text("more"))), "sig_3_0", "")

	plain := user(text("hi"))
	all := []string{plain, answer, user(result1), assistant(thinks(two), thinks(three), text("said")), user(text("more")), assistant(thinks(four), text("end")), user(text("bye"))}
	with := func(i int, message string) []string {
		changed := append([]string(nil), all...)
		changed[i] = message
		return changed
	}
	drop := `,"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}}`
	beta := http.Header{"Anthropic-Beta": {"x, " + bindingBeta}}
	beta.Set("Anthropic-Beta", bindingBeta)
	tests := []struct {
		name   string
		header http.Header
		body   []byte
		says   string
	}{
		{"as it was", nil, was.body("m", "", all...), ""},
		{"marked elsewhere", nil, was.body("m", "", with(2, user(strings.TrimSuffix(result1, "}")+`,"cache_control":{"type":"ephemeral"}}`))...), ""},
		{"another model", nil, signedTalk{system: "t", tools: "Read"}.body("n", "", all...), ""},
		{"of another server", nil, was.body("m", "", with(1, assistant(thinks("abc"), use1))...), ""},
		{"without the first", nil, was.body("m", "", with(1, assistant(use1))...), ""},
		{"without the last", nil, was.body("m", "", with(5, assistant(text("end")))...), ""},
		{"system", nil, signedTalk{system: "t", tools: "Read"}.body("m", "", all...), "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation"},
		{"system is named", nil, signedTalk{system: "t", tools: "Read"}.body("m", "", all...), "Changed: system"},
		{"tools", nil, signedTalk{system: "s", tools: "Edit"}.body("m", "", all...), "Changed: tools"},
		{"first message", nil, was.body("m", "", with(0, user(text("ho")))...), "Changed: messages.0"},
		{"result", nil, was.body("m", "", with(2, user(strings.Replace(result1, "ok", "cleared", 1)))...), "messages.3.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation"},
		{"result is named", nil, was.body("m", "", with(2, user(strings.Replace(result1, "ok", "cleared", 1)))...), "Changed: messages.1 to messages.2"},
		{"one left out between", nil, was.body("m", "", with(3, assistant(thinks(three), text("said")))...), "thinking before it is missing"},
		{"dropped", beta, signedTalk{system: "t", tools: "Read"}.body("m", drop, all...), ""},
		{"drop without the beta", http.Header{}, signedTalk{system: "t", tools: "Read"}.body("m", drop, all...), "requires " + bindingBeta},
		{"unknown beta", http.Header{"Anthropic-Beta": {"free-lunch"}}, was.body("m", "", all...), "`free-lunch` for the `anthropic-beta` header"},
	}
	for _, tt := range tests {
		err := Server{}.Check(tt.header, tt.body)
		if tt.says == "" && err != nil || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.says)
		}
		if err != nil && strings.Contains(err.Error(), "bound to") && model.KindOf(err) != model.BadSignature {
			t.Errorf("%s: of kind %s", tt.name, model.KindOf(err))
		}
	}
}
