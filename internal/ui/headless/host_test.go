package headless

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/permission"
	"adze/internal/session"
	"adze/internal/ui/streamjson"
)

var testHost = Host{
	DefaultModel: "m",
	Models:       []HostModel{{"m", "M", "a model"}},
}

func TestServe(t *testing.T) {
	const script = "forever\nsay Turn {n}."
	const hi = `{"type":"user","message":{"role":"user","content":"hi"}}`
	tests := []struct {
		name, in string
		results  []string
		err      string
		bad      bool
	}{
		{"nothing", "", nil, "", false},
		{"two turns", hi + "\n" + hi + "\n", []string{"Turn 1.", "Turn 2."}, "", false},
		{"no line end", hi, []string{"Turn 1."}, "", false},
		{"blank lines", "\n \n" + hi + "\n\n", []string{"Turn 1."}, "", false},
		{"empty prompt", `{"type":"user","message":{"role":"user","content":" "}}` + "\n" + hi, []string{"Turn 1."}, "", false},
		{"not JSON", "hello\n" + hi, []string{"Turn 1."}, "adze: skipping line 1 of stdin: it is not a JSON object", true},
		{"unknown kinds", `{"type":"keep_alive"}` + "\n" + `{"type":"control_response","response":{}}` + "\n" + hi, []string{"Turn 1."}, "", false},
		{"of the model", `{"type":"user","message":{"role":"assistant","content":"x"}}`, nil, "with the role assistant, not user", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			st := newStage(t, script, nil)
			out := st.front.Serve(t.Context(), strings.NewReader(tt.in), testHost)
			var got []string
			for _, line := range st.lines(t) {
				if text, ok := line["result"].(string); ok {
					got = append(got, text)
				}
			}
			if diff := cmp.Diff(tt.results, got); diff != "" {
				t.Error(diff)
			}
			if out.BadInput != tt.bad || !strings.Contains(st.err.String(), tt.err) {
				t.Errorf("got %+v, %q", out, st.err.String())
			}
		})
	}
}

func TestControl(t *testing.T) {
	tests := []struct {
		name, request string
		want          map[string]any
	}{
		{"unknown", `{"subtype":"dance"}`, map[string]any{
			"subtype": "error", "request_id": "r", "error": "Unsupported control request subtype: dance", "error_code": "unsupported_request",
		}},
		{"unreadable", `[]`, map[string]any{
			"subtype": "error", "request_id": "r", "error_code": "invalid_request",
			"error": "invalid request: it cannot be of the type array",
		}},
		{"interrupt while idle", `{"subtype":"interrupt"}`, map[string]any{
			"subtype": "success", "request_id": "r", "response": map[string]any{"still_queued": []any{}},
		}},
		{"model", `{"subtype":"set_model","model":"x"}`, map[string]any{"subtype": "success", "request_id": "r", "response": map[string]any{}}},
		{"default model", `{"subtype":"set_model"}`, map[string]any{"subtype": "success", "request_id": "r", "response": map[string]any{}}},
		{"no such model", `{"subtype":"set_model","model":"none"}`, map[string]any{
			"subtype": "error", "request_id": "r", "error": "no such model", "error_code": "invalid_model",
		}},
		{"mode", `{"subtype":"set_permission_mode","mode":"plan"}`, map[string]any{
			"subtype": "success", "request_id": "r", "response": map[string]any{"mode": "plan"},
		}},
		{"mode refused", `{"subtype":"set_permission_mode","mode":"bypassPermissions"}`, map[string]any{
			"subtype": "error", "request_id": "r", "error": permission.ErrBypass.Error(), "error_code": "bypass_not_launched",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			st := newStage(t, "say x", nil)
			in := `{"type":"control_request","request_id":"r","request":` + tt.request + `}`
			out := st.front.Serve(t.Context(), strings.NewReader(in), testHost)
			if out.BadInput {
				t.Error("counts as bad input")
			}
			lines := st.lines(t)
			if len(lines) == 0 || lines[0]["type"] != "control_response" {
				t.Fatalf("got %v", lines)
			}
			if diff := cmp.Diff(tt.want, lines[0]["response"]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestInterrupt checks that an input line interrupts the running turn.
func TestInterrupt(t *testing.T) {
	r, w := io.Pipe()
	st := newStage(t, "when no-text \"two\"\nsay Half\nhang\n---\nsay Done.", func(_ *session.Config, c *Config) {
		c.Stdout = &trigger{Writer: c.Stdout, on: `"subtype":"init"`, do: func() {
			go io.WriteString(w, `{"type":"control_request","request_id":"r","request":{"subtype":"interrupt"}}`+"\n"+
				`{"type":"user","message":{"role":"user","content":"two"}}`+"\n")
		}}
	})
	st.front.p = &closeAfter{st.front.p, w, 2}
	go io.WriteString(w, `{"type":"user","message":{"role":"user","content":"one"}}`+"\n")
	st.front.Serve(t.Context(), r, testHost)
	var subtypes []any
	for _, line := range st.lines(t) {
		if line["type"] == "result" {
			subtypes = append(subtypes, line["subtype"])
		}
	}
	if diff := cmp.Diff([]any{"error_during_execution", "success"}, subtypes); diff != "" {
		t.Errorf("%s\n%s", diff, st.out.String())
	}
}

// A trigger calls a function once when a text is written.
type trigger struct {
	io.Writer
	on string
	do func()
}

func (t *trigger) Write(p []byte) (int, error) {
	if t.do != nil && strings.Contains(string(p), t.on) {
		t.do()
		t.do = nil
	}
	return t.Writer.Write(p)
}

// A closeAfter closes the input after a number of turns.
type closeAfter struct {
	printer
	in    io.Closer
	turns int
}

func (c *closeAfter) End(r *streamjson.Result) {
	c.printer.End(r)
	if c.turns--; c.turns == 0 {
		c.in.Close()
	}
}

func FuzzServe(f *testing.F) {
	f.Add(`{"type":"user","message":{"role":"user","content":"hi"}}`)
	f.Add(`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"hi"},{"type":"image"}]}}`)
	f.Add(`{"type":"control_request","request_id":"r","request":{"subtype":"initialize"}}`)
	f.Add(`{"type":"control_request"}`)
	f.Add("{\n[]\n\"x\"\nnull\n1")
	f.Fuzz(func(t *testing.T, in string) {
		st := newStage(t, "forever\nsay x", nil)
		st.front.Serve(t.Context(), strings.NewReader(in), testHost)
		for _, line := range st.lines(t) {
			if line["type"] == nil {
				t.Errorf("a line without a type: %v", line)
			}
		}
	})
}
