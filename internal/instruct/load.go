package instruct

import (
	"bytes"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"adze/internal/platform/paths"
)

// Sizes of a file, in characters: from where the user is warned, and where it ends.
const (
	warnSize = 40_000
	maxSize  = 200_000
)

// cutMark stands where a file was cut.
const cutMark = "\n[The file is longer; the rest is left out.]"

// load returns the text of the file at path, whose path without links is real. What is no text is reported.
func (sc *scanner) load(path, real string, info fs.FileInfo) (string, bool) {
	if !info.Mode().IsRegular() {
		if !info.IsDir() {
			sc.report(path, "is not a regular file")
		}
		return "", false
	}
	f, err := paths.OpenReal(real) // the path that was checked: a link there by now is not followed
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

// isBinary reports whether data is no text. A character that the end cuts is no sign of that.
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

// cut shortens a text to the longest size, at the end of a line.
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
