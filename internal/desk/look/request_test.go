package look

import (
	"context"
	"errors"
	"testing"

	"adze/internal/desk"
)

// Proves X-133.
func TestRequest(t *testing.T) {
	for _, tt := range []struct {
		out  string
		want desk.Request
	}{
		{`{"number":12,"state":"OPEN","statusCheckRollup":[]}`, desk.Request{Text: "#12 open"}},
		{`{"number":12,"state":"OPEN","isDraft":true}`, desk.Request{Text: "#12 draft"}},
		{`{"number":12,"state":"OPEN","reviewDecision":"APPROVED","statusCheckRollup":[{"status":"COMPLETED","conclusion":"SUCCESS"}]}`, desk.Request{Text: "#12 approved", Mood: desk.Well}},
		{`{"number":12,"state":"OPEN","reviewDecision":"APPROVED","statusCheckRollup":[{"status":"COMPLETED","conclusion":"FAILURE"},{"state":"SUCCESS"}]}`, desk.Request{Text: "#12 checks fail", Mood: desk.Ill}},
		{`{"number":12,"state":"OPEN","statusCheckRollup":[{"state":"ERROR"}]}`, desk.Request{Text: "#12 checks fail", Mood: desk.Ill}},
		{`{"number":12,"state":"OPEN","statusCheckRollup":[{"status":"IN_PROGRESS","conclusion":""}]}`, desk.Request{Text: "#12 checks run"}},
		{`{"number":12,"state":"OPEN","reviewDecision":"CHANGES_REQUESTED"}`, desk.Request{Text: "#12 changes requested", Mood: desk.Ill}},
		{`{"number":12,"state":"MERGED","statusCheckRollup":[{"conclusion":"FAILURE"}]}`, desk.Request{Text: "#12 merged", Mood: desk.Well}},
		{`{"number":12,"state":"CLOSED"}`, desk.Request{Text: "#12 closed"}},
		{`{"number":"12"}`, desk.Request{}}, {`[]`, desk.Request{}}, {`no pull requests found`, desk.Request{}}, {``, desk.Request{}}, {`{"number":-1}`, desk.Request{}},
	} {
		got := Request(t.Context(), func(_ context.Context, name string, args ...string) (string, error) {
			if name != "gh" {
				t.Error(name, args)
			}
			return tt.out, nil
		})
		if got != tt.want {
			t.Errorf("%s: %+v", tt.out, got)
		}
	}
	if got := Request(t.Context(), func(context.Context, string, ...string) (string, error) { return `{"number":1}`, errors.New("failed") }); got.Text != "" {
		t.Error(got)
	}
}
