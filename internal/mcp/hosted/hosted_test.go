package hosted

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLink checks that requests with a response in the manifest are answered from it, and that
// everything else is passed on.
func TestLink(t *testing.T) {
	var l Link
	if _, err := l.Send(t.Context(), "s", json.RawMessage(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)); err == nil {
		t.Error("a message was sent without a host")
	}
	var sent []string
	answer, failure := "", error(nil)
	l.Connect(func(_ context.Context, server string, message json.RawMessage) (json.RawMessage, error) {
		sent = append(sent, server+" "+string(message))
		return json.RawMessage(answer), failure
	}, map[string]Manifest{"s": {Initialize: json.RawMessage(`{"a":1}`), Tools: json.RawMessage(`{"tools":[]}`)}})
	for _, tt := range []struct {
		server, message, answer string
		failure                 error
		sent                    bool
		want                    string
		fails                   bool
	}{
		{server: "s", message: `{"jsonrpc":"2.0","id":1,"method":"initialize"}`, want: `{"id":1,"jsonrpc":"2.0","result":{"a":1}}`},
		{server: "s", message: `{"jsonrpc":"2.0","method":"notifications/initialized"}`},
		{server: "s", message: `{"jsonrpc":"2.0","id":"x","method":"tools/list"}`, want: `{"id":"x","jsonrpc":"2.0","result":{"tools":[]}}`},
		{server: "s", message: `{"jsonrpc":"2.0","id":3,"method":"tools/list"}`, answer: `{"jsonrpc":"2.0","id":3,"result":{}}`, sent: true, want: `{"jsonrpc":"2.0","id":3,"result":{}}`},
		{server: "t", message: `{"jsonrpc":"2.0","id":1,"method":"initialize"}`, answer: `{"jsonrpc":"2.0","id":0,"error":{"code":1,"message":"no"}}`, sent: true,
			want: `{"error":{"code":1,"message":"no"},"id":1,"jsonrpc":"2.0"}`},
		{server: "t", message: `{"jsonrpc":"2.0","method":"notifications/initialized"}`, answer: `{"result":{},"id":0}`, sent: true},
		{server: "t", message: `{"jsonrpc":"2.0","id":5,"result":{}}`, answer: `{"result":{},"id":0}`, sent: true},
		{server: "t", message: `{"jsonrpc":"2.0","id":5,"method":"ping"}`, answer: `null`, sent: true, fails: true},
		{server: "t", message: `{"jsonrpc":"2.0","id":5,"method":"ping"}`, answer: `[]`, sent: true, fails: true},
		{server: "t", message: `{"jsonrpc":"2.0","id":5,"method":"ping"}`, failure: errors.New("gone"), sent: true, fails: true},
		{server: "t", message: `no`, fails: true},
	} {
		sent, answer, failure = nil, tt.answer, tt.failure
		got, err := l.Send(t.Context(), tt.server, json.RawMessage(tt.message))
		if string(got) != tt.want || (err != nil) != tt.fails || (len(sent) > 0) != tt.sent {
			t.Errorf("%s %s: %s, %v, sent %q", tt.server, tt.message, got, err, sent)
		}
	}
}

func TestReceive(t *testing.T) {
	var l Link
	if err := l.Receive("s", nil); err == nil {
		t.Error("a message of no server was taken")
	}
	var got []string
	stop := l.Listen("s", func(m json.RawMessage) { got = append(got, "old "+string(m)) })
	again := l.Listen("s", func(m json.RawMessage) { got = append(got, "new "+string(m)) })
	stop() // already replaced
	if err := l.Receive("s", json.RawMessage(`1`)); err != nil {
		t.Error(err)
	}
	again()
	if err := l.Receive("s", json.RawMessage(`2`)); err == nil {
		t.Error("a message was taken after the end")
	}
	if diff := cmp.Diff([]string{"new 1"}, got); diff != "" {
		t.Error(diff)
	}
}
