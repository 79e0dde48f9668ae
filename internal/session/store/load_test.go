package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"adze/internal/msg"
)

// readAll reads every message of a log in memory.
func readAll(r interface {
	io.ReaderAt
	Len() int
}) (*Contents, error) {
	return readLog(r, int64(r.Len()), LoadOptions{all: true, Structured: true})
}

// Proves SESS-11.
func TestLoadDamaged(t *testing.T) {
	const good = `{"type":"user","uuid":"e1","timestamp":"2026-11-03T12:00:00.250Z","message":{"role":"user","content":"hi"}}` + "\n"
	tests := []struct {
		name string
		text string
		want Contents
	}{
		{"empty", "", Contents{}},
		{"good", good, Contents{Entries: []msg.Entry{text("e1", "hi")}}},
		{"not JSON", "garbage\n" + good + "{\n", Contents{Entries: []msg.Entry{text("e1", "hi")}, Bad: 2}},
		{"zeros", "\x00\x00\x00\x00\n" + good, Contents{Entries: []msg.Entry{text("e1", "hi")}, Bad: 1}},
		{"blank line", "\n" + good, Contents{Entries: []msg.Entry{text("e1", "hi")}, Bad: 1}},
		{"torn", good + good[:50], Contents{Entries: []msg.Entry{text("e1", "hi")}, Torn: true}},
		{"without its line break", good + strings.TrimSpace(good), Contents{Entries: []msg.Entry{text("e1", "hi")}, Torn: true}},
		{"other records", `{"type":"future_thing"}` + "\n" + `{"type":"custom-title","customTitle":"t"}` + "\n" + strings.Replace(good, `"uuid"`, `"isSidechain":true,"uuid"`, 1), Contents{Other: 3}},
		{"no message", `{"type":"user","uuid":"e"}` + "\n", Contents{Bad: 1}},
		{"content of another kind", `{"type":"user","uuid":"e","message":{"role":"user","content":7}}` + "\n", Contents{Bad: 1}},
		{"line separators in text", strings.Replace(good, "hi", "a\u2028b", 1), Contents{Entries: []msg.Entry{text("e1", "a\u2028b")}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.jsonl")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tt.want, load(t, path), entriesOnly()); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none.jsonl"), LoadOptions{}); err == nil || !strings.Contains(err.Error(), "none.jsonl") {
		t.Errorf("error %v", err)
	}
}

// Proves SESS-11.
func TestLoadMakesUpWhatIsMissing(t *testing.T) {
	c, err := readAll(strings.NewReader(`{"type":"user","message":{"content":"no id, no time"}}
{"type":"user","uuid":"e2","timestamp":"yesterday","message":{"content":"no time"}}
{"type":"user","uuid":"e3","timestamp":"2026-11-03T13:00:00+01:00","message":{"content":"all there"}}
`))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Entries) != 3 || c.Bad != 0 {
		t.Fatalf("%+v", c)
	}
	first, second, third := c.Entries[0], c.Entries[1], c.Entries[2]
	if diff := cmp.Diff([]string{first.ID, "e2"}, c.Made); diff != "" || len(first.ID) != 36 {
		t.Error(diff, first.ID)
	}
	if first.Time.IsZero() || second.Time.IsZero() || !third.Time.Equal(time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)) {
		t.Error(first.Time, second.Time, third.Time)
	}
}

// TestAnyEntryIsOneLine writes entries with arbitrary text in every text field.
func TestAnyEntryIsOneLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		str := rapid.String()
		value := rapid.SampledFrom([]string{`{"a":1}`, "{\n \"b\": [ 2 ]\r\n}", `"s"`, `null`})
		e := msg.Entry{
			ID: "e", Time: start, Parent: str.Draw(t, "parent"), Hidden: rapid.Bool().Draw(t, "hidden"),
			Message: msg.Message{Role: msg.User, Parts: []msg.Part{
				&msg.Text{Text: str.Draw(t, "text")},
				&msg.ToolResult{ID: "a" + str.Draw(t, "id"), Parts: []msg.Part{&msg.Text{Text: str.Draw(t, "result")}}},
			}},
		}
		id := e.Message.Parts[1].(*msg.ToolResult).ID
		raw := value.Draw(t, "structured")
		e.Structured = map[string]json.RawMessage{id: json.RawMessage(raw)}
		opt := Options{Session: "s", Dir: str.Draw(t, "dir"), Version: str.Draw(t, "version"), Branch: str.Draw(t, "branch")}
		line := appendRecord(nil, e, &opt)
		if i := bytes.IndexAny(line, "\n\r"); i != len(line)-1 {
			t.Fatalf("line break at %d of %d: %q", i, len(line), line)
		}
		c, err := readAll(bytes.NewReader(line))
		if err != nil || len(c.Entries) != 1 {
			t.Fatalf("%v, %+v, %s", err, c, line)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, []byte(raw)); err != nil {
			t.Fatal(err)
		}
		e.Structured[id] = compact.Bytes()
		if diff := cmp.Diff(e, c.Entries[0], cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestStructuredThatIsNotJSON(t *testing.T) {
	e := conversation()[5]
	e.Structured = map[string]json.RawMessage{"t3": json.RawMessage("{oops")}
	c, err := readAll(bytes.NewReader(appendRecord(nil, e, &Options{})))
	if err != nil || len(c.Entries) != 1 {
		t.Errorf("%v, %+v", err, c)
	}
}

// FuzzLoad checks that every line is accounted for, and that loaded entries can be written and
// loaded again.
func FuzzLoad(f *testing.F) {
	var log []byte
	for _, e := range conversation() {
		log = appendRecord(log, e, &Options{Session: "s", Dir: "/d"})
	}
	f.Add(log)
	f.Add([]byte("{}\n\x00\n{\"type\":\"user\"}\n[]\nnull\n\"user\"\n1"))
	f.Add([]byte(`{"type":"assistant","uuid":"e","timestamp":"2026-11-03T12:00:00Z","message":{"content":[{"type":"text","text":"x"}],"usage":{"input_tokens":-1}}}` + "\n"))
	f.Add([]byte(said("a", "", "1") + said("b", "a", "2") + compacted(Boundary{ID: "c", Summary: "s", Kept: []string{"b"}}) + said("s", "c", "3") + said("d", "b", "4")))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := readAll(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := len(c.Entries)+c.Other+c.Bad, bytes.Count(data, []byte("\n")); got != want {
			t.Fatalf("%d of %d lines accounted for", got, want)
		}
		if chain, err := readLog(bytes.NewReader(data), int64(len(data)), LoadOptions{}); err != nil || len(chain.Entries) > len(c.Entries) {
			t.Fatalf("%v, %d of %d entries", err, len(chain.Entries), len(c.Entries))
		}
		var again []byte
		for _, e := range c.Entries {
			again = appendRecord(again, e, &Options{Session: "s"})
		}
		d, err := readAll(bytes.NewReader(again))
		if err != nil || d.Bad != 0 || d.Torn || len(d.Entries) != len(c.Entries) {
			t.Fatalf("%v, %s", err, fmt.Sprintf("%+v", d))
		}
	})
}
