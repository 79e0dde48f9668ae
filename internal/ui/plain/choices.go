package plain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"adze/internal/platform/term"
	"adze/internal/session"
	"adze/internal/ui/ask"
	"adze/internal/ui/draw"
)

// A choicesDialog asks for one choice after the other.
type choicesDialog struct {
	session.Choices
	chosen [][]string
}

func (d *choicesDialog) item() session.Choice { return d.Items[len(d.chosen)] }

func (d *choicesDialog) draw(p *printer) {
	c := d.item()
	text := c.Text
	if c.Header != "" {
		text = c.Header + ": " + text
	}
	if d.From == "" {
		p.say("\n" + term.SpellControls(text))
	} else {
		p.say("\n" + ask.Asks(d.From) + ":")
		quote(p, text)
	}
	drawOptions(p, c.Options)
}

func drawOptions(p *printer, options []session.Option) {
	for i, o := range options {
		line := fmt.Sprintf("%3d. %s", i+1, o.Label)
		if o.Description != "" {
			line += ": " + o.Description
		}
		p.lines(draw.Wrap(draw.Line(draw.Text, draw.CleanQuestion(line)), p.width(), draw.Blanks(len("  1. "))))
		p.lines(ask.Preview(o))
	}
}

func (d *choicesDialog) prompt() string {
	what := "Number"
	if d.item().Multiple {
		what = "Numbers separated by commas"
	}
	skip := "Enter skips the question"
	if len(d.Items) > 1 {
		skip += ", " + declined + " all of them"
	}
	if !d.item().Closed {
		what += ", or your own answer"
	}
	return what + " (" + skip + "): "
}

func (d *choicesDialog) enter(p *printer, text string) session.Reply {
	if text == declined {
		return session.Selection{Declined: true}
	}
	labels := chosen(d.item(), text)
	if wrong := unoffered(d.item(), labels); wrong != "" {
		p.say(wrong)
		return nil
	}
	d.chosen = append(d.chosen, labels)
	if len(d.chosen) < len(d.Items) {
		d.draw(p)
		return nil
	}
	for _, labels := range d.chosen {
		if len(labels) > 0 {
			return session.Selection{Chosen: d.chosen}
		}
	}
	return session.Selection{Declined: true}
}

// unoffered returns why labels do not answer a closed choice, or "".
func unoffered(c session.Choice, labels []string) string {
	for _, label := range labels {
		if c.Closed && !slices.ContainsFunc(c.Options, func(o session.Option) bool { return o.Label == label }) {
			return "This is not an option. Enter a number, or nothing to skip the question."
		}
	}
	return ""
}

// chosen returns the labels a line selects: none, options by their numbers, or the text itself.
func chosen(c session.Choice, text string) []string {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	if c.Multiple {
		if several := labels(c, text); several != nil {
			return several
		}
	}
	named, _ := label(c, text)
	return []string{named}
}

// label returns the label of the option with that number and true, otherwise the text and
// false.
func label(c session.Choice, text string) (string, bool) {
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(c.Options) {
		return c.Options[n-1].Label, true
	}
	return text, false
}

// labels returns the labels for the numbers in a list, and any other items verbatim. It returns
// nil if the text contains no number: a comma may belong to a sentence.
func labels(c session.Choice, text string) []string {
	var all []string
	numbers := false
	seen := map[string]bool{}
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		named, number := label(c, part)
		numbers = numbers || number
		if part != "" && !seen[named] {
			seen[named] = true
			all = append(all, named)
		}
	}
	if !numbers {
		return nil
	}
	return all
}
