package draw

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestFiles checks that names of existing files with a line number become links.
//
// Proves X-123.
func TestFiles(t *testing.T) {
	f := Files{Dir: "/w", Host: "box", Exists: func(path string) bool { return strings.HasPrefix(path, "/w/a") || path == "/etc/x y.go" }}
	tests := []struct{ text, want string }{
		{"see a.go:12 and abc/d.go:3:7.", "see {a.go:12|file://box/w/a.go} and {abc/d.go:3|file://box/w/abc/d.go}:7."},
		{"/w/a/b.go:1", "{/w/a/b.go:1|file://box/w/a/b.go}"},
		{"missing.go:12 a.go:1", "missing.go:12 {a.go:1|file://box/w/a.go}"},
		{"at 12:30, localhost:8080, http://a.b:80/c", "at 12:30, localhost:8080, http://a.b:80/c"},
		{"a.go: 12, a.go:x, :1, .:1, ..:2", "a.go: 12, a.go:x, :1, .:1, ..:2"},
		{"aé.go:1", "{aé.go:1|file://box/w/a%C3%A9.go}"},
		{"(`a.go:5`)", "(`{a.go:5|file://box/w/a.go}`)"},
		{"", ""},
	}
	for _, tt := range tests {
		got := ""
		for _, s := range f.link(Line(Text, tt.text)) {
			if s.Link != "" {
				got += "{" + s.Text + "|" + s.Link + "}"
			} else {
				got += s.Text
			}
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.text, got, tt.want)
		}
	}
}

// TestFilesKeepText checks that linking does not change the text.
func TestFilesKeepText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var row Row
		for range rapid.IntRange(0, 4).Draw(t, "spans") {
			row = append(row, Span{Role: Code, Text: rapid.StringMatching(`[a./:1 é]{0,20}`).Draw(t, "text"), Link: rapid.SampledFrom([]string{"", "https://a.b"}).Draw(t, "link")})
		}
		looked := 0
		f := Files{Dir: "/w", Exists: func(path string) bool { looked++; return len(path)%2 == 0 }}
		if got := f.link(row).String(); got != row.String() {
			t.Fatalf("%q became %q", row.String(), got)
		}
		if looked > maxLinked {
			t.Fatalf("%d files were looked for", looked)
		}
	})
}
