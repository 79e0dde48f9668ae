package skill

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestSafe checks that each front matter field requires a prompt unless it is known to be safe,
// including fields added later.
//
// Proves SKILL-23.
func TestSafe(t *testing.T) {
	safe := map[string]bool{
		"Title": true, "Description": true, "When": true, "Hint": true, "Arguments": true, "Version": true, "Hidden": true,
		"Manual": true, "Paths": true, "Model": true, "Effort": true, "Fork": true, "As": true,
	}
	if !Safe(Head{}) || !Safe(Head{Allowed: []string{}, Hooks: json.RawMessage(`{}`)}) || !Safe(Head{Hooks: json.RawMessage(" null ")}) {
		t.Error("a skill that says nothing needs a question")
	}
	fields := reflect.TypeFor[Head]()
	for i := range fields.NumField() {
		var h Head
		v := reflect.ValueOf(&h).Elem().Field(i)
		switch name := fields.Field(i).Name; v.Kind() {
		case reflect.String:
			v.SetString("x")
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Slice:
			if v.Type() == reflect.TypeFor[json.RawMessage]() {
				v.SetBytes([]byte(`{"Stop":[]}`))
				break
			}
			v.Set(reflect.Append(v, reflect.New(v.Type().Elem()).Elem()))
		default:
			t.Fatalf("%s: set a value here", name)
		}
		if got, name := Safe(h), fields.Field(i).Name; got != safe[name] {
			t.Errorf("%s: safe %v", name, got)
		}
	}
}

func TestHooks(t *testing.T) {
	got := Hooks(json.RawMessage(`{"Stop":[{"hooks":[{"type":"command","command":"b"}]}],"PreToolUse":[{"matcher":"Bash","hooks":[{"a":1},{"a":2}]}]}`))
	if len(got) != 3 || got[0].Event != "PreToolUse" || got[0].Matcher != "Bash" || string(got[1].Handler) != `{"a":2}` || got[2].Event != "Stop" {
		t.Errorf("%+v", got)
	}
	if got := Hooks(json.RawMessage(`[1]`)); got != nil {
		t.Errorf("%+v", got)
	}
}
