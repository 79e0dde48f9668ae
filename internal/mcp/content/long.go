package content

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"adze/internal/platform/text/amount"
)

const (
	// countTimeout limits the token count request.
	countTimeout = 5 * time.Second
	// previewed is the number of characters shown of an overlong text.
	previewed = 2000
	// maxLine is the longest line that can be read by its number.
	maxLine = 2000
	// maxCompared is the maximum size at which two JSON texts are compared by value, and
	// maxParsed the maximum size at which JSON is parsed at all.
	maxCompared = 1 << 20
	maxParsed   = 16 << 20
	// maxIndented and maxIndent are the maximum size and depth at which JSON is indented:
	// indentation can be much larger than the data.
	maxIndented = 4 << 20
	maxIndent   = 12
)

// tooLong reports whether the texts exceed the model's limit. An estimate decides most cases;
// near the limit the provider counts.
func (r *renderer) tooLong() bool {
	size := 0
	for _, text := range r.texts {
		size += len(text)
	}
	switch {
	case size <= r.room: // a token is at least a byte
		return false
	case size > 16*r.room:
		return true
	}
	estimate := 0
	for _, text := range r.texts {
		estimate += tokens(text)
	}
	if estimate <= r.room/2 {
		return false
	}
	if r.Count != nil && estimate <= 2*r.room {
		ctx, cancel := context.WithTimeout(r.ctx, countTimeout)
		defer cancel()
		if n, err := r.Count(ctx, strings.Join(r.texts, "\n")); err == nil {
			return n > r.room
		}
	}
	return estimate > r.room
}

// tokens estimates a text's token count: one per four ASCII characters, or three in JSON, and
// one for every other character.
func tokens(text string) int {
	plain, other := 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c < utf8.RuneSelf:
			plain++
		case utf8.RuneStart(c):
			other++
		}
	}
	per := 4
	if isJSON(text) {
		per = 3
	}
	return plain/per + other
}

// isJSON reports whether a text looks like an object or a list.
func isJSON(text string) bool {
	text = strings.TrimSpace(text)
	if text == "" {
		return false
	}
	first, last := text[0], text[len(text)-1]
	return first == '{' && last == '}' || first == '[' && last == ']'
}

// persist saves the texts to a file and returns a replacement for the model. Without a file it
// returns the start of the texts.
func (r *renderer) persist() (text, path string) {
	ext, shape := "txt", ""
	texts := r.texts
	if len(texts) == 1 && isJSON(texts[0]) && len(texts[0]) <= maxParsed {
		if described := describe(texts[0]); described != "" {
			ext, shape, texts = "json", described, []string{inLines(texts[0])}
		}
	}
	size, lines, longest := measure(texts)
	about := fmt.Sprintf("The result is too long to show whole: %s, and at most %s tokens are shown.", amount.Bytes(int64(size)), amount.Grouped(r.MaxTokens))
	path, err := r.saveAll(ext, texts)
	if err != nil {
		most := min(3*r.room, 100_000)
		return fmt.Sprintf("%s\n[%s The rest is lost: %v. Ask for less at a time: use the tool's parameters for pages, filters or limits.]",
			cutText(r.texts, most), about, err), ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s All of it is in %s (%s).\n", about, path, amount.Of(lines, "line", "lines"))
	if shape != "" {
		fmt.Fprintf(&b, "Format: JSON, %s.\n", shape)
	}
	if longest > maxLine {
		b.WriteString("It has very long lines: extract parts with a command such as jq or grep -o. ")
	} else {
		b.WriteString("Search it with Grep, or read parts of it with Read, offset and limit. ")
	}
	b.WriteString("Do not answer from the beginning alone if the rest matters.\nIt begins:\n")
	b.WriteString(cutText(texts, previewed))
	return b.String(), path
}

// saveAll saves texts to one file.
func (r *renderer) saveAll(ext string, texts []string) (string, error) {
	if r.Save == nil {
		return "", errNoPlace
	}
	sum := sha256.New()
	var all []io.Reader
	for i, text := range texts {
		if i > 0 {
			all = append(all, strings.NewReader("\n"))
		}
		io.Copy(sum, struct{ io.Reader }{strings.NewReader(text)}) // ok: it never fails; copied in pieces
		all = append(all, strings.NewReader(text))
	}
	return r.Save(r.fileName(sum.Sum(nil)), ext, io.MultiReader(all...))
}

// measure returns the texts' size, their number of lines, and the size of the longest line.
func measure(texts []string) (size, lines, longest int) {
	for _, text := range texts {
		size += len(text) + 1
		for line := range strings.Lines(text) {
			lines++
			longest = max(longest, len(line))
		}
	}
	return size, lines, longest
}

// cutText returns the first n characters of texts.
func cutText(texts []string, n int) string {
	var b strings.Builder
	for i, text := range texts {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, c := range text {
			if n--; n < 0 {
				b.WriteString("…")
				return b.String()
			}
			b.WriteRune(c)
		}
	}
	return b.String()
}

// inLines indents JSON so that parts of it can be read. Deeply nested JSON is returned
// unchanged.
func inLines(text string) string {
	if _, _, longest := measure([]string{text}); longest <= maxLine || len(text) > maxIndented || deeper(text, maxIndent) {
		return text
	}
	var b bytes.Buffer
	if json.Indent(&b, []byte(text), "", " ") != nil {
		return text
	}
	return b.String()
}

// deeper reports whether JSON is nested deeper than n.
func deeper(text string, n int) bool {
	now, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if now++; now > n {
				return true
			}
		case c == '}' || c == ']':
			now--
		}
	}
	return false
}

// sameJSON reports whether a text is the same JSON value as data.
func sameJSON(text string, data json.RawMessage) bool {
	if !isJSON(text) || len(text) > 4*len(data)+1024 || len(data) > 4*len(text)+1024 {
		return false
	}
	if len(text) > maxCompared {
		var a, b bytes.Buffer
		return len(text) <= maxParsed && json.Compact(&a, []byte(text)) == nil && json.Compact(&b, data) == nil && bytes.Equal(a.Bytes(), b.Bytes())
	}
	var a, b any
	return json.Unmarshal([]byte(text), &a) == nil && json.Unmarshal(data, &b) == nil && reflect.DeepEqual(a, b)
}
