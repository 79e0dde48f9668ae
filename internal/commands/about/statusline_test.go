package about

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestStatusLine checks that the command gets the expected fields, and that only its first line
// is used.
//
// Proves X-125.
func TestStatusLine(t *testing.T) {
	r := newRegistry(t, t.TempDir())
	printed, failed := "", error(nil)
	var got map[string]any
	s := StatusLine{
		Command: func() string { return "mine" },
		Run: func(_ context.Context, command string, input []byte) ([]byte, error) {
			if err := json.Unmarshal(input, &got); err != nil || command != "mine" {
				t.Errorf("%s: %v", command, err)
			}
			return []byte(printed), failed
		},
	}
	for _, tt := range [][2]string{
		{"one\ntwo\n", "one"}, {"\n\r\none \r\n", "one"}, {"", ""}, {"\n\n", ""}, {"a\xffb", "a\uFFFDb"}, {strings.Repeat("x", 2*MaxStatus), strings.Repeat("x", MaxStatus)},
	} {
		printed = tt[0]
		if line, err := s.Line(t.Context(), r); err != nil || line != tt[1] {
			t.Errorf("%q: %q, %v", tt[0], line, err)
		}
	}
	want := []string{"cost", "cwd", "exceeds_200k_tokens", "model", "session_id", "version", "workspace"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(got))); diff != "" || got["session_id"] != "00000001-id" {
		t.Error(diff, got)
	}
	failed = errors.New("broken")
	if _, err := s.Line(t.Context(), r); !errors.Is(err, failed) {
		t.Error(err)
	}
	s.Command = func() string { return "" }
	if line, err := s.Line(t.Context(), r); line != "" || err != nil {
		t.Errorf("without a command: %q, %v", line, err)
	}
}
