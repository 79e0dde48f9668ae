package content

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"adze/internal/mcp"
	"adze/internal/msg"
	"adze/internal/platform/text/picture"
)

// saving returns a config that saves files in a directory.
func saving(t testing.TB) (c Config, dir string) {
	dir = t.TempDir()
	return Config{Save: func(name, ext string, r io.Reader) (string, error) {
		path := filepath.Join(dir, name+"."+ext)
		f, err := os.Create(path)
		if err != nil {
			return "", err
		}
		_, err = io.Copy(f, r)
		return path, errors.Join(err, f.Close())
	}}, dir
}

func picturePNG(t *testing.T, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var from = Source{Server: "db", Name: "dump all"}

// Proves MCP-38.
func TestBinary(t *testing.T) {
	elf := append([]byte("\x7fELF\x02\x01\x01\x00"), make([]byte, 64)...)
	tests := []struct {
		name    string
		content mcp.Content
		ext     string // extension of the saved file
		want    string
	}{
		{"audio", mcp.Content{Kind: mcp.AudioContent, Data: []byte("RIFF\x24\x00\x00\x00WAVEfmt "), MIME: "audio/wav"}, ".wav", "Audio (16 bytes, audio/wav) is in "},
		{"PDF", mcp.Content{Kind: mcp.ResourceBlob, Data: []byte("%PDF-1.7\n"), MIME: "application/pdf", URI: "file:///a.pdf"}, ".pdf", "Resource file:///a.pdf (9 bytes, application/pdf) is in"},
		{"PDF that pretends to be a picture", mcp.Content{Kind: mcp.ImageContent, Data: []byte("%PDF-1.7\n"), MIME: "image/png"}, ".pdf", "A file ("},
		{"program that pretends to be a picture", mcp.Content{Kind: mcp.ImageContent, Data: elf, MIME: "image/png"}, ".bin", "A file ("},
		{"script", mcp.Content{Kind: mcp.ResourceBlob, Data: []byte("#!/bin/sh\nrm -rf /\n"), MIME: "application/x-sh"}, ".txt", "A file ("},
		{"control characters", mcp.Content{Kind: mcp.ResourceBlob, Data: []byte("\x1b[31m\x01"), MIME: "text/plain"}, ".bin", "A file ("},
		{"page", mcp.Content{Kind: mcp.ResourceBlob, Data: []byte("<html><script>x</script>"), MIME: "text/html"}, ".txt", "A file ("},
		{"JSON", mcp.Content{Kind: mcp.ResourceBlob, Data: []byte(`{"a":1}`), MIME: "application/json"}, ".json", "A file ("},
		{"archive", mcp.Content{Kind: mcp.ResourceBlob, Data: []byte("PK\x03\x04 and more"), MIME: "text/plain"}, ".zip", "A file ("},
		{"half a picture", mcp.Content{Kind: mcp.ImageContent, Data: picturePNG(t, 10, 10)[:30], MIME: "image/png"}, ".png", "cannot be shown"},
		{"broken base64", mcp.Content{Kind: mcp.ImageContent, Flaw: "the image data is not valid base64"}, "", "Content was left out: the image data is not valid base64"},
		{"unknown kind", mcp.Content{Kind: 99}, "", "unknown kind"},
		{"link", mcp.Content{Kind: mcp.ResourceLink, URI: "file:///x", Name: "x", Description: "about", MIME: "text/plain"}, "", "[Link to a resource: file:///x (text/plain), x: about]"},
		{"text of a resource", mcp.Content{Kind: mcp.ResourceText, URI: "file:///x", Text: "hello"}, "", "Resource file:///x:\nhello"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, dir := saving(t)
			r := c.Render(t.Context(), from, []mcp.Content{tt.content}, nil)
			if got := msg.PlainText(r.Parts); !strings.Contains(got, tt.want) || len(r.Parts) != 1 {
				t.Errorf("got %q", got)
			}
			kept, err := filepath.Glob(filepath.Join(dir, "*"))
			if err != nil || len(kept) > 1 || (len(kept) == 1) != (tt.ext != "") || tt.ext != "" && (filepath.Ext(kept[0]) != tt.ext || r.Files[0] != kept[0]) {
				t.Errorf("kept %v, told %v, %v", kept, r.Files, err)
			}
		})
	}
}

