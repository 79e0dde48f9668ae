package archive

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/msg"
	"adze/internal/session/store"
)

var update = flag.Bool("update", false, "rewrite golden files")

// key is a secret, split so that this file does not contain it.
var key = "sk-" + "ant-api03-a8Fk2LqP9xZs4Vn7Bc1Td6Wy"

// exported creates a session with every kind of content and returns its info.
func exported(t testing.TB) *Info {
	t.Helper()
	home := t.TempDir()
	l, err := store.Open(store.Options{Home: home, Dir: "/work/app", Session: "s-1", Version: "1.0", Branch: "main", NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	entries := []msg.Entry{
		{ID: "e1", Time: start, Message: msg.Message{Role: msg.User, Parts: []msg.Part{
			&msg.Text{Text: "Use this key:\n" + key + "\nand <b>fix</b> `a.go` \x1b[31m"},
			&msg.Image{MediaType: "image/png", Data: []byte{1, 2, 3}},
			&msg.Image{MediaType: "image/svg+xml", Data: []byte("<svg onload=x>")},
		}}},
		{ID: "e2", Time: start, Hidden: true, Message: msg.UserText("a reminder for the model")},
		{ID: "e3", Time: start, Model: "model-1", Message: msg.Message{Role: msg.Assistant, Parts: []msg.Part{
			&msg.Thinking{Text: "Let me see.\nHm.", Signature: "sig"},
			&msg.Text{Text: "I will read it.\n```go\nif a < b {}\n```\nThen edit."},
			&msg.ToolUse{ID: "t1", Name: "Read", Input: json.RawMessage(`{"file_path":"/work/app/a.go"}`)},
			&msg.ToolUse{ID: "t2", Name: "Bash", Input: json.RawMessage(`{"command":"cat <<X\n` + "```" + `\nX","api_key":"a8Fk2LqP9xZs4Vn7Bc1Td6Wy"}`)},
		}}},
		{ID: "e4", Time: start, Message: msg.Message{Role: msg.User, Parts: []msg.Part{
			&msg.ToolResult{ID: "t1", Parts: []msg.Part{&msg.Text{Text: "package a // </pre><script>alert(1)</script>"}}},
			&msg.ToolResult{ID: "t2", Parts: []msg.Part{&msg.Text{Text: "no such file"}}, IsError: true},
		}}},
		{ID: "e5", Time: start, Model: "model-1", Aborted: true, Message: msg.Message{Role: msg.Assistant, Parts: []msg.Part{&msg.Text{Text: "Done"}}}},
	}
	for i, e := range entries {
		if i > 0 {
			e.Parent = entries[i-1].ID
		}
		if err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(l.Path(), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("not a record\n" + future + "\n" + `{"torn`); err != nil {
		t.Fatal(err)
	}
	return &Info{ID: "s-1", Path: l.Path(), Dir: "/work/app", Title: "A <title> & more", Branch: "main", Created: start, Modified: start}
}

const future = `{"type":"future_thing","value":{"a":[1, 2.50,"x\u00e9"],"token":"` + "a8Fk2LqP9xZs4Vn7Bc1Td6Wy" + `"}}`

func export(t testing.TB, info *Info, o ExportOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := Export(&b, info, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestExportForPeople(t *testing.T) {
	info := exported(t)
	for _, tt := range []struct {
		name   string
		format Format
	}{{"session.md", Markdown}, {"session.html", HTML}} {
		got := export(t, info, ExportOptions{Format: tt.format})
		golden := filepath.Join("testdata", tt.name)
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s: run with -update if this is meant:\n%s", tt.name, diff)
		}
		for _, never := range []string{key, "a8Fk2LqP9xZs4Vn7Bc1Td6Wy", "a reminder for the model", "\x1b", "not a record"} {
			if strings.Contains(got, never) {
				t.Errorf("%s has %q", tt.name, never)
			}
		}
		if raw := export(t, info, ExportOptions{Format: tt.format, Secrets: true}); !strings.Contains(raw, key) {
			t.Errorf("%s: the requested key is missing", tt.name)
		}
	}
	page := export(t, info, ExportOptions{Format: HTML})
	for _, never := range []string{"<script", "http://", "https://", "src=\"//", "onload=x>", "@import", "<link"} {
		if strings.Contains(page, never) {
			t.Errorf("the page has %q", never)
		}
	}
	if err := Export(&bytes.Buffer{}, info, ExportOptions{Format: "pdf"}); err == nil || !strings.Contains(err.Error(), "markdown, json or html") {
		t.Errorf("unknown format: %v", err)
	}
}

// Proves SESS-11.
func TestExportJSON(t *testing.T) {
	info := exported(t)
	type document struct {
		Session    map[string]any
		Records    []json.RawMessage
		Unreadable int
	}
	parse := func(o ExportOptions) (string, document) {
		o.Format = JSON
		text := export(t, info, o)
		var d document
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return text, d
	}
	_, raw := parse(ExportOptions{Secrets: true})
	log, err := os.ReadFile(info.Path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(log), "\n")
	want := append(lines[:5:5], lines[6]) // all lines that are records
	var got []string
	for _, r := range raw.Records {
		got = append(got, string(r))
	}
	if diff := cmp.Diff(want, got); diff != "" || raw.Unreadable != 1 || raw.Session["sessionId"] != "s-1" {
		t.Error(diff, raw.Unreadable, raw.Session)
	}
	text, clean := parse(ExportOptions{})
	if strings.Contains(text, key) || strings.Contains(text, "a8Fk2LqP9xZs4Vn7Bc1Td6Wy") {
		t.Error("a secret is left")
	}
	if got := string(clean.Records[5]); got != `{"type":"future_thing","value":{"a":[1, 2.50,"x\u00e9"],"token":"[redacted]"}}` {
		t.Errorf("the record of an unknown type: %s", got)
	}
	if !strings.Contains(text, `"data":"AQID"`) || !strings.Contains(text, `this key:\n[redacted]\nand`) {
		t.Error(text)
	}
}

// TestNothingGetsOutOfItsPlace checks that no exported text can add a tag to the page or end a
// block.
func TestNothingGetsOutOfItsPlace(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
			"<", ">", "\"", "'", "&", "</pre>", "<script>", "`", "\n", " ", "a", "-->", "\\", "\x00", "é", "#", "*",
		}), 1, 20).Draw(t, "text"), "")
		path := filepath.Join(dir, "s.jsonl")
		entry := func(text string) string {
			var b []byte
			b = append(b, `{"type":"assistant","uuid":"e","timestamp":"2026-11-03T12:00:00Z","message":{"content":[{"type":"tool_use","id":"t","name":`...)
			b = msg.AppendString(b, "x"+text)
			b = append(b, `,"input":{"k":`...)
			b = msg.AppendString(b, "x"+text)
			b = append(b, `}}]}}`+"\n"...)
			return string(b)
		}
		tags := func(text string) int {
			if err := os.WriteFile(path, []byte(entry(text)), 0o600); err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := Export(&b, &Info{ID: "s", Path: path}, ExportOptions{Format: HTML}); err != nil {
				t.Fatal(err)
			}
			return strings.Count(b.String(), "<")
		}
		if got, want := tags(text), tags(""); got != want {
			t.Fatalf("%q makes %d tags of %d", text, got, want)
		}
	})
}
