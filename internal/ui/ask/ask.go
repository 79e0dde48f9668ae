// Package ask provides the question texts shared by the terminal front ends: parsing short
// answers, describing offered permission rules, and attributing server questions.
package ask

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"adze/internal/permission"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/text/amount"
	"adze/internal/tool"
	"adze/internal/ui/draw"
)

// Limits on model-written text in a question, in characters. Confined to one line, it cannot
// imitate other parts of the dialog.
const (
	MaxAbout  = 300
	MaxReason = 2000
)

// MaxPage is the number of lines shown per page of content to approve. MaxPreview is the number
// of lines shown of an option's preview.
const (
	MaxPage    = 200
	MaxPreview = 30
)

// An AnswerKind classifies a short answer to a question.
type AnswerKind uint8

// The classes of answers.
const (
	OtherAnswer AnswerKind = iota
	Yes
	Always
	No
)

// ParseAnswer classifies a short answer. Anything longer, such as a sentence, is OtherAnswer.
func ParseAnswer(text string) AnswerKind {
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
	return OtherAnswer
}

// Lasting describes the changes a lasting yes would make; see [Changes].
func Lasting(q *permission.Question) string { return Changes(q, q.Lasting()) }

// Changes describes the effect and duration of a question's updates as a clause: "always allow
// `go test ...` in this project". It returns "" if updates is empty.
func Changes(q *permission.Question, updates []permission.Update) string {
	var allowed, also []string
	where := ""
	for _, u := range updates {
		where = howLong(u.Destination)
		for _, r := range u.Rules {
			allowed = append(allowed, matching(q, r))
		}
		for _, dir := range u.Directories {
			also = append(also, "work in "+dir)
		}
		if u.Mode == permission.AcceptEdits {
			also = append(also, "stop asking about edits")
		} else if u.Mode != "" {
			also = append(also, "switch to "+string(u.Mode)+" mode")
		}
	}
	if len(allowed) > 0 {
		also = append(also, "always allow "+strings.Join(allowed, ", "))
	}
	if len(also) == 0 {
		return ""
	}
	return strings.Join(also, ", and ") + " " + where
}

// Saved describes updates that were made, as a sentence.
func Saved(q *permission.Question, updates []permission.Update) string {
	var allowed []string
	where := ""
	for _, u := range updates {
		where = howLong(u.Destination)
		for _, r := range u.Rules {
			allowed = append(allowed, matching(q, r))
		}
		if len(u.Directories) > 0 || u.Mode != "" {
			return Sentence(Changes(q, updates))
		}
	}
	verb := " is allowed "
	if len(allowed) > 1 {
		verb = " are allowed "
	}
	return "Saved: " + strings.Join(allowed, ", ") + verb + where + "."
}

// howLong describes how long a rule saved in scope s applies.
func howLong(s scope.Scope) string {
	switch s {
	case scope.Local:
		return "in this project"
	case scope.Project:
		return "for everyone in this project"
	case scope.User:
		return "in all projects"
	}
	return "in this session"
}

// matching describes the calls a suggested rule would allow.
func matching(q *permission.Question, r permission.RuleValue) string {
	switch prefix, ok := strings.CutSuffix(r.Content, ":*"); {
	case r.Content == "":
		return "any call of " + r.Tool
	case q.Command != "" && unescape(r.Content) == strings.TrimSpace(q.Command):
		return "this exact command"
	case q.Command != "" && r.Tool == q.Tool && ok && !strings.ContainsAny(prefix, "*`"):
		return "`" + unescape(prefix) + " ...`"
	case q.Command != "" && r.Tool == q.Tool && !ok && !strings.ContainsAny(unescape(r.Content), "*`"):
		return "`" + unescape(r.Content) + "`"
	}
	return r.String()
}

// unescape converts a rule's content to a command.
func unescape(content string) string {
	return strings.NewReplacer(`\*`, "*", `\\`, `\`).Replace(content)
}

// Title names a call in a few words: what it does, or the programs that a command runs.
func Title(q *permission.Question) string {
	switch {
	case q.Command != "" && len(q.Programs) > 0:
		return "Run " + strings.Join(q.Programs, ", ")
	case q.Command != "":
		return "Run"
	case q.Title != "":
		return q.Title
	case q.DisplayName != "":
		return q.DisplayName
	}
	return q.Tool
}

// Question returns the question about a call: "Create helpers.go (212 lines)?".
func Question(q *permission.Question) string {
	title := strings.TrimRight(tool.OneLine(q.Title, MaxAbout), ".")
	d, diff := q.Preview.(tool.Diff)
	switch {
	case q.Draft != nil && q.Draft.Plan != nil:
		text := "Go ahead with this plan?"
		if asks := q.Draft.Plan.Asks; len(asks) > 0 {
			text += " Yes also allows: " + strings.Join(asks, "; ") + "."
		}
		return text
	case q.Consent != "":
		return "Do you agree?"
	case q.Command != "":
		return "Run this command?"
	case q.Server != "":
		return "Run this tool of the server " + q.Server + "?"
	case diff && d.Created && d.Partial:
		return "Create " + object(title) + "?"
	case diff && d.Created:
		return "Create " + object(title) + " (" + amount.Of(d.Added, "line", "lines") + ")?"
	case diff && (d.Partial || d.Added+d.Removed > 0):
		return "Apply this edit to " + object(title) + "?"
	case title == "":
		return "Use " + q.Tool + "?"
	}
	return title + "?"
}

// object returns a title without its verb.
func object(title string) string {
	if _, rest, ok := strings.Cut(title, " "); ok {
		return rest
	}
	return title
}

// Why returns the reason for a question as a sentence, or "" if the question is
// self-explanatory.
func Why(q *permission.Question) string {
	text := q.Reason.Brief()
	if text == "" || q.NeedsPerson || q.Reason.Type() == permission.ByMode {
		return ""
	}
	return Sentence(tool.OneLine(text, MaxReason))
}

// Sentence formats a reason as a sentence.
func Sentence(text string) string {
	first, n := utf8.DecodeRuneInString(text)
	if strings.HasPrefix(text, "adze ") { // a name
		return strings.TrimRight(text, ".") + "."
	}
	return string(unicode.ToUpper(first)) + strings.TrimRight(text[n:], ".") + "."
}

// ServerAsks attributes a question to a server.
func ServerAsks(name string) string { return "The server " + draw.Clean(name) + " asks" }

// Asks attributes a question to who.
func Asks(who string) string { return "The " + draw.Clean(who) + " asks" }

// Quote returns the text of a server or hook behind a bar, so that it cannot be mistaken for
// adze's own text.
func Quote(text string, width int) []draw.Row {
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	var rows []draw.Row
	for line := range strings.SplitSeq(text, "\n") {
		rows = append(rows, draw.Wrap(draw.Line(draw.Text, "  | "+draw.CleanQuestion(line)), width, draw.Line(draw.Text, "  | "))...)
	}
	return rows
}
