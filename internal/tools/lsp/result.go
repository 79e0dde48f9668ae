package lsp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"adze/internal/lsp"
	"adze/internal/platform/term"
	"adze/internal/tool"
)

const (
	// maxLocations limits the locations in a result, and maxHover the characters of a description.
	maxLocations = 200
	maxHover     = 8000
	// maxLine limits the characters shown of a line.
	maxLine = 200
	// diagnosticsTime is how long a request for diagnostics waits for them.
	diagnosticsTime = 15 * time.Second
)

// A place is a line of a result: a location and a text.
type place struct {
	path string
	line int // one-based
	text string
}

// list returns places as text. Files that a rule hides are counted instead.
func (c *call) list(places []place, empty string) tool.Result {
	var b strings.Builder
	hidden := 0
	for i, p := range places {
		if i == maxLocations {
			fmt.Fprintf(&b, "and %d more\n", len(places)-i)
			break
		}
		if p.path == "" || c.Hidden(p.path) {
			hidden++
			continue
		}
		fmt.Fprintf(&b, "%s:%d", c.shown(p.path), p.line)
		if p.text != "" {
			b.WriteString(": " + p.text)
		}
		b.WriteByte('\n')
	}
	if hidden > 0 {
		fmt.Fprintf(&b, "%d in files that are not shown\n", hidden)
	}
	if b.Len() == 0 {
		return tool.Text(empty)
	}
	return tool.Text(strings.TrimSuffix(b.String(), "\n"))
}

// locations returns locations with their lines. The lines of files outside the working directories
// are not read.
func (c *call) locations(list []lsp.Location, err error) (tool.Result, error) {
	if err != nil {
		return tool.Result{}, err
	}
	texts := map[string][]string{}
	var places []place
	for _, l := range list[:min(len(list), 50*maxLocations)] {
		p := place{path: lsp.Path(l.URI), line: max(l.Range.Start.Line, 0) + 1}
		if p.path != "" && len(places) < maxLocations && c.inside(p.path) && !c.Hidden(p.path) {
			lines, ok := texts[p.path]
			if !ok {
				text, _ := lsp.ReadFile(p.path) // ok: the line is not shown then
				lines = strings.Split(text, "\n")
				texts[p.path] = lines
			}
			if p.line <= len(lines) {
				p.text = tool.OneLine(lines[p.line-1], maxLine)
			}
		}
		places = append(places, p)
	}
	return c.list(places, fmt.Sprintf("The language server found nothing for %s.", c.in.Symbol)), nil
}

func (c *call) hover(text string, err error) (tool.Result, error) {
	text = term.Strip(strings.ToValidUTF8(text, "\uFFFD"))
	switch {
	case err != nil:
		return tool.Result{}, err
	case text == "":
		return tool.Text(fmt.Sprintf("The language server knows nothing about %s.", c.in.Symbol)), nil
	case len(text) > maxHover:
		text = strings.ToValidUTF8(text[:maxHover], "") + "…"
	}
	return tool.Text(text), nil
}

// symbols returns symbols with their kinds; nested ones are indented.
func (c *call) symbols(list []lsp.Symbol, err error) (tool.Result, error) {
	if err != nil {
		return tool.Result{}, err
	}
	var places []place
	var add func(list []lsp.Symbol, depth int)
	add = func(list []lsp.Symbol, depth int) {
		for _, s := range list {
			if len(places) > 50*maxLocations || depth > 10 {
				return
			}
			p := place{path: lsp.Path(s.Location.URI), line: s.Location.Range.Start.Line + 1}
			if s.Location.URI == "" {
				p = place{path: c.path, line: s.SelectionRange.Start.Line + 1}
			}
			p.text = strings.Repeat("  ", depth) + kindName(s.Kind) + " " + tool.OneLine(s.Name, maxLine)
			if s.ContainerName != "" {
				p.text += " in " + tool.OneLine(s.ContainerName, maxLine)
			}
			places = append(places, p)
			add(s.Children, depth+1)
		}
	}
	add(list, 0)
	slices.SortStableFunc(places, func(a, b place) int { // the project first
		return cmp.Compare(outside(c, a), outside(c, b))
	})
	return c.list(places, "The language server found no symbols."), nil
}

// outside returns 1 for a place outside the working directories.
func outside(c *call, p place) int {
	if c.inside(p.path) {
		return 0
	}
	return 1
}

// kindName returns the name of a kind of symbol.
func kindName(kind int) string {
	names := []string{
		"symbol", "file", "module", "namespace", "package", "class", "method", "property", "field", "constructor", "enum", "interface", "function",
		"variable", "constant", "string", "number", "boolean", "array", "object", "key", "null", "enum member", "struct", "event", "operator", "type parameter",
	}
	if kind < 0 || kind >= len(names) {
		kind = 0
	}
	return names[kind]
}

func (c *call) calls(list []lsp.CallItem, err error) (tool.Result, error) {
	if err != nil {
		return tool.Result{}, err
	}
	var places []place
	for _, item := range list {
		places = append(places, place{lsp.Path(item.URI), item.SelectionRange.Start.Line + 1, kindName(item.Kind) + " " + tool.OneLine(item.Name, maxLine)})
	}
	return c.list(places, fmt.Sprintf("The language server found no calls for %s.", c.in.Symbol)), nil
}

// diagnostics returns the problems of the file.
func (c *call) diagnostics(ctx context.Context) (tool.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, diagnosticsTime)
	defer cancel()
	c.Servers.Await(ctx, c.path)
	r, ok := c.Servers.Report(c.path)
	if !ok {
		return tool.Text("The language server has not reported on this file. Not every server does."), nil
	}
	var places []place
	for _, p := range r.Problems {
		text := fmt.Sprintf("%s: %s", p.Severity, p.Message)
		if p.Code != "" {
			text += " [" + p.Code + "]"
		}
		places = append(places, place{p.Path, p.Line, text})
	}
	return c.list(places, "No errors and no warnings."), nil
}

// actions lists the actions for the line, or applies the named one.
func (c *call) actions(ctx context.Context, d *lsp.Document) (tool.Result, error) {
	if c.in.Line > 0 {
		wait, cancel := context.WithTimeout(ctx, diagnosticsTime)
		defer cancel()
		c.Servers.Await(wait, c.path) // quick fixes are for diagnostics
	}
	list, err := d.Actions(ctx, c.in.Line-1)
	if err != nil {
		return tool.Result{}, err
	}
	var titles []string
	for _, a := range list[:min(len(list), maxLocations)] {
		title := tool.OneLine(a.Title, maxLine)
		if c.in.Action != "" && title == strings.TrimSpace(c.in.Action) {
			edit, err := d.Resolve(ctx, a)
			if err != nil {
				return tool.Result{}, err
			}
			return c.apply(ctx, edit, "")
		}
		if !slices.Contains(titles, title) {
			titles = append(titles, title)
		}
	}
	switch {
	case titles == nil:
		return tool.Text(fmt.Sprintf("The language server offers no changes for line %d.", c.in.Line)), nil
	case c.in.Action != "":
		return tool.Result{}, fmt.Errorf("the language server offers no change called %q for line %d. It offers:\n%s", c.in.Action, c.in.Line, strings.Join(titles, "\n"))
	}
	return tool.Text(strings.Join(titles, "\n")), nil
}
