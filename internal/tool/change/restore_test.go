//go:build unix

package change_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"adze/internal/platform/fs/filestate"
	"adze/internal/tool"
	"adze/internal/tool/change"
	"adze/internal/tools/edit"
	"adze/internal/tools/notebook"
	"adze/internal/tools/read"
	"adze/internal/tools/write"
)

// A conversation is the file tools sharing a state, with a transcript of their results.
type conversation struct {
	t       *testing.T
	tools   map[string]tool.Tool
	results []result
}

type result struct {
	tool       string
	structured json.RawMessage
}

func converse(t *testing.T, w *world, state *filestate.Store) *conversation {
	files := &change.Files{Dir: w.Dir, Home: w.Home, State: state, Replacer: w.Replacer}
	return &conversation{t: t, tools: map[string]tool.Tool{
		"Read": read.New(read.Config{Dir: files.Dir, State: state}), "Edit": edit.New(edit.Config{Files: files}),
		"Write": write.New(write.Config{Files: files}), "NotebookEdit": notebook.New(notebook.Config{Files: files}),
	}}
}

func (c *conversation) call(name, input string) error {
	c.t.Helper()
	call, err := c.tools[name].Bind(json.RawMessage(input))
	if err != nil {
		c.t.Fatal(err)
	}
	res, err := call.Run(c.t.Context(), func(tool.Progress) {})
	if err != nil {
		return err
	}
	data, err := json.Marshal(res.Structured)
	if err != nil {
		c.t.Fatal(err)
	}
	c.results = append(c.results, result{name, data})
	return nil
}

// restore restores the tools' state from an earlier conversation's results.
func (c *conversation) restore(results []result) {
	for _, r := range append(results, result{"Edit", json.RawMessage(`"x"`)}, result{"Read", json.RawMessage(`{"type":1}`)}) {
		c.tools[r.tool].Traits().Restore(r.structured)
	}
}

// TestRestore checks that a resumed conversation may edit files it knew, unless they were
// changed or never seen.
//
// Proves FST-04.
func TestRestore(t *testing.T) {
	const book = `{"cells":[{"cell_type":"code","source":["1"]}]}`
	w := newWorld(t, kinds()[0])
	lines := strings.Repeat("a line\n", 50)
	for name, content := range map[string]string{
		"same": "a\r\nb\n", "changed": "a\nb\n", "gone": "a\n", "edited": "a\nb\n", "part": "first\n" + lines + "last\n",
		"all": "first\n" + lines + "last\n", "shifted": "first\n" + lines + "last\n", "book.ipynb": book, "unread": "a\n",
	} {
		w.write(name, content)
	}
	before := converse(t, w, filestate.New())
	for _, use := range [][2]string{
		{"Read", `{"file_path":"same"}`}, {"Read", `{"file_path":"changed"}`}, {"Read", `{"file_path":"gone"}`},
		{"Read", `{"file_path":"edited"}`}, {"Edit", `{"file_path":"edited","old_string":"b","new_string":"c"}`},
		{"Write", `{"file_path":"written","content":"a\nb\n"}`},
		{"Read", `{"file_path":"part","limit":3}`},
		{"Read", `{"file_path":"all","limit":30}`}, {"Read", `{"file_path":"all","offset":31,"limit":30}`},
		{"Read", `{"file_path":"shifted","limit":3}`}, {"Edit", `{"file_path":"shifted","old_string":"first","new_string":"1"}`},
		{"Read", `{"file_path":"book.ipynb"}`},
	} {
		if err := before.call(use[0], use[1]); err != nil {
			t.Fatal(use, err)
		}
	}
	w.write("changed", "a\nB\n")
	if err := os.Remove(w.path("gone")); err != nil {
		t.Fatal(err)
	}
	after := converse(t, w, filestate.New())
	after.restore(before.results)
	for _, tt := range []struct {
		tool, file, fields string
		code               int
	}{
		{"Edit", "same", `"old_string":"b","new_string":"x"`, 0},
		{"Edit", "changed", `"old_string":"a","new_string":"x"`, change.CodeChanged},
		{"Write", "changed", `"content":"x"`, change.CodeChanged},
		{"Edit", "gone", `"old_string":"a","new_string":"x"`, change.CodeMissing},
		{"Edit", "edited", `"old_string":"c","new_string":"x"`, 0},
		{"Edit", "written", `"old_string":"b","new_string":"x"`, 0},
		{"Edit", "part", `"old_string":"line","new_string":"x","replace_all":true`, change.CodeNotRead},
		{"Write", "part", `"content":"x"`, change.CodeNotRead},
		{"Edit", "part", `"old_string":"first","new_string":"x"`, 0},
		{"Write", "all", `"content":"x"`, 0},
		{"Write", "shifted", `"content":"x"`, change.CodeNotRead},
		{"Write", "unread", `"content":"x"`, change.CodeNotRead},
	} {
		err := after.call(tt.tool, fmt.Sprintf(`{"file_path":%q,%s}`, tt.file, tt.fields))
		var coded *tool.Error
		if tt.code == 0 && err != nil || tt.code != 0 && (!errors.As(err, &coded) || coded.Code != tt.code) {
			t.Errorf("%s of %s: %v, want code %d", tt.tool, tt.file, err, tt.code)
		}
	}
	if err := after.call("NotebookEdit", `{"notebook_path":"book.ipynb","cell_id":"cell-0","new_source":"2"}`); err != nil {
		t.Error(err)
	}
	if got := w.content("same"); got != "a\r\nx\n" {
		t.Errorf("content %q", got)
	}
}
