package mcptool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"adze/internal/mcp"
	"adze/internal/mcp/content"
	"adze/internal/msg"
	"adze/internal/platform/text/amount"
	"adze/internal/tool"
)

// Input is the tool's input as it will be sent.
type Input struct{ sent json.RawMessage }

// MarshalJSON returns the input itself.
func (in Input) MarshalJSON() ([]byte, error) { return in.sent, nil }

// A call is a call of a server's tool.
type call struct {
	*serverTool
	in Input
}

func (c *call) Input() any { return c.in }

// A server's hints determine how calls are shown and which run in parallel, never whether a
// call may run. In plan mode a tool without the read-only hint is denied, and a tool with it
// needs confirmation.
func (c *call) ReadOnly() bool      { return claims(c.about.ReadOnly, false) }
func (c *call) Concurrent() bool    { return claims(c.about.ReadOnly, false) }
func (c *call) Destructive() bool   { return claims(c.about.Destructive, false) }
func (c *call) OpenWorld() bool     { return claims(c.about.OpenWorld, true) }
func (c *call) DisplayName() string { return c.displayName() }
func (c *call) Activity() string    { return c.displayName() }

func claims(hint *bool, absent bool) bool {
	if hint == nil {
		return absent
	}
	return *hint
}

// Title returns the tool's name and, if there is room, its input.
func (c *call) Title() string {
	if bytes.Equal(bytes.TrimSpace(c.in.sent), []byte("{}")) {
		return c.displayName()
	}
	return c.displayName() + " " + shown(c.in.sent)
}

// maxPreview is the maximum number of characters of the arguments in a dialog.
const maxPreview = 10_000

// Preview shows the server and all data that would be sent.
func (c *call) Preview(context.Context) (tool.Display, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, tool %s of server %s\n", c.name, shownText(c.about.Name), c.server.Name)
	switch {
	case claims(c.about.Destructive, false) && !c.ReadOnly():
		b.WriteString("The server marks this tool as destructive.\n")
	case c.ReadOnly():
		b.WriteString("The server marks this tool as read-only.\n")
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, c.in.sent, "", "  "); err != nil {
		return nil, err
	}
	text := []rune(escaped(indented.String()))
	if len(text) > maxPreview {
		fmt.Fprintf(&b, "%s\n… and %d more characters, which are sent as well", string(text[:maxPreview]), len(text)-maxPreview)
	} else {
		b.WriteString(string(text))
	}
	return tool.Plain{Text: b.String()}, nil
}

// shown returns JSON on one line, without characters that could hide text.
func shown(data json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, data) != nil {
		return escaped(string(data))
	}
	return escaped(b.String())
}

func shownText(text string) string { return escaped(tool.OneLine(text, maxTitle)) }

// escaped escapes invisible and bidirectional control characters as in JSON.
func escaped(text string) string {
	if !strings.ContainsFunc(text, hides) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if hides(r) {
			quoted := strconv.QuoteToASCII(string(r))
			b.WriteString(quoted[1 : len(quoted)-1])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func hides(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }

// Run calls the tool.
func (c *call) Run(ctx context.Context, report func(tool.Progress)) (tool.Result, error) {
	res, err := c.cfg.Call(ctx, c.server.Name, c.about.Name, c.in.sent, func(p mcp.Progress) {
		if text := progress(p); text != "" {
			report(tool.Progress{Display: tool.Plain{Text: text}})
		}
	})
	if err != nil {
		return tool.Result{}, c.attribute(err)
	}
	if ctx.Err() != nil {
		return tool.Result{}, context.Cause(ctx)
	}
	return c.result(ctx, res), nil
}

// attribute adds the server's name to an error that does not contain it.
func (c *call) attribute(err error) error {
	if strings.Contains(err.Error(), "server "+c.server.Name) || strings.HasPrefix(err.Error(), c.server.Name) || errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("the server %s reports an error: %w", c.server.Name, err)
}

// progress formats the progress of a call, such as "3 of 10: copying".
func progress(p mcp.Progress) string {
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	done := number(p.Done)
	switch {
	case p.Total > 0:
		done += " of " + number(p.Total)
	case p.Done <= 0:
		done = ""
	}
	text := tool.OneLine(p.Text, 200)
	switch {
	case done == "" || text == "":
		return done + text
	}
	return done + ": " + text
}

// result returns the result of a call. Its first line names the source of the text.
func (c *call) result(ctx context.Context, res *mcp.Result) tool.Result {
	rendered := c.cfg.Content.Render(ctx, content.Source{Server: c.server.Name, Name: c.about.Name}, res.Content, res.Structured)
	r := tool.Result{IsError: res.IsError, Structured: outputOf(res, &rendered)}
	says := "The server " + c.server.Name + " returned"
	if res.IsError {
		says = "The server " + c.server.Name + " reports an error"
	}
	pictures := 0
	for _, part := range rendered.Parts {
		if t, ok := part.(*msg.Text); ok {
			part = &msg.Text{Text: says + ":\n" + t.Text}
		} else {
			pictures++
		}
		r.Parts = append(r.Parts, part)
	}
	shown := rendered.Text
	switch {
	case len(r.Parts) == 0 && res.IsError:
		shown = says + " without a description."
		r.Parts = []msg.Part{&msg.Text{Text: shown}}
	case len(r.Parts) == 0:
		shown = says + " nothing."
		r.Parts = []msg.Part{&msg.Text{Text: shown}}
	case shown == "":
		shown = amount.Of(pictures, "picture", "pictures")
	}
	if cut := []rune(shown); len(cut) > maxDisplay {
		shown = string(cut[:maxDisplay]) + "…"
	}
	r.Display = tool.Plain{Text: shown}
	return r
}

// maxDisplay is the maximum number of characters of a result passed to front ends.
const maxDisplay = 10_000
