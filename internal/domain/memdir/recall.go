package memdir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Recall limits.
const (
	// MaxCandidates is the number of memories offered, newest first, and MaxRecalled how many
	// of them are recalled.
	MaxCandidates = 200
	MaxRecalled   = 5
	// Limits per memory, and per session.
	MaxRecallLines = 200
	MaxRecallBytes = 4096
	MaxRecallTotal = 60 << 10
)

// WorthRecalling reports whether a message is long enough to look for memories: a single word, a command
// of the program or an empty message is not.
func WorthRecalling(said string) bool {
	said = strings.TrimSpace(said)
	if strings.HasPrefix(said, "/") && !strings.ContainsAny(strings.Fields(said)[0][1:], "/.") {
		return false
	}
	words := 0
	for word := range strings.FieldsSeq(said) {
		words++
		for _, r := range word { // scripts without blanks between words
			if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
				words++
			}
		}
	}
	if !strings.ContainsFunc(said, unicode.IsSpace) {
		return words > 3 // two characters of such a script count as one word
	}
	return words > 1
}

// Candidates returns the newest memories that skip does not exclude.
func Candidates(all []Memory, skip func(name string) bool) []Memory {
	var some []Memory
	for _, m := range all {
		if !m.Broken && !skip(m.Name) && len(some) < MaxCandidates {
			some = append(some, m)
		}
	}
	return some
}

// Manifest lists memories for the choosing model.
func Manifest(all []Memory) string {
	var b strings.Builder
	for _, m := range all {
		kind := string(m.Type)
		if m.Type == Untyped {
			kind = "untyped"
		}
		fmt.Fprintf(&b, "- [%s] %s (%s): %s\n", kind, m.Name, m.Modified.Format(time.DateOnly), shorten(m.Description, maxLine))
	}
	return b.String()
}

// AnswerSchema is the JSON schema of that model's answer.
const AnswerSchema = `{"type":"object","properties":{"memories":{"type":"array","items":{"type":"string"}}},"required":["memories"],"additionalProperties":false}`

// Choose returns the memories that an answer names. Unknown names and excess memories are
// dropped.
func Choose(answer string, from []Memory) ([]Memory, error) {
	var said struct {
		Memories *[]string `json:"memories"`
	}
	d := json.NewDecoder(bytes.NewReader([]byte(strings.TrimSpace(answer))))
	d.DisallowUnknownFields()
	if err := d.Decode(&said); err != nil {
		return nil, fmt.Errorf("reading which memories are relevant: %w", err)
	}
	if _, err := d.Token(); err != io.EOF || said.Memories == nil {
		return nil, errors.New("reading which memories are relevant: it is not an object with a list of memories")
	}
	var chosen []Memory
	for _, name := range *said.Memories {
		i := slices.IndexFunc(from, func(m Memory) bool { return m.Name == name })
		if i < 0 || len(chosen) == MaxRecalled || slices.ContainsFunc(chosen, func(m Memory) bool { return m.Name == name }) {
			continue
		}
		chosen = append(chosen, from[i])
	}
	return chosen, nil
}

// A Recalled is a memory to be shown to the model.
type Recalled struct {
	Memory
	Path string
	Text string
	Cut  bool // truncated
	Days int  // age; 0 if not older than a day
}

// Recall reads memories, each truncated, up to room bytes in total. Binary files are omitted.
func (f Folder) Recall(chosen []Memory, room int, now time.Time) []Recalled {
	var all []Recalled
	for _, m := range chosen {
		text, err := f.Read(m.Name, MaxRecallBytes+utf8.UTFMax)
		if err != nil || strings.TrimSpace(text) == "" {
			continue
		}
		r := Recalled{Memory: m, Path: f.Path(m.Name), Days: age(m.Modified, now)}
		r.Text, r.Cut = bound(text)
		if room -= len(r.Text); room < 0 {
			break
		}
		all = append(all, r)
	}
	return all
}

// bound truncates a text to the limits for one memory.
func bound(text string) (string, bool) {
	short := text
	if len(short) > MaxRecallBytes {
		short = whole(short[:MaxRecallBytes])
	}
	lines := strings.SplitAfterN(short, "\n", MaxRecallLines+1)
	if len(lines) > MaxRecallLines {
		short = strings.Join(lines[:MaxRecallLines], "")
	}
	return strings.TrimSpace(short), len(strings.TrimSpace(short)) < len(strings.TrimSpace(text))
}

// age returns the age in days, or 0 if it is not over a day.
func age(since, now time.Time) int {
	const day = 24 * time.Hour
	if d := now.Sub(since); d > day {
		return int(d / day)
	}
	return 0
}
