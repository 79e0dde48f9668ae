package plugin

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzObject checks that quickObject finds the same members as encoding/json, and none in
// invalid JSON.
func FuzzObject(f *testing.F) {
	for _, text := range []string{
		`{"a": 1, "b": {"c": [1, 2]}, "a": "twice"}`, "\ufeff{\"a\":1}", `{"\u0061": null}`, "{\"\xff\": 1}", `null`, `[]`, `{"a":1}x`, `{"a":01}`, "{\"a\":\"\n\"}", ` { } `, `{"a":"\ud800"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		quick, ok := quickObject(data)
		if !ok {
			return
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(data, &members); err != nil {
			t.Fatalf("%q is not JSON: %v", data, err)
		}
		if diff := cmp.Diff(members, quick); diff != "" {
			t.Error(diff)
		}
	})
}