// Proves MCP-38.
func TestPictures(t *testing.T) {
	c, _ := saving(t)
	r := c.Render(t.Context(), from, []mcp.Content{{Kind: mcp.ImageContent, Data: picturePNG(t, 6000, 40), MIME: "image/jpeg"}}, nil)
	if len(r.Parts) != 1 || len(r.Files) != 0 {
		t.Fatalf("parts %v, files %v", r.Parts, r.Files)
	}
	kind, size, err := picture.Measure(r.Parts[0].(*msg.Image).Data)
	if err != nil || kind != "image/png" || size.Width != 2000 {
		t.Errorf("%s of %v, %v", kind, size, err)
	}
	small := picturePNG(t, 4, 4)
	var many []mcp.Content
	for range 30 {
		many = append(many, mcp.Content{Kind: mcp.ImageContent, Data: small})
	}
	r = c.Render(t.Context(), from, many, nil)
	if n := len(r.Parts) - 1; n != MaxTokens/imageTokens {
		t.Errorf("%d pictures are sent", n)
	}
	c.Images = func() bool { return false }
	r = c.Render(t.Context(), from, many[:1], nil)
	if got := msg.PlainText(r.Parts); len(r.Parts) != 1 || !strings.Contains(got, "that you cannot see") || !strings.Contains(got, r.Files[0]) {
		t.Errorf("a model without vision receives %q", got)
	}
}

// Proves MCP-37.
func TestLongText(t *testing.T) {
	rows := strings.TrimSuffix(strings.Repeat(`{"id":1,"name":"x","tags":["a","b"]},`, 8_000), ",")
	tests := []struct {
		name, text string
		ext        string // extension of the file, or empty if all is shown
		want       []string
	}{
		{"short", "a line", "", []string{"a line"}},
		{"at the limit", strings.Repeat("word ", 18_000), "", nil},
		{"one megabyte", strings.Repeat("a line of text\n", 70_000), ".txt", []string{"too long to show whole: 1.0 MB", "70000 lines", "Read, offset and limit", "It begins:\na line of text"}},
		{"JSON on one line", `{"rows":[` + rows + `],"next":null}`, ".json", []string{"Format: JSON, {rows: a list of 8000 elements like {id, name, tags}, next: null}.", "Grep"}},
		{"one line", strings.Repeat("x", 300_000), ".txt", []string{"very long lines"}},
		{"invalid JSON", `{"rows":[` + rows + `}`, ".txt", nil},
		{"deep JSON", strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000), ".txt", nil},
		{"deep JSON that can be read", strings.Repeat("[", 5000) + strings.TrimSuffix(strings.Repeat("1,", 100_000), ",") + strings.Repeat("]", 5000), ".json", []string{"a list of 1 element like a list of 1 element"}},
		{"other scripts", strings.Repeat("字", 30_000), ".txt", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := saving(t)
			r := c.Render(t.Context(), from, []mcp.Content{{Text: tt.text}}, nil)
			got := msg.PlainText(r.Parts)
			if filepath.Ext(r.File) != tt.ext || r.Cut != (tt.ext != "") || r.Cut && len(got) > 12_000 {
				t.Fatalf("kept in %q, %d bytes are shown", r.File, len(got))
			}
			for _, want := range append(tt.want, r.File) {
				if !strings.Contains(got, want) {
					t.Errorf("%q is not in %.600q", want, got)
				}
			}
			if r.File == "" {
				return
			}
			kept, err := os.ReadFile(r.File)
			if err != nil || tt.ext == ".txt" && string(kept) != tt.text || tt.ext == ".json" && !json.Valid(kept) || len(kept) < len(tt.text) {
				t.Errorf("kept %d bytes of %d, %v", len(kept), len(tt.text), err)
			}
		})
	}
}

