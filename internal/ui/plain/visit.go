package plain

import (
	"fmt"
	"strings"

	"adze/internal/session"
	"adze/internal/ui/draw"
)

// serverAsks says whose words follow.
func serverAsks(name string) string { return "The server " + draw.Clean(name) + " asks:" }

// quote writes the words of a server behind a bar, so that they cannot pass for the program's own.
func quote(p *printer, text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		p.lines(draw.Wrap(draw.Line(draw.Text, "  | "+draw.Clean(line)), p.width(), draw.Line(draw.Text, "  | ")))
	}
}

// A visitDialog asks whether to open a page, or whether the user is done with it.
type visitDialog struct{ session.Visit }

func (d *visitDialog) draw(p *printer) {
	if d.Opened {
		p.say(fmt.Sprintf("\nThe server %s waits until you are done at %s.", draw.Clean(d.From), d.Host))
		return
	}
	p.say("\n" + serverAsks(d.From))
	quote(p, d.Message)
	p.lines(draw.Wrap(draw.Row{{Text: "It wants you to open this page, at "}, {Role: draw.Strong, Text: draw.Clean(d.Host)}, {Text: ":"}}, p.width(), nil))
	p.lines(draw.Wrap(draw.Line(draw.Text, "  "+draw.Clean(d.URL)), p.width(), draw.Blanks(2)))
}

func (d *visitDialog) prompt() string {
	if d.Opened {
		return "Done? [y]es, [n]o to cancel: "
	}
	return "Open it in the browser? [y]es, [n]o: "
}

func (d *visitDialog) enter(_ *printer, text string) session.Reply {
	switch wordOf(text) {
	case saysYes:
		return session.Visited{Action: session.Accept, Open: !d.Opened}
	case saysNo:
		if d.Opened {
			return session.Visited{Action: session.Cancel}
		}
		return session.Visited{Action: session.Decline}
	}
	return nil
}

// A samplingDialog asks whether a server may ask the model something.
type samplingDialog struct{ session.Sampling }

func (d *samplingDialog) draw(p *printer) {
	p.say(fmt.Sprintf("\nThe server %s wants to ask the model this, for at most %d tokens:", draw.Clean(d.From), d.MaxTokens))
	quote(p, d.Text)
}

func (d *samplingDialog) prompt() string { return "Ask the model? [y]es, [n]o: " }

func (d *samplingDialog) enter(_ *printer, text string) session.Reply {
	switch wordOf(text) {
	case saysYes:
		return session.Filled{Action: session.Accept}
	case saysNo:
		return session.Filled{Action: session.Decline}
	}
	return nil
}
