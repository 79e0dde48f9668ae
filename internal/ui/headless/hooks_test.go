package headless

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/ui/streamjson"
)

// asker returns a server that writes to a buffer.
func asker(t *testing.T) (*server, *bytes.Buffer) {
	var out bytes.Buffer
	f := &Front{out: streamjson.NewWriter(&out)}
	return &server{f: f, ctx: t.Context()}, &out
}

func TestRunHook(t *testing.T) {
	tests := []struct {
		name   string
		answer func(sv *server, id string, cancel func())
		want   string
		err    string
	}{
		{"answered", func(sv *server, id string, _ func()) {
			sv.answered(json.RawMessage(`{"subtype":"success","request_id":"` + id + `","response":{"continue":true}}`))
		}, `{"continue":true}`, ""},
		{"failed", func(sv *server, id string, _ func()) {
			sv.answered(json.RawMessage(`{"subtype":"error","request_id":"` + id + `","error":"boom"}`))
		}, "", "the host answered with an error: boom"},
		{"gone", func(sv *server, _ string, _ func()) { sv.hangUp() }, "", "the host is gone"},
		{"withdrawn", func(_ *server, _ string, cancel func()) { cancel() }, "", "too slow"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sv, out := asker(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			done := make(chan struct{})
			var got json.RawMessage
			var err error
			go func() {
				defer close(done)
				got, err = sv.runHook(ctx, "hook_0", json.RawMessage(`{"a":1}`), "toolu_1")
			}()
			id := ""
			for id == "" { // until the request is sent
				sv.pending.mu.Lock()
				for request := range sv.pending.calls {
					id = request
				}
				sv.pending.mu.Unlock()
			}
			tt.answer(sv, id, func() { cancel(errors.New("too slow")) })
			<-done
			text := ""
			if err != nil {
				text = err.Error()
			}
			if diff := cmp.Diff([]string{tt.want, tt.err}, []string{string(got), text}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			line, rest, _ := strings.Cut(out.String(), "\n")
			want := `{"type":"control_request","request_id":"` + id + `","request":{"subtype":"hook_callback","callback_id":"hook_0","input":{"a":1},"tool_use_id":"toolu_1"}}`
			if line != want {
				t.Errorf("asked %s, want %s", line, want)
			}
			if withdrawn := strings.Contains(rest, "control_cancel_request"); withdrawn != (tt.name == "withdrawn") {
				t.Errorf("then wrote %q", rest)
			}
			if len(sv.pending.calls) > 0 {
				t.Error("the request is not forgotten")
			}
		})
	}
	sv, _ := asker(t)
	sv.hangUp()
	if _, err := sv.runHook(t.Context(), "hook_0", nil, ""); !errors.Is(err, errHostGone) {
		t.Errorf("asked a host that is gone: %v", err)
	}
}
