package mcp

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"adze/internal/mcp/roster"
	"adze/internal/platform/fs/trust"
	"adze/internal/platform/text/amount"
	"adze/internal/settings"
	"adze/internal/ui/console"
)

// Approve records whether the user wants a project server, with its current entry, to be
// started.
func Approve(ctx context.Context, p *settings.Project, e *roster.Entry, yes bool) error {
	is, other := trust.Server(e.Given, e.Raw), trust.NoServer(e.Given, e.Raw)
	if !yes {
		is, other = other, is
	}
	if err := p.Trust.Withdraw(ctx, other); err != nil {
		return err
	}
	return p.Trust.Keep(ctx, is)
}

// Ask prompts the user for the project servers that need approval: all, none or each. It
// reports whether anything was decided. Unanswered servers are offered again next time.
func Ask(ctx context.Context, c *console.Console, p *settings.Project, r *roster.Roster) (bool, error) {
	if len(r.Unapproved) == 0 || !p.Trust.Trusted() {
		return false, nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "This project has %s that you have not approved as they are now:\n", amount.Of(len(r.Unapproved), "MCP server", "MCP servers"))
	for _, e := range r.Unapproved {
		fmt.Fprintf(&b, "  %s: %s\n", e.Name, text(e))
	}
	// A long list may have scrolled off the screen, so the question repeats the names.
	q := console.Choice{
		Title: amount.Of(len(r.Unapproved), "MCP server", "MCP servers"), Body: b.String(),
		Question: fmt.Sprintf("Start %s from now on?", nameAll(r.Unapproved)),
		Answers:  []string{startAll: "Yes", startNone: "No", startLater: "Not now"}, Marked: startLater, Leaving: "not now",
	}
	if len(r.Unapproved) > 1 {
		q.Answers = append(q.Answers, "Choose for each server")
	}
	answer, err := c.Choose(q)
	if err != nil {
		return false, err
	}
	decided := false
	for _, e := range r.Unapproved {
		yes := false
		switch answer {
		case startAll:
			yes = true
		case startNone:
		case startSome:
			if yes, err = c.Confirm("Start " + e.Name + "?"); err != nil {
				return decided, err
			}
		default:
			return false, nil
		}
		if err := Approve(ctx, p, e, yes); err != nil {
			return decided, err
		}
		decided = true
	}
	return decided, nil
}

// Answers to the server approval question.
const (
	startAll = iota
	startNone
	startLater
	startSome
)

// text returns an entry's full text on one unambiguous line. Characters that are not printed as
// themselves are escaped.
func text(e *roster.Entry) string {
	var b strings.Builder
	for _, r := range trust.Server(e.Given, e.Raw).Text {
		if r == ' ' || unicode.IsGraphic(r) && !unicode.Is(unicode.Z, r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "\\u%04x", r)
		}
	}
	return b.String()
}

// Waiting returns a message naming the servers not started for lack of approval, or "".
func Waiting(p *settings.Project, r *roster.Roster) string {
	if len(r.Unapproved) == 0 || !p.Trust.Trusted() {
		return "" // the missing trust has been reported already
	}
	return fmt.Sprintf("MCP servers of this project that you have not approved are not started: %s; adze asks about them at a terminal, or use --trust", nameAll(r.Unapproved))
}

// nameAll lists servers by name, abbreviating long lists.
func nameAll(list []*roster.Entry) string {
	const most = 10
	var all []string
	for _, e := range list[:min(len(list), most)] {
		all = append(all, e.Name)
	}
	text := strings.Join(all, ", ")
	if n := len(list) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}
