package instruct

import (
	"bytes"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"adze/internal/platform/fs/paths"
)

// File sizes, in characters: the warning threshold and the maximum.
const (
	warnSize = 40_000
	maxSize  = 200_000
)

// cutMark is appended to a truncated file.
const cutMark = "\n[The file is longer; the rest is left out.]"

// load returns the text of the file at path, whose path with symlinks resolved is real. Binary
// files are reported.
func (sc *scanner) load(path, real string, info fs.FileInfo) (string, bool) {
	if !info.Mode().IsRegular() {
		if !info.IsDir() {
			sc.report(path, "is not a regular file")
		}
		return "", false
	}
	f, err := paths.OpenReal(real) // open the checked path without following a new symlink
	if err != nil {
		sc.report(path, "cannot be read: %v", reason(err))
		return "", false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSize*utf8.UTFMax+1))
	if err != nil {
		sc.report(path, "cannot be read: %v", reason(err))
		return "", false
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if isBinary(data) {
		sc.report(path, "is not a text in UTF-8")
		return "", false
	}
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	switch n := utf8.RuneCountInString(text); {
	case n > maxSize:
		sc.report(path, "is longer than %d characters; the rest is left out", maxSize)
		text = cut(text)
	case n > warnSize:
		sc.report(path, "has %d characters, all of which are sent with every request", n)
	}
	return strings.TrimSpace(text), true
}

// isBinary reports whether data is binary. A character truncated at the end is ignored.
func isBinary(data []byte) bool {
	if bytes.IndexByte(data, 0) >= 0 {
		return true
	}
	for range utf8.UTFMax {
		if len(data) == 0 || utf8.Valid(data) {
			return false
		}
		if r, n := utf8.DecodeLastRune(data); r != utf8.RuneError || n != 1 {
			return true
		}
		data = data[:len(data)-1]
	}
	return !utf8.Valid(data)
}

// cut truncates a text to the maximum size, at the end of a line.
func cut(text string) string {
	n := 0
	for i := range text {
		if n == maxSize {
			text = text[:i]
			break
		}
		n++
	}
	if i := strings.LastIndexByte(text, '\n'); i > 0 {
		text = text[:i]
	}
	return strings.ToValidUTF8(text, "") + cutMark
}
