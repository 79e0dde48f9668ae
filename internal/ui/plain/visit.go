package plain

import (
	"fmt"

	"adze/internal/session"
	"adze/internal/ui/ask"
	"adze/internal/ui/draw"
)

// quote writes the text of a server.
func quote(p *printer, text string) { p.lines(ask.Quote(text, p.width())) }

// A visitDialog asks whether to open a page, or whether the user is done with it.
type visitDialog struct{ session.Visit }

func (d *visitDialog) draw(p *printer) {
	if d.Opened {
		p.say(fmt.Sprintf("\nThe server %s waits until you are done at %s.", draw.Clean(d.From), d.Host))
		return
	}
	p.say("\n" + ask.ServerAsks(d.From) + ":")
	quote(p, d.Message)
	p.lines(draw.Wrap(draw.Row{{Text: "It wants you to open this page, at "}, {Role: draw.Strong, Text: draw.Clean(d.Host)}, {Text: ":"}}, p.width(), nil))
	p.lines(ask.Whole(d.URL, p.width()))
}

func (d *visitDialog) prompt() string {
	if d.Opened {
		return "Done? [y]es, [n]o to cancel: "
	}
	return "Open it in the browser? [y]es, [n]o: "
}

func (d *visitDialog) enter(_ *printer, text string) session.Reply {
	switch ask.ParseAnswer(text) {
	case ask.Yes:
		return session.Visited{Action: session.Accept, Open: !d.Opened}
	case ask.No:
		if d.Opened {
			return session.Visited{Action: session.Cancel}
		}
		return session.Visited{Action: session.Decline}
	}
	return nil
}

// A samplingDialog asks whether a server may query the model.
type samplingDialog struct{ session.Sampling }

func (d *samplingDialog) draw(p *printer) {
	p.say(fmt.Sprintf("\nThe server %s wants to ask the model this, for at most %d tokens:", draw.Clean(d.From), d.MaxTokens))
	quote(p, d.Text)
}

func (d *samplingDialog) prompt() string { return "Ask the model? [y]es, [n]o: " }

func (d *samplingDialog) enter(_ *printer, text string) session.Reply {
	switch ask.ParseAnswer(text) {
	case ask.Yes:
		return session.Filled{Action: session.Accept}
	case ask.No:
		return session.Filled{Action: session.Decline}
	}
	return nil
}
