package draw

import (
	"net/url"
	"path/filepath"
	"strings"
)

// Files links file names with a line number, such as cart.go:88, in final rows.
type Files struct {
	// Dir is the base directory of relative names. Host is the name of this machine; it
	// prevents a terminal on another machine from opening its own file.
	Dir, Host string
	// Exists reports whether a file exists.
	Exists func(path string) bool
}

// maxLinked is the maximum number of file names looked up per row.
const maxLinked = 8

// link returns the row with its file names linked.
func (f Files) link(r Row) Row {
	if f.Exists == nil {
		return r
	}
	var out Row
	looked := 0
	for i, s := range r {
		from, at := 0, 0
		for s.Link == "" && looked < maxLinked {
			start, end, path := located(s.Text[at:])
			if end == 0 {
				break
			}
			start, end = at+start, at+end
			at = end
			looked++
			target := f.target(path)
			if target == "" {
				continue
			}
			if out == nil {
				out = append(make(Row, 0, len(r)+2), r[:i]...)
			}
			out = append(out, Span{Role: s.Role, Text: s.Text[from:start], Style: s.Style}, Span{Role: s.Role, Text: s.Text[start:end], Link: target, Style: s.Style})
			from = end
		}
		if s.Text = s.Text[from:]; out != nil {
			out = append(out, s)
		}
	}
	if out == nil {
		return r
	}
	return out
}

// target returns a file's URL, or "" if the file does not exist.
func (f Files) target(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.Dir, path)
	}
	if !f.Exists(path) {
		return ""
	}
	u := url.URL{Scheme: "file", Host: f.Host, Path: filepath.ToSlash(path)}
	return u.String()
}

// located returns the position and path of the first file name with a line number in text, or
// an end of 0.
func located(text string) (start, end int, path string) {
	for i := 0; ; {
		colon := strings.IndexByte(text[i:], ':')
		if colon < 0 {
			return 0, 0, ""
		}
		i += colon
		end = i + 1
		for end < len(text) && text[end] >= '0' && text[end] <= '9' {
			end++
		}
		start = i
		for start > 0 && pathByte(text[start-1]) {
			start--
		}
		path = text[start:i]
		if end > i+1 && strings.ContainsAny(path, "./") && !strings.HasPrefix(path, "//") && strings.Trim(path, "./") != "" {
			return start, end, path
		}
		i = end
	}
}

func pathByte(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 || strings.IndexByte("_./-+@~", c) >= 0
}
