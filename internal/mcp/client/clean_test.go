package client

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"adze/internal/mcp/mcptest"
)

func TestClean(t *testing.T) {
	tests := []struct{ in, line, text string }{
		{"plain", "plain", "plain"},
		{"  two\n lines ", "two lines", "two\n lines"},
		{"a\x00b\x07c\x7f", "abc", "abc"},
		{"\x1b[31mred\x1b[0m \x1b]0;title\x07done", "red done", "red done"},
		{"zero\u200b\u200c\u200d\u2060\ufeffwidth", "zerowidth", "zerowidth"},
		{"\u202eright\u2066left\u2069", "rightleft", "rightleft"},
		{"tags" + mcptest.Tag("hidden") + "\U000e0100", "tags", "tags"},
		{"private\ue000\U000f0000\U00100000", "private", "private"},
		{"soft\u00adhyphen\u034f\u3164", "softhyphen", "softhyphen"},
		{"a\u2028b", "a b", "a\nb"},
		{"Grüße 你好 Привет", "Grüße 你好 Привет", "Grüße 你好 Привет"},
		{"bad\xffbyte", "bad\ufffdbyte", "bad\ufffdbyte"},
		{strings.Repeat("ä", 301), strings.Repeat("ä", 293) + cutMark, strings.Repeat("ä", 293) + cutMark},
		{strings.Repeat("ä", 299), strings.Repeat("ä", 299), strings.Repeat("ä", 299)},
	}
	for _, tt := range tests {
		if got := line(tt.in, 300); got != tt.line {
			t.Errorf("line(%q) = %q, want %q", tt.in, got, tt.line)
		}
		if got := text(tt.in, 300); got != tt.text {
			t.Errorf("text(%q) = %q, want %q", tt.in, got, tt.text)
		}
	}
}

func TestCleanSchema(t *testing.T) {
	long := strings.Repeat("x", 3000)
	tests := []struct{ in, want string }{
		{`{ "b": 1, "a": [ "x" ] }`, `{"b":1,"a":["x"]}`},
		{`{"description":"a\u200bb\u202e","enum":["` + long + `"]}`, `{"description":"ab","enum":["` + long + `"]}`},
		{`{"properties":{"x":{"description":"` + long + `"}}}`, `{"properties":{"x":{"description":"` + long[:textLimit-7] + cutMark + `"}}}`},
		{`{"a":"<&>\"\\"}`, `{"a":"<&>\"\\"}`},
		{`{"k\u200b":1}`, `{"k":1}`},
		{`{"a":"\ud83d\ude00"}`, `{"a":"\ud83d\ude00"}`},
		{`[1]`, ""}, {`"x"`, ""}, {`{`, ""}, {``, ""}, {`null`, ""}, {`true`, ""},
	}
	for _, tt := range tests {
		if got, ok := cleanSchema(json.RawMessage(tt.in)); string(got) != tt.want || ok != (tt.want != "") {
			t.Errorf("cleanSchema(%s) = %s, %v; want %s", tt.in, got, ok, tt.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x1b[31m\u202e" + mcptest.Tag("x"))
	f.Add(`{"description":"\u200b\ud83d","a":{"b":["\\\""]}}`)
	f.Fuzz(func(t *testing.T, s string) {
		for _, got := range []string{line(s, 100), text(s, 100)} {
			if utf8.RuneCountInString(got) > 100 || !utf8.ValidString(got) || strings.ContainsFunc(got, hidden) {
				t.Errorf("%q became %q", s, got)
			}
		}
		if strings.ContainsAny(line(s, 100), "\n\t") {
			t.Errorf("%q has lines", s)
		}
		if schema, ok := cleanSchema(json.RawMessage(s)); ok {
			if !json.Valid(schema) {
				t.Errorf("%q became %q", s, schema)
			}
			if again, _ := cleanSchema(schema); string(again) != string(schema) {
				t.Errorf("%q is not stable: %q", schema, again)
			}
		}
		decodeTool(json.RawMessage(s))
		decodeResult(json.RawMessage(s))
		decodeContained(json.RawMessage(s))
	})
}
