package jsonc

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"plain", `{"a": [1, true, null, "x"], "b": {}}`, `{"a":[1,true,null,"x"],"b":{}}`},
		{"comments", "// before\n{ /* here */ \"a\" /* too */ : /**/ 1 // and here\n}\n// after", `{"a":1}`},
		{"trailing commas", `{"a": [1, 2,], "b": {"c": 1,},}`, `{"a":[1,2],"b":{"c":1}}`},
		{"a comment inside a string", `{"a": "http://x /* y */ \" //"}`, `{"a":"http://x /* y */ \" //"}`},
		{"byte order mark", "\ufeff{}", `{}`},
		{"a name twice", `{"a":1,"a":2}`, `{"a":1,"a":2}`},
		{"escapes stay", `{"\u0061":"\u00e9\n"}`, `{"\u0061":"\u00e9\n"}`},
		{"windows", "{\r\n  // x\r\n  \"a\": 1\r\n}\r\n", `{"a":1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n, err := Parse([]byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(Plain([]byte(tt.text), n))); diff != "" {
				t.Error(diff)
			}
		})
	}
	for _, empty := range []string{"", " \n", "\ufeff", "// nothing\n", "/* nothing */"} {
		if n, err := Parse([]byte(empty)); n != nil || err != nil {
			t.Errorf("%q: %v, %v", empty, n, err)
		}
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct {
		text   string
		offset int
		want   string
	}{
		{`{"a":1,,}`, 7, "',' stands where a name in quotes is expected"},
		{`{"a" 1}`, 5, "'1' stands where a colon is expected"},
		{`{"a":}`, 5, "'}' stands where a value is expected"},
		{`{"a":1 "b":2}`, 7, "'\"' stands where a comma or '}' is expected"},
		{`{a:1}`, 1, "'a' stands where a name in quotes is expected"},
		{`{"a":1`, 6, "it ends where a comma or '}' is expected"},
		{`[1`, 2, "it ends where a comma or ']' is expected"},
		{`[01]`, 1, "'0' stands where a value is expected"},
		{`[,]`, 1, "',' stands where a value is expected"},
		{`{} x`, 3, "there is something after the end"},
		{`{"a": "x`, 6, "a text is not closed"},
		{"{\"a\": \"x\ny\"}", 6, "a text is not closed on its line"},
		{`{"a": "\x"}`, 6, "a text has a wrong escape or a control character"},
		{`{} /* x`, 3, "a comment is not closed, or begins with a single '/'"},
		{`{} / x`, 3, "a comment is not closed, or begins with a single '/'"},
		{`é`, 0, "'é' stands where a value is expected"},
		{strings.Repeat("[", 300), 201, "values lie more than 200 deep in each other"},
	}
	for _, tt := range tests {
		_, err := Parse([]byte(tt.text))
		var syntax *SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if diff := cmp.Diff(&SyntaxError{tt.offset, tt.want}, syntax); diff != "" {
			t.Errorf("%s: %s", tt.text, diff)
		}
	}
}

// FuzzParse checks that Parse accepts all valid JSON and agrees with encoding/json on its
// value, and that Plain always returns valid JSON.
func FuzzParse(f *testing.F) {
	for _, text := range []string{`{"a":[1,-2.5e3,"x\n",null,true]}`, "{// x\n\"a\":1,/*y*/}", "\ufeff[]", `"\ud800"`, `{"\u0061\"":"é\\"}`, "[\"\xff\",\"a\x7f\"]", "{\"a\"\r:\t1}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := Parse(data)
		if json.Valid(data) && deepest(data) < maxDepth {
			var want bytes.Buffer
			if err != nil {
				t.Fatalf("%q: %v", data, err)
			}
			if json.Compact(&want, data) == nil && !bytes.Equal(want.Bytes(), Plain(data, n)) {
				t.Fatalf("%q is read as %s", data, Plain(data, n))
			}
		}
		if err == nil && n != nil && !json.Valid(Plain(data, n)) {
			t.Fatalf("%q has the plain form %s", data, Plain(data, n))
		}
		if err == nil && n != nil {
			textsAgree(t, data, n)
		}
		var syntax *SyntaxError
		if err != nil && (!errors.As(err, &syntax) || syntax.Offset < 0 || syntax.Offset > len(data)) {
			t.Fatalf("%q: %v", data, err)
		}
	})
}

// textsAgree compares every string and name with the result of encoding/json.
func textsAgree(t *testing.T, data []byte, n *Node) {
	t.Helper()
	var want any
	dec := json.NewDecoder(bytes.NewReader(Plain(data, n)))
	dec.UseNumber() // accept numbers of any size
	if err := dec.Decode(&want); err != nil {
		t.Fatalf("%q: %v", data, err)
	}
	switch n.Kind {
	case String:
		if got := Text(data, n); got != want {
			t.Fatalf("%q: %q, want %q", data, got, want)
		}
	case Object:
		names := map[string]bool{}
		for _, m := range n.Members {
			names[m.Name] = true
			textsAgree(t, data, m.Value)
		}
		for name := range want.(map[string]any) {
			if !names[name] {
				t.Fatalf("%q: no name %q", data, name)
			}
		}
	case Array:
		for _, v := range n.Items {
			textsAgree(t, data, v)
		}
	}
}

func deepest(data []byte) int { return bytes.Count(data, []byte("[")) + bytes.Count(data, []byte("{")) }
