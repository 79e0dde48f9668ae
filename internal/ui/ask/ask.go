// Package ask holds the words of questions that every front end at a terminal uses: what a short answer says, what a rule
// that is offered would allow, whose words a server's are. How a question looks and is answered is left to the front ends.
package ask

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"adze/internal/permission"
	"adze/internal/platform/scope"
	"adze/internal/ui/draw"
)

// Bounds of what the model words in a question, in characters. On one line it cannot pass for something else.
const (
	MaxAbout  = 300
	MaxReason = 2000
)

// MaxPage is how many lines of what is to be approved are shown at a time, and MaxPreview how many of the preview of an
// option.
const (
	MaxPage    = 200
	MaxPreview = 30
)

// A Said is what a word says to a question.
type Said uint8

// What a word says.
const (
	Else Said = iota
	Yes
	Always
	No
)

// Word returns what a short answer says. A sentence says something else.
func Word(text string) Said {
	switch strings.TrimRight(strings.ToLower(strings.Join(strings.Fields(text), " ")), ".!,") {
	case "y", "ye", "yes", "1", "ok", "okay", "k", "sure", "yep", "yeah", "yup", "ya", "aye", "fine", "go ahead", "do it",
		"yes please", "please do", "allow", "approve", "approved", "agree", "agreed", "accept",
		"j", "ja", "jo", "o", "oui", "si", "sí", "sim", "da", "tak", "hai", "да", "是", "是的", "好", "好的", "可以", "はい", "네", "예":
		return Yes
	case "a", "always", "2", "yes always", "always yes", "immer", "toujours", "siempre", "sempre", "总是", "始终":
		return Always
	case "n", "no", "3", "nope", "nah", "no thanks", "no thank you", "don't", "dont", "do not", "stop", "cancel", "abort", "deny", "reject",
		"refuse", "nein", "nee", "non", "não", "nao", "nie", "нет", "不", "不行", "否", "いいえ", "아니요":
		return No
	}
	return Else
}

// Lasting says what the suggestions of a question would change and for how long, or nothing if there are none.
func Lasting(q *permission.Question) string { return Changes(q, Narrow(q.Suggestions)) }

// Changes says what updates of a question would change and for how long, or nothing if there are none.
func Changes(q *permission.Question, updates []permission.Update) string {
	var about, also []string
	where := ""
	for _, u := range updates {
		where = howLong(u.Destination)
		for _, r := range u.Rules {
			about = append(about, matching(q, r))
		}
		for _, dir := range u.Directories {
			also = append(also, "work in "+dir+" too")
		}
		if u.Mode == permission.AcceptEdits {
			also = append(also, "allow all edits in the working directories")
		} else if u.Mode != "" {
			also = append(also, "switch to mode "+string(u.Mode))
		}
	}
	if len(about) > 0 {
		also = append(also, "do not ask again about "+strings.Join(about, ", "))
	}
	if len(also) == 0 {
		return ""
	}
	return strings.Join(also, ", and ") + ", " + where + "."
}

// Narrow returns the suggestions without those that are another choice than the one before.
func Narrow(all []permission.Update) (list []permission.Update) {
	for _, u := range all {
		if !u.Wider {
			list = append(list, u)
		}
	}
	return list
}

// howLong says how long something holds that is kept there.
func howLong(s scope.Scope) string {
	switch s {
	case scope.Local:
		return "from now on in this project"
	case scope.Project:
		return "from now on in this project, for all who share its settings"
	case scope.User:
		return "from now on in all projects"
	}
	return "for the rest of this session"
}

// matching says which calls a rule that is suggested would allow.
func matching(q *permission.Question, r permission.RuleValue) string {
	switch {
	case r.Content == "":
		return "any call of " + r.Tool
	case q.Command != "" && strings.NewReplacer(`\*`, "*", `\\`, `\`).Replace(r.Content) == strings.TrimSpace(q.Command):
		return "exactly this command"
	}
	return r.String()
}

// Sentence makes a sentence of a reason.
func Sentence(text string) string {
	first, n := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + strings.TrimRight(text[n:], ".") + "."
}

// ServerAsks says whose words follow, and Asks the same of anyone.
func ServerAsks(name string) string { return "The server " + draw.Clean(name) + " asks:" }

// Asks says who asks what follows.
func Asks(who string) string { return "The " + draw.Clean(who) + " asks:" }

// Quote returns the words of a server or a hook behind a bar, so that they cannot pass for the program's own.
func Quote(text string, width int) []draw.Row {
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	var rows []draw.Row
	for line := range strings.SplitSeq(text, "\n") {
		rows = append(rows, draw.Wrap(draw.Line(draw.Text, "  | "+draw.Asked(line)), width, draw.Line(draw.Text, "  | "))...)
	}
	return rows
}
