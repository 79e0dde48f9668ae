package lsp

import (
	"bytes"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// split runs a frame reader over data in pieces of n bytes.
func split(data []byte, n int) (messages []string, failed bool) {
	f := &frameReader{deliver: func(m []byte) { messages = append(messages, string(m)) }, fail: func(error) { failed = true }}
	for len(data) > 0 {
		k := min(n, len(data))
		f.Write(data[:k])
		data = data[k:]
	}
	return messages, failed
}

func TestFrames(t *testing.T) {
	for in, want := range map[string][]string{
		"Content-Length: 2\r\n\r\n{}":                                                                    {"{}"},
		"Content-Type: x\r\ncontent-length:2\n\n{}Content-Length: 1\r\n\r\n1":                            {"{}", "1"},
		"starting…\nContent-Length: 2\r\n\r\n{}":                                                         {"{}"},
		"Content-Length: 9000000\r\n\r\n" + strings.Repeat("x", 9000000) + "Content-Length: 2\r\n\r\n{}": {"{}"},
	} {
		got, failed := split([]byte(in), 4096)
		if diff := cmp.Diff(want, got); diff != "" || failed {
			t.Errorf("%.60q: %s, failed %v", in, diff, failed)
		}
	}
	for _, in := range []string{"Content-Length: -1\r\n\r\n", "Content-Length: 99999999999\r\n\r\n", "Other: 1\r\n\r\n", strings.Repeat("x", maxHeader+1)} {
		if _, failed := split([]byte(in), 4096); !failed {
			t.Errorf("%.60q did not fail", in)
		}
	}
}

// FuzzFrames checks that messages do not depend on how the output was split.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("Content-Length: 2\r\n\r\n{}Content-Length: 0\r\n\r\n"), 3)
	f.Add([]byte("x\n\n"), 1)
	f.Add(append(frame([]byte(`{"id":1}`)), frame([]byte("[]"))...), 7)
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		whole, failed := split(data, max(len(data), 1))
		parts, failedToo := split(data, min(max(n, 1), 1<<20))
		if diff := cmp.Diff(whole, parts); diff != "" || failed != failedToo {
			t.Errorf("%s, %v and %v", diff, failed, failedToo)
		}
		var again []byte
		for _, m := range whole {
			again = append(again, frame([]byte(m))...)
		}
		if got, _ := split(again, 5); !failed && cmp.Diff(whole, got) != "" {
			t.Errorf("%q", got)
		}
	})
}

func TestPositions(t *testing.T) {
	const text = "a😀b\r\né\rx\n\nend"
	for _, tt := range []struct {
		p      Position
		offset int
	}{
		{Position{0, 0}, 0}, {Position{0, 1}, 1}, {Position{0, 2}, 1}, {Position{0, 3}, 5}, {Position{0, 4}, 6}, {Position{0, 99}, 6},
		{Position{1, 0}, 8}, {Position{1, 1}, 10}, {Position{2, 1}, 12}, {Position{3, 0}, 13}, {Position{4, 3}, 17}, {Position{9, 9}, 17}, {Position{-1, 3}, 0}, {Position{0, -1}, 0},
	} {
		if got := Offset(text, tt.p); got != tt.offset {
			t.Errorf("Offset(%v) = %d, want %d", tt.p, got, tt.offset)
		}
	}
	for offset, want := range map[int]Position{0: {0, 0}, 1: {0, 1}, 3: {0, 1}, 5: {0, 3}, 6: {0, 4}, 7: {0, 4}, 8: {1, 0}, 10: {1, 1}, 11: {2, 0}, 13: {3, 0}, 17: {4, 3}, 99: {4, 3}} {
		if got := PositionAt(text, offset); got != want {
			t.Errorf("PositionAt(%d) = %v, want %v", offset, got, want)
		}
	}
	if got := Line(text, 1); got != "é" {
		t.Errorf("%q", got)
	}
}

// FuzzPositions checks that positions count UTF-16 code units, that every character has one, and
// that no position leads out of the text.
func FuzzPositions(f *testing.F) {
	f.Add("a😀b\r\né\rx\n", 1, 1)
	f.Add("\xff😀\r", 0, 3)
	f.Fuzz(func(t *testing.T, text string, l, c int) {
		if at := Offset(text, Position{l, c}); at < 0 || at > len(text) {
			t.Fatalf("offset %d of %d", at, len(text))
		}
		for i := range text {
			p := PositionAt(text, i)
			if strings.ContainsAny(text[i:i+1], "\r\n") {
				continue
			}
			if got := Offset(text, p); got != i {
				t.Fatalf("%q: offset %d is at %v, which is offset %d", text, i, p, got)
			}
			start, _ := lineBounds(text, p.Line)
			if want := len(utf16.Encode([]rune(text[start:i]))); p.Character != want {
				t.Fatalf("%q: offset %d is unit %d, want %d", text, i, p.Character, want)
			}
		}
	})
}

// FuzzMessages checks that no message of a server makes the client panic or grow.
func FuzzMessages(f *testing.F) {
	f.Add([]byte(`{"method":"textDocument/publishDiagnostics","params":{"uri":"file:///a","version":1,"diagnostics":[{"range":{"start":{"line":-5,"character":-7}},"severity":9,"code":{"a":1},"message":"x"}]}}`))
	f.Add([]byte(`{"id":1,"method":"workspace/configuration","params":{"items":[{"section":"a..b"}]}}`))
	f.Add([]byte(`{"id":{},"method":"client/registerCapability","params":{"textDocument/diagnostic":1}}`))
	f.Add([]byte(`{"id":1,"result":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := &client{conn: newConn(), docs: map[string]*document{"/a": {path: "/a", version: 1, text: "x\ny"}}, reported: make(chan struct{}), seq: new(atomic.Int64), wake: make(chan struct{}, 1)}
		c.conn.request, c.conn.notify = c.answer, c.notified
		c.conn.send = func(sent []byte) error {
			if !bytes.HasPrefix(sent, []byte("Content-Length: ")) {
				t.Errorf("%q", sent)
			}
			return nil
		}
		c.conn.receive(data)
		if r, ok := c.problems("/a"); ok && len(r.Problems) > maxDiagnostics {
			t.Errorf("%d problems", len(r.Problems))
		}
	})
}

// TestURI checks that paths survive as URIs, and that other URIs have no path.
func TestURI(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := "/" + rapid.StringMatching(`[a-zA-Zäß %#?&+😀:.-]{1,20}`).Draw(t, "path")
		if strings.HasSuffix(path, "/.") || path == "/." || path == "/.." {
			return
		}
		if got := Path(URI(path)); got != path {
			t.Errorf("%q became %q", path, got)
		}
	})
	for _, uri := range []string{"", "http://x/y", "file://host/x", "untitled:1", "file:relative", "%zz", "file:///a%00b"} {
		if got := Path(uri); got != "" {
			t.Errorf("%s: %s", uri, got)
		}
	}
}
