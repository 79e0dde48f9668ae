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

// transcript returns a log of about size bytes, made of turns as they are: a prompt, an answer with a
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

// BenchmarkLoad compares resuming a large log with decoding each of its lines once.
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
