package plain

import (
	"fmt"
	"strings"

	"adze/internal/permission"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/ask"
	"adze/internal/ui/draw"
)

// A permissionDialog asks whether a call may run.
type permissionDialog struct {
	session.Permission
	rest []draw.Row // lines to approve that the user has not seen yet
}

// draw writes the requester and reason first, and the proposed action last, so that it stays on
// the screen above the prompt.
func (d *permissionDialog) draw(p *printer) {
	if d.Agent != nil {
		p.say("\n" + tool.OneLine(d.Agent.String(), ask.MaxAbout) + " asks:")
	}
	title := ask.Title(&d.Question)
	switch change, ok := d.Preview.(tool.Diff); {
	case ok && d.Command == "" && !change.Partial:
		title += fmt.Sprintf(" +%d -%d", change.Added, change.Removed)
	case d.Command != "" && d.About != "":
		title += ": " + tool.OneLine(d.About, ask.MaxAbout)
	}
	p.say("\n" + title)
	if why := ask.Why(&d.Question); why != "" {
		p.say(why)
	}
	if text := ask.Lasting(&d.Question); text != "" {
		p.say("[a]lways: yes, and " + tool.OneLine(text, ask.MaxReason))
	}
	if d.Warning != "" {
		p.say("! " + d.Warning)
	}
	d.rest = d.lines(p)
	d.page(p, ask.MaxPage)
}

// lines returns everything the user has to see to approve the call.
func (d *permissionDialog) lines(p *printer) []draw.Row {
	var rows []draw.Row
	if d.Command != "" {
		rows = append(rows, ask.Whole(d.Command, p.width())...)
	}
	if d.Command == "" && d.Preview == nil && !d.NeedsPerson {
		rows = append(rows, ask.Input(d.Input, p.width())...)
	}
	if d.Preview != nil {
		p.shown[d.ID] = true
		preview := ask.Change(&d.Question, draw.Options{Dir: p.cfg.Dir, Glyphs: p.cfg.Glyphs})
		for _, row := range draw.Indent(preview, draw.Blanks(2), draw.Blanks(2)) {
			rows = append(rows, draw.Wrap(row, p.width(), draw.Blanks(2))...)
		}
	}
	return rows
}

// page writes the next lines, and the consent after the last one. If only a few lines would
// remain, they are written too.
func (d *permissionDialog) page(p *printer, max int) {
	n := min(max, len(d.rest))
	if len(d.rest)-n <= ask.MaxPage/10 {
		n = len(d.rest)
	}
	p.lines(d.rest[:n])
	if d.rest = d.rest[n:]; len(d.rest) == 0 && d.Consent != "" {
		p.say(d.Consent)
	}
}

func (d *permissionDialog) prompt() string {
	question := draw.Clean(ask.Question(&d.Question))
	switch {
	case len(d.rest) > 0:
		return fmt.Sprintf("%d more lines: Enter to show. [n]o, or type instructions instead: ", len(d.rest))
	case ask.Lasting(&d.Question) != "":
		return question + " [y]es, [a]lways, [n]o, or type instructions instead: "
	}
	return question + " [y]es, [n]o, or type instructions instead: "
}

func (d *permissionDialog) enter(p *printer, text string) session.Reply {
	word := ask.ParseAnswer(text)
	switch {
	case word == ask.No: // the turn ends, and the user takes over
		return session.Decision{Answer: permission.Answer{Behavior: permission.Deny, Interrupt: true}}
	case len(d.rest) > 0 && text == "":
		d.page(p, ask.MaxPage)
		return nil
	case text == "":
		return nil
	case len(d.rest) > 0 && word != ask.OtherAnswer: // nothing is approved half-seen
		d.page(p, len(d.rest))
		return nil
	case word == ask.Yes:
		return session.Decision{Answer: permission.Answer{Behavior: permission.Allow}}
	case word == ask.Always && len(d.Lasting()) > 0:
		return session.Decision{Answer: permission.Answer{Behavior: permission.Allow, Updates: d.Lasting()}}
	case word == ask.Always:
		p.say("adze asks about this each time. Answer yes or no.")
		return nil
	case len(strings.Fields(text)) == 1:
		p.say(fmt.Sprintf("Is %q a yes or a no? Answer yes or no, or type instructions as a sentence.", text))
		return nil
	}
	return session.Decision{Answer: permission.Answer{Behavior: permission.Deny, Message: text}}
}
