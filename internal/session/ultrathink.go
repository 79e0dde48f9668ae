package session

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"adze/internal/model"
	"adze/internal/msg"
)

// ultraWord in a prompt requests the highest effort.
const ultraWord = "ultrathink"

// RaiseEffort returns a prompt hook that raises the effort for the rest of the turn if the
// user's text contains the word ultrathink. Highest returns the effort for a model, or "" to
// leave it unchanged.
func RaiseEffort(s func() *Session, highest func(model string) model.Effort) func(context.Context, Prompt) HookResult {
	return func(ctx context.Context, p Prompt) (h HookResult) {
		if p.Quoted || !asksUltra(p.own()) {
			return h
		}
		effort := highest(s().Model())
		if effort == "" {
			return h
		}
		if err := s().Submit(ctx, Override{Effort: effort}); err != nil {
			h.Notices = append(h.Notices, fmt.Sprintf("the effort stays as it is: %v", err))
			return h
		}
		h.Notices = append(h.Notices, fmt.Sprintf("%s: effort %s for this turn", ultraWord, effort))
		return h
	}
}

// own returns the user's text in the prompt.
func (p *Prompt) own() string {
	if p.Words != "" {
		return p.Words
	}
	var all []string
	for _, part := range p.Parts {
		if text, ok := part.(*msg.Text); ok {
			all = append(all, msg.OwnText(text.Text))
		}
	}
	return strings.Join(all, "\n")
}

// asksUltra reports whether a text contains the word outside of code and quotations.
func asksUltra(text string) bool {
	if !strings.Contains(strings.ToLower(text), ultraWord) { // fast path for almost all texts
		return false
	}
	fence := ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
			continue
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			fence = trimmed[:3]
			continue
		case strings.HasPrefix(trimmed, ">"), strings.HasPrefix(line, "\t"), strings.HasPrefix(line, "    "):
			continue
		}
		if hasUltra(line) {
			return true
		}
	}
	return false
}

// hasUltra reports whether a line contains the word by itself, outside of quotation marks.
func hasUltra(line string) bool {
	for _, at := range regexp.MustCompile("(?i)"+ultraWord).FindAllStringIndex(line, -1) {
		before, after := line[:at[0]], line[at[1]:]
		last, _ := utf8.DecodeLastRuneInString(before)
		next, size := utf8.DecodeRuneInString(after)
		further, _ := utf8.DecodeRuneInString(after[size:])
		inName := joins(last) || strings.ContainsRune("-./@#", last) && before != "" || joins(next) ||
			strings.ContainsRune("-/=(", next) && after != "" || next == '.' && joins(further)
		if !inName && !quoted(before, after) {
			return true
		}
	}
	return false
}

// joins reports whether a character is part of a word or a name.
func joins(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) && r < 0x2E80 || unicode.IsDigit(r) || r == '_')
}

// quoted reports whether quotation marks are open between two parts of a line.
func quoted(before, after string) bool {
	for _, mark := range []string{"\"", "`"} {
		if strings.Count(before, mark)%2 == 1 && strings.Contains(after, mark) {
			return true
		}
	}
	if strings.HasSuffix(before, "'") && strings.HasPrefix(after, "'") {
		return true
	}
	return strings.LastIndex(before, "“") > strings.LastIndex(before, "”") && strings.Contains(after, "”") ||
		strings.LastIndex(before, "「") > strings.LastIndex(before, "」") && strings.Contains(after, "」")
}
