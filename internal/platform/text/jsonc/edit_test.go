package jsonc

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var allow = []string{"permissions", "allow"}

func TestAdd(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing", "", "{\n  \"permissions\": {\n    \"allow\": [\n      \"N\"\n    ]\n  }\n}\n"},
		{"only a comment", "// mine\n\n", "// mine\n{\n  \"permissions\": {\n    \"allow\": [\n      \"N\"\n    ]\n  }\n}\n"},
		{"other keys and their order", "{\n\t\"zzz\": {\"kept\": 1}, // why\n\t\"a\": 2\n}\n",
			"{\n\t\"zzz\": {\"kept\": 1}, // why\n\t\"a\": 2,\n\t\"permissions\": {\n\t\t\"allow\": [\n\t\t\t\"N\"\n\t\t]\n\t}\n}\n"},
		{"on one line", `{"permissions":{"allow":["a", "b"]}}`, `{"permissions":{"allow":["a", "b", "N"]}}`},
		{"on one line with a trailing comma", `{"permissions":{"allow":["a",]}}`, `{"permissions":{"allow":["a", "N",]}}`},
		{"a line each", "{\n  \"permissions\": {\n    \"allow\": [\n      \"a\", // first\n      \"b\" // last\n      // end\n    ]\n  }\n}",
			"{\n  \"permissions\": {\n    \"allow\": [\n      \"a\", // first\n      \"b\", // last\n      \"N\"\n      // end\n    ]\n  }\n}"},
		{"a line each with trailing commas", "{\"permissions\": {\"allow\": [\n  \"a\", // x\n]}}", "{\"permissions\": {\"allow\": [\n  \"a\", // x\n  \"N\",\n]}}"},
		{"an empty list", "{\n  \"permissions\": {\"allow\": []}\n}", "{\n  \"permissions\": {\"allow\": [\n    \"N\"\n  ]}\n}"},
		{"an empty list with a comment", "{\n  \"permissions\": {\n    \"allow\": [ // rules\n    ]\n  }\n}", "{\n  \"permissions\": {\n    \"allow\": [ // rules\n      \"N\"\n    ]\n  }\n}"},
		{"already there", `{"permissions":{"allow":["N" /* x */]}}`, `{"permissions":{"allow":["N" /* x */]}}`},
		{"levels joined by a dot", `{"permissions.allow":["a"]}`, `{"permissions.allow":["a", "N"]}`},
		{"twice", `{"permissions":{"allow":["a"]},"permissions":{"allow":["b"]}}`, `{"permissions":{"allow":["a"]},"permissions":{"allow":["b", "N"]}}`},
		{"windows", "{\r\n  \"permissions\": {\r\n    \"allow\": [\r\n      \"a\" // x\r\n    ]\r\n  }\r\n}\r\n",
			"{\r\n  \"permissions\": {\r\n    \"allow\": [\r\n      \"a\", // x\r\n      \"N\"\r\n    ]\r\n  }\r\n}\r\n"},
		{"comma on the next line", "{\"permissions\":{\"allow\":[\n  \"a\" // x\n  , \"b\"\n]}}", "{\"permissions\":{\"allow\":[\n  \"a\" // x\n  , \"b\", \"N\"\n]}}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Add([]byte(tt.text), allow, "N", "N")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRemove(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"no list", `{"a":1}`, `{"a":1}`},
		{"the only one", `{"permissions":{"allow":["N"]}}`, `{"permissions":{"allow":[]}}`},
		{"first on one line", `{"permissions":{"allow":["N", "a"]}}`, `{"permissions":{"allow":["a"]}}`},
		{"last on one line", `{"permissions":{"allow":["a", "N"]}}`, `{"permissions":{"allow":["a"]}}`},
		{"every one", `{"permissions":{"allow":["N", "a", "N"], "x": 1}, "permissions.allow": ["N"]}`, `{"permissions":{"allow":["a"], "x": 1}, "permissions.allow": []}`},
		{"last on its line", "{\"permissions\":{\"allow\":[\n  \"a\", // keep\n  // keep too\n  \"N\" // drop\n]}}", "{\"permissions\":{\"allow\":[\n  \"a\" // keep\n  // keep too\n]}}"},
		{"with trailing commas", "{\"permissions\":{\"allow\":[\n  \"a\",\n  \"N\",\n]}}", "{\"permissions\":{\"allow\":[\n  \"a\",\n]}}"},
		{"behind a comment", "{\"permissions\":{\"allow\":[\"a\", // keep\n /* x */ \"N\"]}}", "{\"permissions\":{\"allow\":[\"a\" // keep\n /* x */ ]}}"},
		{"non-strings stay", `{"permissions":{"allow":[5, "N", {"N":"N"}]}}`, `{"permissions":{"allow":[5, {"N":"N"}]}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Remove([]byte(tt.text), allow, func(s string) bool { return s == "N" })
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSetAndDelete(t *testing.T) {
	const text = "{\n  // the model\n  \"model\": \"opus\", // why\n  \"read.maxBytes\": 5,\n  \"env\": {\"A\": \"b\"}\n}\n"
	tests := []struct {
		name string
		edit func([]byte) ([]byte, error)
		want string
	}{
		{"a value", func(d []byte) ([]byte, error) { return Set(d, []string{"model"}, "<s>") }, strings.Replace(text, "opus", "<s>", 1)},
		{"joined levels", func(d []byte) ([]byte, error) { return Set(d, []string{"read", "maxBytes"}, 7) }, strings.Replace(text, "5", "7", 1)},
		{"a new one", func(d []byte) ([]byte, error) { return Set(d, []string{"read", "dedup"}, false) },
			strings.Replace(text, "\"b\"}\n", "\"b\"},\n  \"read\": {\n    \"dedup\": false\n  }\n", 1)},
		{"an object", func(d []byte) ([]byte, error) {
			return Set(d, []string{"env"}, json.RawMessage(`{"C":"d"}`))
		}, strings.Replace(text, `{"A": "b"}`, "{\n    \"C\": \"d\"\n  }", 1)},
		{"removed", func(d []byte) ([]byte, error) { return Delete(d, []string{"model"}) }, strings.Replace(text, "  \"model\": \"opus\", // why\n", "", 1)},
		{"removed last", func(d []byte) ([]byte, error) { return Delete(d, []string{"env"}) }, strings.Replace(text, ",\n  \"env\": {\"A\": \"b\"}", "", 1)},
		{"removed a missing item", func(d []byte) ([]byte, error) { return Delete(d, []string{"nope"}) }, text},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.edit([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEditErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{"permissions": 5}`:             "permissions is not an object",
		`{"permissions": {"allow": {}}}`: "permissions.allow is not a list",
		`[]`:                             "it is not an object",
		`{"a":`:                          "it ends where a value is expected",
	} {
		if _, err := Add([]byte(text), allow, "N"); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	var syntax *SyntaxError
	if _, err := Set([]byte(`{"a":`), []string{"a"}, 1); !errors.As(err, &syntax) {
		t.Errorf("%v", err)
	}
	if _, err := Remove([]byte(`{"a":`), allow, func(string) bool { return true }); !errors.As(err, &syntax) {
		t.Errorf("%v", err)
	}
}

// document draws handwritten settings.
func document(t *rapid.T) string {
	gap := func() string {
		return rapid.SampledFrom([]string{"", " ", "\n", "\n  ", "\r\n\t", " // note, \"x\"]\n", "/* , } */", "\n  // line\n  "}).Draw(t, "gap")
	}
	list := func(name string) string {
		items := rapid.SliceOfN(rapid.SampledFrom([]string{`"a"`, `"b"`, `"Bash(ls:*)"`, "5", `{"N": "N"}`}), 0, 4).Draw(t, name)
		var b strings.Builder
		for i, item := range items {
			b.WriteString(gap() + item + gap())
			if i+1 < len(items) || rapid.Bool().Draw(t, "trailing") {
				b.WriteString(",")
			}
		}
		return fmt.Sprintf("%q%s:%s[%s%s]", name, gap(), gap(), b.String(), gap())
	}
	return gap() + "{" + gap() + `"zzz": {"kept": [1]},` + gap() + `"permissions":` + gap() + "{" + gap() + list("deny") + gap() + "," + gap() + list("allow") + gap() + "}" + gap() + "}" + gap()
}

// meaning decodes a text for comparison.
func meaning(t *rapid.T, text []byte) any {
	n, err := Parse(text)
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	var v any
	if err := json.Unmarshal(Plain(text, n), &v); err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return v
}

func rulesOf(v any) []any {
	list, _ := v.(map[string]any)["permissions"].(map[string]any)["allow"].([]any)
	return list
}

func comments(text []byte) int {
	return strings.Count(string(text), "//") + strings.Count(string(text), "/*")
}

// TestAddThenRemove checks that adding a string to a list and removing it preserves unknown
// keys, other strings and comments.
func TestAddThenRemove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := []byte(document(t))
		want := meaning(t, before)
		added, err := Add(before, allow, "N")
		if err != nil {
			t.Fatalf("%s\n%v", before, err)
		}
		if diff := cmp.Diff(append(slices.Clone(rulesOf(want)), "N"), rulesOf(meaning(t, added))); diff != "" {
			t.Fatalf("%s\n%s\n%s", before, added, diff)
		}
		after, err := Remove(added, allow, func(s string) bool { return s == "N" })
		if err != nil {
			t.Fatalf("%s\n%v", added, err)
		}
		if diff := cmp.Diff(want, meaning(t, after)); diff != "" {
			t.Fatalf("%s\n%s\n%s", added, after, diff)
		}
		if comments(added) != comments(before) || comments(after) != comments(before) {
			t.Fatalf("comments are lost:\n%s\n%s\n%s", before, added, after)
		}
	})
}

