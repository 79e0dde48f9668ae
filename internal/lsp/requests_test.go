package lsp

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Proves X-024.
func TestReplacements(t *testing.T) {
	const text = "a😀b\r\ncd\r\n"
	edit := func(l1, c1, l2, c2 int, text string) TextEdit {
		return TextEdit{Range{Position{l1, c1}, Position{l2, c2}}, text}
	}
	for _, tt := range []struct {
		edits []TextEdit
		want  string // empty if the edits are invalid
	}{
		{[]TextEdit{edit(1, 0, 1, 1, "C"), edit(0, 1, 0, 3, "é")}, "aéb\r\nCd\r\n"},
		{[]TextEdit{edit(0, 4, 1, 0, "\n")}, "a😀b\ncd\r\n"},
		{[]TextEdit{edit(0, 0, 0, 0, "1"), edit(0, 0, 0, 0, "2")}, "12a😀b\r\ncd\r\n"},
		{[]TextEdit{edit(99, 0, 99, 9, "end")}, "a😀b\r\ncd\r\nend"},
		{[]TextEdit{edit(0, 0, 0, 3, ""), edit(0, 1, 0, 2, "")}, ""},
		{[]TextEdit{edit(1, 1, 0, 0, "x")}, ""},
	} {
		list, err := Replacements(text, tt.edits)
		if (err != nil) != (tt.want == "") {
			t.Errorf("%v: %v", tt.edits, err)
		}
		if err == nil {
			if diff := cmp.Diff(tt.want, Apply(text, list)); diff != "" {
				t.Errorf("%v: %s", tt.edits, diff)
			}
		}
	}
}

// TestWorkspaceEdit checks that edits are found in either form, and that anything but edits of files is
// refused.
func TestWorkspaceEdit(t *testing.T) {
	for in, want := range map[string]string{
		`null`: ``,
		`{"changes":{"file:///a":[{"newText":"x"}],"file:///b":[]}}`:                                                                     `/a`,
		`{"documentChanges":[{"textDocument":{"uri":"file:///c"},"edits":[{"newText":"x"}]}],"changes":{"file:///a":[{"newText":"x"}]}}`: `/c`,
		`{"documentChanges":[{"kind":"delete","uri":"file:///c"}]}`:                                                                      `the server wants to delete a file, which is not supported`,
		`{"changes":{"https://x/y":[{"newText":"x"}]}}`:                                                                                  `the server wants to edit https://x/y, which is not a file`,
		`{"documentChanges":[{"kind":"create","uri":"untitled:\u001b[2J"}]}`:                                                             `the server wants to create a file, which is not supported`,
	} {
		var e *WorkspaceEdit
		if err := json.Unmarshal([]byte(in), &e); err != nil {
			t.Fatal(err)
		}
		files, err := e.Files()
		got := ""
		for path := range files {
			got = path
		}
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// FuzzReplacements checks that no edits of a server make the client panic, and that the text outside
// them stays.
func FuzzReplacements(f *testing.F) {
	f.Add("a😀b\r\ncd", 0, 1, 0, 3, 1, 0)
	f.Add("x", -1, -5, 9, 9, 0, 0)
	f.Fuzz(func(t *testing.T, text string, a, b, c, d, e, g int) {
		list, err := Replacements(text, []TextEdit{{Range{Position{a, b}, Position{c, d}}, "N"}, {Range{Position{e, g}, Position{e, g}}, "M"}})
		if err != nil {
			return
		}
		got, removed := Apply(text, list), 0
		for _, r := range list {
			removed += r.End - r.Start
		}
		if len(got) != len(text)-removed+2 {
			t.Errorf("%q became %q by %v", text, got, list)
		}
	})
}
