package display

import (
	"context"
	"errors"
	"testing"

	"adze/internal/commands"
)

// Proves X-133.
func TestRequest(t *testing.T) {
	for _, tt := range []struct {
		out  string
		want commands.Request
	}{
		{`{"number":12,"state":"OPEN","statusCheckRollup":[]}`, commands.Request{Text: "#12 open"}},
		{`{"number":12,"state":"OPEN","isDraft":true}`, commands.Request{Text: "#12 draft"}},
		{`{"number":12,"state":"OPEN","reviewDecision":"APPROVED","statusCheckRollup":[{"status":"COMPLETED","conclusion":"SUCCESS"}]}`, commands.Request{Text: "#12 approved", Mood: commands.Well}},
		{`{"number":12,"state":"OPEN","reviewDecision":"APPROVED","statusCheckRollup":[{"status":"COMPLETED","conclusion":"FAILURE"},{"state":"SUCCESS"}]}`, commands.Request{Text: "#12 checks fail", Mood: commands.Ill}},
		{`{"number":12,"state":"OPEN","statusCheckRollup":[{"state":"ERROR"}]}`, commands.Request{Text: "#12 checks fail", Mood: commands.Ill}},
		{`{"number":12,"state":"OPEN","statusCheckRollup":[{"status":"IN_PROGRESS","conclusion":""}]}`, commands.Request{Text: "#12 checks run"}},
		{`{"number":12,"state":"OPEN","reviewDecision":"CHANGES_REQUESTED"}`, commands.Request{Text: "#12 changes requested", Mood: commands.Ill}},
		{`{"number":12,"state":"MERGED","statusCheckRollup":[{"conclusion":"FAILURE"}]}`, commands.Request{Text: "#12 merged", Mood: commands.Well}},
		{`{"number":12,"state":"CLOSED"}`, commands.Request{Text: "#12 closed"}},
		{`{"number":"12"}`, commands.Request{}}, {`[]`, commands.Request{}}, {`no pull requests found`, commands.Request{}}, {``, commands.Request{}}, {`{"number":-1}`, commands.Request{}},
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
