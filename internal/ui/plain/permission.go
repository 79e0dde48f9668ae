package plain

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"adze/internal/permission"
	"adze/internal/platform/scope"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/draw"
)

// A permissionDialog asks whether a call may run.
type permissionDialog struct {
	session.Permission
	rest []draw.Row // lines of what is to be approved that the user has not seen yet
}

// Bounds of what the model words in a question, in characters. On one line it cannot pass for something else.
const (
	maxAbout  = 300
	maxReason = 2000
)

// maxPage is how many lines of what is to be approved are shown at a time.
const maxPage = 200

// draw writes who asks and why first, and last what would happen: it stays on the screen above the prompt.
func (d *permissionDialog) draw(p *printer) {
	if d.Agent != nil {
		p.say("\n" + tool.OneLine(d.Agent.String(), maxAbout) + " asks:")
	}
	switch name := firstOf(d.DisplayName, d.Tool); {
	case d.Command == "":
		p.say("\n" + firstOf(d.Title, name))
	case d.About != "":
		p.say("\n" + name + ": " + tool.OneLine(d.About, maxAbout))
	default:
		p.say("\n" + name)
	}
	if d.Reason.Text != "" && !d.NeedsPerson {
		p.say(sentence(tool.OneLine(d.Reason.Text, maxReason)))
	}
	if text := always(&d.Question); text != "" {
		p.say("[a]lways: " + tool.OneLine(text, maxReason))
	}
	if d.Warning != "" {
		p.say(d.Warning)
	}
	d.rest = d.lines(p)
	d.page(p, maxPage)
}

// lines returns all that the user has to see to approve the call.
func (d *permissionDialog) lines(p *printer) []draw.Row {
	var rows []draw.Row
	if d.Command != "" {
		for line := range strings.SplitSeq(strings.TrimRight(d.Command, "\n"), "\n") {
			rows = append(rows, draw.Wrap(draw.Line(draw.Text, "  "+draw.Clean(line)), p.width(), draw.Blanks(2))...)
		}
	}
	if d.Preview != nil {
		p.shown[d.ID] = true
		preview := draw.Rows(d.Preview, draw.Options{Dir: p.cfg.Dir, Proposed: true})
		for _, row := range draw.Indent(preview, draw.Blanks(2), draw.Blanks(2)) {
			rows = append(rows, draw.Wrap(row, p.width(), draw.Blanks(2))...)
		}
	}
	return rows
}

// page writes the next lines, and the consent after the last one. A few that would be left are written, too.
func (d *permissionDialog) page(p *printer, max int) {
	n := min(max, len(d.rest))
	if len(d.rest)-n <= maxPage/10 {
		n = len(d.rest)
	}
	p.lines(d.rest[:n])
	if d.rest = d.rest[n:]; len(d.rest) == 0 && d.Consent != "" {
		p.say(d.Consent)
	}
}

func (d *permissionDialog) prompt() string {
	switch {
	case len(d.rest) > 0:
		return fmt.Sprintf("%d more lines: Enter shows them. [n]o, or say what to do instead: ", len(d.rest))
	case d.Consent != "":
		return "Agree? [y]es, [n]o, or say what to do instead: "
	case always(&d.Question) != "":
		return "Allow? [y]es, [a]lways, [n]o, or say what to do instead: "
	}
	return "Allow? [y]es, [n]o, or say what to do instead: "
}

func (d *permissionDialog) enter(p *printer, text string) session.Reply {
	word := wordOf(text)
	switch {
	case word == saysNo: // the turn ends, and the user has the word
		return session.Decision{Answer: permission.Answer{Behavior: permission.Deny, Interrupt: true}}
	case len(d.rest) > 0 && text == "":
		d.page(p, maxPage)
		return nil
	case text == "":
		return nil
	case len(d.rest) > 0 && word != saysElse: // nothing is approved half-seen
		d.page(p, len(d.rest))
		return nil
	case word == saysYes:
		return session.Decision{Answer: permission.Answer{Behavior: permission.Allow}}
	case word == saysAlways && len(d.Suggestions) > 0:
		return session.Decision{Answer: permission.Answer{Behavior: permission.Allow, Updates: narrow(d.Suggestions)}}
	case word == saysAlways:
		p.say("This is asked about each time. Answer yes or no.")
		return nil
	case len(strings.Fields(text)) == 1:
		p.say(fmt.Sprintf("Is %q a yes or a no? Answer yes or no, or say in a sentence what to do instead.", text))
		return nil
	}
	return session.Decision{Answer: permission.Answer{Behavior: permission.Deny, Message: text}}
}

// A said is what a word says to a question.
type said uint8

const (
	saysElse said = iota
	saysYes
	saysAlways
	saysNo
)

// wordOf returns what a short answer says. A sentence says something else.
func wordOf(text string) said {
	switch strings.TrimRight(strings.ToLower(strings.Join(strings.Fields(text), " ")), ".!,") {
	case "y", "ye", "yes", "1", "ok", "okay", "k", "sure", "yep", "yeah", "yup", "ya", "aye", "fine", "go ahead", "do it",
		"yes please", "please do", "allow", "approve", "approved", "agree", "agreed", "accept",
		"j", "ja", "jo", "o", "oui", "si", "sí", "sim", "da", "tak", "hai", "да", "是", "是的", "好", "好的", "可以", "はい", "네", "예":
		return saysYes
	case "a", "always", "2", "yes always", "always yes", "immer", "toujours", "siempre", "sempre", "总是", "始终":
		return saysAlways
	case "n", "no", "3", "nope", "nah", "no thanks", "no thank you", "don't", "dont", "do not", "stop", "cancel", "abort", "deny", "reject",
		"refuse", "nein", "nee", "non", "não", "nao", "nie", "нет", "不", "不行", "否", "いいえ", "아니요":
		return saysNo
	}
	return saysElse
}

// always says what the suggestions would change, or nothing if there are none.
func always(q *permission.Question) string {
	var about, also []string
	where := ""
	for _, u := range narrow(q.Suggestions) {
		where = lasting(u.Destination)
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

// narrow returns the suggestions without those that are another choice than the one before.
func narrow(all []permission.Update) (list []permission.Update) {
	for _, u := range all {
		if !u.Wider {
			list = append(list, u)
		}
	}
	return list
}

// lasting says how long something holds that is kept there.
func lasting(s scope.Scope) string {
	switch s {
	case scope.Local, scope.Project:
		return "from now on in this project"
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

// sentence makes a sentence of a reason.
func sentence(text string) string {
	first, n := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + strings.TrimRight(text[n:], ".") + "."
}