// TestLongTextIsCut checks that text that cannot be saved is truncated. Proves MCP-37.
func TestLongTextIsCut(t *testing.T) {
	for name, c := range map[string]Config{
		"no place": {},
		"no room":  {Save: func(string, string, io.Reader) (string, error) { return "", errors.New("the disk is full") }},
	} {
		r := c.Render(t.Context(), from, []mcp.Content{{Text: strings.Repeat("a line of text\n", 70_000)}}, nil)
		got := msg.PlainText(r.Parts)
		if len(got) > 110_000 || !strings.Contains(got, "pages, filters or limits") || !strings.HasPrefix(got, "a line") || !r.Cut {
			t.Errorf("%s: %d bytes, %.100q", name, len(got), got)
		}
	}
}

// TestCount checks that the provider counts tokens only near the limit. Proves MCP-37.
func TestCount(t *testing.T) {
	tests := []struct {
		chars, counted int
		err            error
		asked, cut     bool
	}{
		{40_000, 0, nil, false, false},
		{80_000, 24_000, nil, true, false},
		{80_000, 26_000, nil, true, true},
		{120_000, 24_000, nil, true, false},
		{120_000, 0, errors.New("no"), true, true},
		{80_000, 0, errors.New("no"), true, false},
		{2_000_000, 0, nil, false, true},
	}
	for _, tt := range tests {
		c, _ := saving(t)
		asked := false
		c.Count = func(context.Context, string) (int, error) { asked = true; return tt.counted, tt.err }
		r := c.Render(t.Context(), from, []mcp.Content{{Text: strings.Repeat("word ", tt.chars/5)}}, nil)
		if asked != tt.asked || r.Cut != tt.cut {
			t.Errorf("%+v: asked %v, cut %v", tt, asked, r.Cut)
		}
	}
}

// TestHugeResult checks that a large result is not copied several times.
func TestHugeResult(t *testing.T) {
	const size = 24 << 20
	text := strings.Repeat("0123456789abcde\n", size/16)
	c := Config{Save: func(_, _ string, r io.Reader) (string, error) {
		n, err := io.Copy(io.Discard, r)
		if n != size {
			return "", fmt.Errorf("%d bytes", n)
		}
		return "/results/x.txt", err
	}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := c.Render(t.Context(), from, []mcp.Content{{Text: text}}, nil)
	runtime.ReadMemStats(&after)
	if r.File != "/results/x.txt" {
		t.Errorf("kept in %q", r.File)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
		t.Errorf("%d bytes were allocated", n)
	}
}

// TestStructuredContentIsSentOnce checks that structured content is sent only if the text does
// not repeat it.
//
// Proves MCP-36.
func TestStructuredContentIsSentOnce(t *testing.T) {
	for _, tt := range []struct {
		name, text, structured string
		sent                   bool
	}{
		{"the text as the only field", "a.txt:\nalpha", `{"content":"a.txt:\nalpha"}`, false},
		{"the same value, printed otherwise", "{\n  \"n\": 1\n}", `{"n":1}`, false},
		{"the value of the only field", `[{"name":"x"}]`, `{"entities":[{"name":"x"}]}`, false},
		{"fields that the text has", "path: docs/a.txt\nhash: 12ab34cd56ef", `{"path":"docs/a.txt","hash":"12ab34cd56ef"}`, false},
		{"more than the text", "one row", `{"rows":[{"id":1}]}`, true},
		{"another field as well", "alpha", `{"content":"alpha","next":"page2"}`, true},
		{"a number next to the text", "alpha", `{"content":"alpha","total":2}`, true},
		{"little of a long text", strings.Repeat("words ", 20) + "ok", `{"status":"ok"}`, true},
		{"another value", `{"n":1}`, `{"n":2}`, true},
		{"an empty field", "alpha", `{"error":""}`, true},
		{"no text", "", `{"n":1}`, true},
	} {
		got := Config{}.Render(t.Context(), from, []mcp.Content{{Kind: mcp.TextContent, Text: tt.text}}, json.RawMessage(tt.structured)).Text
		if sent := strings.HasSuffix(got, tt.structured) && got != tt.text; sent != tt.sent {
			t.Errorf("%s: sent %v: %q", tt.name, sent, got)
		}
	}
}
