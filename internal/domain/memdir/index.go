package memdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"adze/internal/platform/fs/fsys"
)

// Index limits. The byte limit exists because a few lines can be very long.
const (
	MaxLines = 200
	MaxBytes = 25_000
	// maxLine is the recommended line length, in characters.
	maxLine = 150
	// maxIndex bounds how much of the file is read.
	maxIndex = 4 << 20
)

// An Entry is one line of the index. File is empty for other lines, which are kept unchanged.
type Entry struct {
	Line              string
	Title, File, Hook string
}

// parseEntry parses a line such as "- [Title](file.md) — hook".
func parseEntry(line string) Entry {
	e := Entry{Line: line}
	rest := strings.TrimSpace(line)
	if rest == "" || !strings.ContainsRune("-*+", rune(rest[0])) {
		return e
	}
	rest = strings.TrimSpace(rest[1:])
	title, rest, ok := strings.Cut(rest, "](")
	if !ok || !strings.HasPrefix(title, "[") {
		return e
	}
	file, hook, ok := strings.Cut(rest, ")")
	file = strings.TrimPrefix(strings.TrimSpace(file), "./")
	if !ok || file == "" || strings.Contains(file, "://") {
		return e
	}
	e.Title, e.File = strings.TrimSpace(title[1:]), file
	e.Hook = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(hook), "—–-:"))
	return e
}

// String returns the line in its normal form, truncated to the recommended length.
func (e Entry) String() string {
	line := fmt.Sprintf("- [%s](%s)", strings.NewReplacer("[", "(", "]", ")").Replace(e.Title), e.File)
	room := maxLine - utf8.RuneCountInString(line) - len(" - ")
	if e.Hook == "" || room < 10 {
		return line
	}
	return line + " — " + shorten(e.Hook, room)
}

// shorten truncates a text to a number of characters, at a word boundary if possible.
func shorten(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	text = string(runes[:most-1])
	if i := strings.LastIndexByte(text, ' '); i > len(text)/2 {
		text = text[:i]
	}
	return strings.TrimRight(text, " ,;:.") + "…"
}

// A Truncation describes the truncation of an index. The zero value means none.
type Truncation struct {
	Lines, Bytes         int // before truncation
	OverLines, OverBytes bool
}

// CutIndex returns the part of an index that a conversation begins with, and the truncation.
func CutIndex(text string) (string, Truncation) {
	text = strings.TrimSpace(text)
	c := Truncation{Lines: strings.Count(text, "\n") + 1, Bytes: len(text)}
	c.OverLines, c.OverBytes = c.Lines > MaxLines, c.Bytes > MaxBytes
	if !c.OverLines && !c.OverBytes {
		return text, Truncation{}
	}
	if c.OverLines {
		end := 0
		for range MaxLines {
			end += strings.IndexByte(text[end:], '\n') + 1
		}
		text = text[:end-1]
	}
	if len(text) > MaxBytes {
		end := strings.LastIndexByte(text[:MaxBytes+1], '\n')
		if end <= 0 { // a single line
			for end = MaxBytes; !utf8.RuneStart(text[end]); end-- {
			}
		}
		text = text[:end]
	}
	return strings.TrimRight(text, "\r\n"), c
}

// Index returns the text of the index, or "" if it does not exist. A binary file is an error.
func (f Folder) Index() (string, error) {
	root, err := os.OpenRoot(f.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading the memory index: %w", err)
	}
	defer root.Close()
	text, err := readText(root, IndexName, maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading the memory index: %w", err)
	}
	return strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n"), nil
}

// rewriteIndex keeps the lines for which keep returns true. An unchanged index is not written.
func (f Folder) rewriteIndex(keep func(Entry) bool) error {
	text, err := f.Index()
	if err != nil {
		return err
	}
	lines := strings.SplitAfter(text, "\n")
	kept := slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		e := parseEntry(strings.TrimRight(line, "\r\n"))
		return e.File != "" && !keep(e)
	})
	if len(kept) == len(lines) {
		return nil
	}
	return f.writeIndex(strings.Join(kept, ""))
}

// writeIndex replaces the index atomically.
func (f Folder) writeIndex(text string) error {
	return fsys.WriteAtomic(f.Path(IndexName), []byte(text), 0o600)
}
