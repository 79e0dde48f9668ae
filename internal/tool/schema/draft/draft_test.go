package draft

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// doubling returns a schema in which each definition refers to the next one twice.
func doubling(n int) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	fmt.Fprintf(&b, `"d%d":{}}}`, n)
	return b.String()
}

// TestCostIsBounded checks untrusted server schemas, each of which would take very long to
// check.
func TestCostIsBounded(t *testing.T) {
	words := strings.TrimSuffix(strings.Repeat(`"word",`, 2_000), ",")
	tests := []struct {
		name, schema, value string
		compiles            bool
	}{
		{"doubling", doubling(60), `{}`, false},
		{"doubling in parts", `{"$defs":{"x":` + strings.Replace(doubling(3), `"#/$defs/d`, `"#/$defs/x/$defs/d`, -1) + `}}`, `{}`, true},
		{"twice into the same part", `{"properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}`, strings.Repeat(`{"a":`, 60) + `{}` + strings.Repeat(`}`, 60), true},
		{"twice into each element", `{"items":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}`, strings.Repeat(`[`, 60) + strings.Repeat(`]`, 60), true},
		{"long list of choices", `{"items":{"enum":[` + words + `]}}`, `[` + strings.TrimSuffix(strings.Repeat(`"other",`, 2_000), ",") + `]`, true},
		{"large expression", `{"properties":{"a":{"pattern":"^` + strings.Repeat("(a|b){1,900}", 5) + `c"}}}`, `{"a":"` + strings.Repeat("ab", 20_000) + `"}`, true},
		{"too large an expression", `{"properties":{"a":{"pattern":"` + strings.Repeat("(a|b){1,900}", 1000) + `"}}}`, `{}`, false},
		{"too large expressions for names", `{"patternProperties":{"` + strings.Repeat("(a|b){1,900}", 1000) + `":{}}}`, `{}`, false},
		{"usual expressions", `{"properties":{"a":{"pattern":"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"}}}`, `{}`, true},
		{"deep schema", strings.Repeat(`{"items":`, 5000) + `{}` + strings.Repeat(`}`, 5000), `{}`, false},
		{"large schema", `{"title":"` + strings.Repeat("x", maxSource) + `"}`, `{}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			began := time.Now()
			s, err := Compile(json.RawMessage(tt.schema))
			if (err == nil) != tt.compiles {
				t.Fatalf("compiled with %v", err)
			}
			if s != nil && tt.value != `{}` {
				if err := s.Check(json.RawMessage(tt.value)); !errors.Is(err, ErrCost) {
					t.Errorf("checked with %v", err)
				}
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestCheckAndRepair(t *testing.T) {
	const plain = `{"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string"}},"required":["s"]}`
	tests := []struct{ name, schema, value, fixed, want string }{
		{"fits", plain, `{"s":"a","n":1}`, "", ""},
		{"several are wrong", plain, `{"n":[]}`, "", "n: "},
		{"quoted number", plain, `{"s":"a","n":"1"}`, `{"s":"a","n":1}`, "n: "},
		{"keyword that only the exact check knows", `{"allOf":[{"required":["a"]}]}`, `{}`, "", "required"},
		{"deep value", `{}`, strings.Repeat(`[`, 200) + strings.Repeat(`]`, 200), "", "nested"},
		{"no JSON", `{}`, `{`, "", "not JSON"},
		{"real recursion is fine", `{"properties":{"next":{"$ref":"#"}},"additionalProperties":false}`, strings.Repeat(`{"next":`, 50) + `{}` + strings.Repeat(`}`, 50), "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Compile(json.RawMessage(tt.schema))
			if err != nil {
				t.Fatal(err)
			}
			err = s.Check(json.RawMessage(tt.value))
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("checked with %v, want %q", err, tt.want)
			}
			if err == nil {
				return
			}
			if fixed, ok := s.Repair(json.RawMessage(tt.value)); ok != (tt.fixed != "") || string(fixed) != tt.fixed {
				t.Errorf("repaired as %s", fixed)
			}
		})
	}
	if _, err := Compile(json.RawMessage(`{"properties":{"a":{"$ref":"https://example.org/other.json"}}}`)); err == nil {
		t.Error("a schema elsewhere was looked up")
	}
}