func FuzzEdit(f *testing.F) {
	f.Add([]byte(`{"permissions":{"allow":["a", "N"]}}`), "N")
	f.Add([]byte("{ // x\n\"permissions\" /*y*/ : {\"allow\":[\"a\"\n,]},}"), "Bash(git commit:*)")
	f.Add([]byte("\ufeff// x"), "\"\n")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		if text != strings.ToValidUTF8(text, "") {
			return
		}
		root, bad := Parse(data)
		added, err := Add(data, allow, text)
		if bad != nil || root != nil && root.Kind != Object {
			if err == nil {
				t.Fatalf("%q was changed to %q", data, added)
			}
			return
		}
		if err != nil {
			return // another kind of value is in the way
		}
		n, err := Parse(added)
		if err != nil {
			t.Fatalf("%q became %q: %v", data, added, err)
		}
		holds := func(n *Node, data []byte) bool {
			list, _ := n.pick(data, allow, func(s string) bool { return s == text })
			return list != nil
		}
		if !holds(n, added) {
			t.Fatalf("%q became %q, which lacks %q", data, added, text)
		}
		removed, err := Remove(added, allow, func(s string) bool { return s == text })
		if err != nil {
			t.Fatalf("%q: %v", added, err)
		}
		if n, err := Parse(removed); err != nil || holds(n, removed) {
			t.Fatalf("%q became %q: %v", added, removed, err)
		}
	})
}
