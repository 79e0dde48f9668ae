package messages

import (
	"strings"
	"testing"

	"adze/internal/model"
)

// Proves WSR-05.
func TestPartialQuery(t *testing.T) {
	const whole = `{"max":1, "query" : "go \"quoted\" \u00e9 end","x":2}`
	was := ""
	for n := range len(whole) + 1 {
		got := partialQuery([]byte(whole[:n]))
		if !strings.HasPrefix(got, was) {
			t.Fatalf("%s is %q after %q", whole[:n], got, was)
		}
		was = got
	}
	if was != `go "quoted" é end` {
		t.Errorf("the query is %q", was)
	}
}

// Proves WSR-05.
func TestEncodeSearch(t *testing.T) {
	r := request(0)
	r.Search = &model.Search{Most: 8, Blocked: []string{"a.org", "b.org"}}
	body, err := new(Encoder).Encode(r, nil)
	if err != nil || !strings.Contains(string(body), `,"cache_control":{"type":"ephemeral"}},{"type":"web_search_20250305","name":"web_search","max_uses":8,"blocked_domains":["a.org","b.org"]}],"messages"`) {
		t.Errorf("%v\n%s", err, body)
	}
	r.Tools, r.Thinking.Mode, r.Search = nil, model.ThinkingAdaptive, &model.Search{Must: true, Allowed: []string{"a.org"}}
	body, err = new(Encoder).Encode(r, nil)
	if err != nil || !strings.Contains(string(body), `"tool_choice":{"type":"tool","name":"web_search"}`) || strings.Contains(string(body), `"thinking"`) ||
		!strings.Contains(string(body), `"tools":[{"type":"web_search_20250305","name":"web_search","allowed_domains":["a.org"]}]`) {
		t.Errorf("%v\n%s", err, body)
	}
	if err := Check(body); err != nil {
		t.Error(err)
	}
}
