package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/msg"
)

// transcript returns a log of about size bytes with realistic turns: a prompt, an answer with a
// call, and its result.
func transcript(size int) []byte {
	const code = "\tif err := f.Sync(); err != nil {\n\t\treturn fmt.Errorf(\"syncing %s: %w\", path, err)\n\t}\n"
	var log []byte
	opt := &Options{Session: "3f2a9c1e-5b7d-4e80-9a61-0c4d8e2f7b13", Dir: "/work/app", Version: "1.0", Branch: "main"}
	parent := ""
	add := func(e msg.Entry) {
		e.ID, e.Parent, e.Time = msg.NewID(), parent, start
		parent = e.ID
		log = appendRecord(log, e, opt)
	}
	for n := 0; len(log) < size; n++ {
		id := fmt.Sprintf("toolu_%d", n)
		add(msg.Entry{Message: msg.UserText(fmt.Sprintf("Please look at file %d and say what is wrong with it.", n))})
		add(msg.Entry{Model: "m", ResponseID: "msg_1", Stop: "tool_use", Usage: &msg.Usage{Input: 1, Output: 2}, Message: msg.Message{Role: msg.Assistant, Parts: []msg.Part{
			&msg.Text{Text: strings.Repeat("I will read the file. ", 10)},
			&msg.ToolUse{ID: id, Name: "Read", Input: json.RawMessage(`{"file_path":"/work/app/main.go","offset":1}`)},
		}}})
		add(msg.Entry{Message: msg.Message{Role: msg.User, Parts: []msg.Part{
			&msg.ToolResult{ID: id, Parts: []msg.Part{&msg.Text{Text: strings.Repeat(code, 20+n%50)}}},
		}}, Structured: map[string]json.RawMessage{id: json.RawMessage(`{"type":"text"}`)}})
	}
	return log
}

// BenchmarkLoad compares resuming a large log with decoding each line once.
func BenchmarkLoad(b *testing.B) {
	log := transcript(50_000_000)
	path := filepath.Join(b.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, log, 0o600); err != nil {
		b.Fatal(err)
	}
	b.Run("decode once", func(b *testing.B) {
		b.SetBytes(int64(len(log)))
		for b.Loop() {
			var entries []msg.Entry
			for line := range bytes.Lines(log) {
				e, _, err := decodeEntry(line, false)
				if err != nil {
					b.Fatal(err)
				}
				entries = append(entries, e)
			}
		}
	})
	b.Run("resume", func(b *testing.B) {
		b.SetBytes(int64(len(log)))
		for b.Loop() {
			if c, err := Load(path, LoadOptions{}); err != nil || c.Other+c.Bad != 0 {
				b.Fatal(c, err)
			}
		}
	})
}

// BenchmarkLoadCompacted resumes a large log that was compacted at its end.
func BenchmarkLoadCompacted(b *testing.B) {
	log := compactedLog(transcript(47_000_000))
	path := filepath.Join(b.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, log, 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(log)))
	for b.Loop() {
		if c, err := Load(path, LoadOptions{}); err != nil || len(c.Entries) != 2 {
			b.Fatal(c, err)
		}
	}
}

// compactedLog returns a log that ends with a compaction that kept the first message.
func compactedLog(log []byte) []byte {
	kept, _, _ := bytes.Cut(log, []byte("\n"))
	r, _ := ParseRecord(kept) // ok: just created
	return fmt.Appendf(log, `{"type":"system","subtype":"compact_boundary","uuid":"b","compact_metadata":{"trigger":"auto","preserved_segment":{"summary_uuid":"s","message_uuids":[%q]}}}`+"\n"+
		`{"type":"user","uuid":"s","parentUuid":null,"isSidechain":false,"timestamp":"2026-11-03T12:00:00Z","message":{"role":"user","content":"So far."}}`+"\n", r.ID)
}

// TestLoadsWhatCounts checks that messages before the last compaction are not decoded, except
// the kept ones.
func TestLoadsWhatCounts(t *testing.T) {
	log := compactedLog(transcript(100_000))
	r := bytes.NewReader(log)
	x := &index{wanted: lastCompaction(r, 0, int64(len(log)))}
	if _, err := x.read(r, 0); err != nil {
		t.Fatal(err)
	}
	for i, l := range x.links {
		if decoded := l.entry >= 0; decoded != (i == len(x.links)-1) {
			t.Errorf("record %d of %d is decoded: %t", i, len(x.links), decoded)
		}
	}
	c, err := readLog(bytes.NewReader(log), int64(len(log)), LoadOptions{})
	if err != nil || len(c.Entries) != 2 || c.Boundary == nil || msg.PlainText(c.Entries[0].Message.Parts) != "So far." || !strings.HasPrefix(msg.PlainText(c.Entries[1].Message.Parts), "Please look at file 0") {
		t.Errorf("%+v, %v", c, err)
	}
	if none := transcript(3_000_000); lastCompaction(bytes.NewReader(none), 0, int64(len(none))) != 0 {
		t.Error("unexpected compaction")
	}
}

func BenchmarkAppend(b *testing.B) {
	l, err := Open(Options{Home: b.TempDir(), Dir: "/work/app", Session: "s", NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	e := msg.Entry{ID: msg.NewID(), Time: start, Message: msg.UserText(strings.Repeat("x", 1000))}
	for b.Loop() {
		if err := l.Append(e); err != nil {
			b.Fatal(err)
		}
	}
}
