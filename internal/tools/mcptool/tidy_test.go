package mcptool

import "testing"

// TestTidy checks that properties with defaults are not required at any depth, and that the
// rest of a schema is unchanged, in the same order.
func TestTidy(t *testing.T) {
	for in, want := range map[string]string{
		`{"type":"object","properties":{"b":{"type":"string","default":"x"},"a":{"type":"string"}},"required":["b","a"]}`:          `{"type":"object","properties":{"b":{"type":"string","default":"x"},"a":{"type":"string"}},"required":["a"]}`,
		`{"properties":{"list":{"type":"array","items":{"properties":{"n":{"default":1}},"required":["n"]}}},"required":["list"]}`: `{"properties":{"list":{"type":"array","items":{"properties":{"n":{"default":1}},"required":[]}}},"required":["list"]}`,
		`{"anyOf":[{"properties":{"n":{"default":1}},"required":["n"]}]}`:                                                          `{"anyOf":[{"properties":{"n":{"default":1}},"required":[]}]}`,
		`{"properties":{"required":{"type":"string"},"default":{"type":"string"}},"required":["required","default"]}`:              `{"properties":{"required":{"type":"string"},"default":{"type":"string"}},"required":["required","default"]}`,
		`{"default":{"required":["x"],"properties":{"x":{"default":1}}},"required":["y"]}`:                                         `{"default":{"required":["x"],"properties":{"x":{"default":1}}},"required":["y"]}`,
		`not JSON "default" "required"`: `not JSON "default" "required"`,
		``:                              ``,
	} {
		if got := string(tidy([]byte(in))); got != want {
			t.Errorf("%s\nbecame %s\nwant   %s", in, got, want)
		}
	}
	if got := string(unversioned([]byte(`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}`))); got != `{"type":"object"}` {
		t.Errorf("%s", got)
	}
}
