package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// requestTries limits how often a request is repeated that failed because a file changed.
const requestTries = 3

// A Document is a file that is open in a server, for requests.
type Document struct {
	Path, Text string
	Server     string // name
	uri        string
	client     *client
	caps       capabilities
}

// errNoServer is the error for a file without a server.
var errNoServer = errors.New("no language server")

// Use opens a file in its server, starting the server if necessary. It waits until the server is
// ready, or ctx is done.
func (s *Servers) Use(ctx context.Context, path string, roots []string) (*Document, error) {
	text, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	c := s.client(path, roots, true)
	if c == nil {
		return nil, s.missing(path, roots)
	}
	c.set(path, text, true, s.cfg.Now())
	sent := make(chan struct{})
	c.mu.Lock()
	c.do(func() { close(sent) })
	c.mu.Unlock()
	select {
	case <-sent:
	case <-c.conn.gone:
		return nil, c.conn.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return &Document{path, text, c.server.Name, URI(path), c, c.caps}, nil
}

// missing returns why no server serves a file.
func (s *Servers) missing(path string, roots []string) error {
	var names []string
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.servers() {
		if d.language(path) == "" {
			continue
		}
		names = append(names, d.Command)
		for k, e := range s.entries {
			if k.name == d.Name && e.err != nil && within(path, []string{k.root}) != "" {
				return fmt.Errorf("the language server %s is not running: %s; /lsp restart tries again", d.Name, line(e.err.Error()))
			}
		}
	}
	switch {
	case within(path, roots) == "":
		return fmt.Errorf("%w serves files outside the working directories", errNoServer)
	case names == nil:
		return fmt.Errorf("%w is known for this kind of file", errNoServer)
	}
	return fmt.Errorf("%w for this file is installed (%s)", errNoServer, strings.Join(names, " or "))
}

// request sends a request about the document. Provider is the capability that it needs.
func (d *Document) request(ctx context.Context, provider json.RawMessage, method string, params, result any) error {
	if !provided(provider) {
		return fmt.Errorf("%s does not support this", d.Server)
	}
	for try := 1; ; try++ {
		err := d.client.conn.call(ctx, method, params, result)
		var refused *responseError
		if try == requestTries || !errors.As(err, &refused) || refused.Code != codeContentModified && refused.Code != codeCancelled {
			return err
		}
	}
}

// The function at returns the parameters for a position.
func (d *Document) at(p Position) object {
	return object{"textDocument": object{"uri": d.uri}, "position": p}
}

// Definition returns where the name at p is defined.
func (d *Document) Definition(ctx context.Context, p Position) ([]Location, error) {
	return d.locations(ctx, d.caps.Definition, "textDocument/definition", d.at(p))
}

// Implementation returns the implementations of the name at p.
func (d *Document) Implementation(ctx context.Context, p Position) ([]Location, error) {
	return d.locations(ctx, d.caps.Implementation, "textDocument/implementation", d.at(p))
}

// References returns the uses of the name at p, and its declaration.
func (d *Document) References(ctx context.Context, p Position) ([]Location, error) {
	params := d.at(p)
	params["context"] = object{"includeDeclaration": true}
	return d.locations(ctx, d.caps.References, "textDocument/references", params)
}

// locations decodes a location, a list of them, or a list of links.
func (d *Document) locations(ctx context.Context, provider json.RawMessage, method string, params object) ([]Location, error) {
	var raw json.RawMessage
	if err := d.request(ctx, provider, method, params, &raw); err != nil {
		return nil, err
	}
	type link struct {
		Location
		TargetURI            string `json:"targetUri"`
		TargetSelectionRange Range  `json:"targetSelectionRange"`
	}
	var links []link
	if json.Unmarshal(raw, &links) != nil {
		var one *link
		if json.Unmarshal(raw, &one) == nil && one != nil {
			links = []link{*one}
		}
	}
	var list []Location
	for _, l := range links {
		if l.TargetURI != "" {
			l.Location = Location{l.TargetURI, l.TargetSelectionRange}
		}
		if !slices.Contains(list, l.Location) {
			list = append(list, l.Location)
		}
	}
	return list, nil
}

// Hover returns the server's description of the name at p, or "".
func (d *Document) Hover(ctx context.Context, p Position) (string, error) {
	var hover struct {
		Contents json.RawMessage `json:"contents"`
	}
	if err := d.request(ctx, d.caps.Hover, "textDocument/hover", d.at(p), &hover); err != nil {
		return "", err
	}
	return strings.TrimSpace(hoverText(hover.Contents)), nil
}

// hoverText returns a string, an object with a value, or a list of these as text.
func hoverText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		var parts []string
		for _, one := range list {
			if len(one) > 0 && one[0] != '[' {
				parts = append(parts, hoverText(one))
			}
		}
		return strings.Join(parts, "\n")
	}
	var marked struct{ Value string }
	json.Unmarshal(raw, &marked) // ok: empty then
	return marked.Value
}

// Symbols returns the symbols of the document.
func (d *Document) Symbols(ctx context.Context) (list []Symbol, err error) {
	err = d.request(ctx, d.caps.DocumentSymbol, "textDocument/documentSymbol", object{"textDocument": object{"uri": d.uri}}, &list)
	return list, err
}

// WorkspaceSymbols returns the symbols of the project that match a query.
func (d *Document) WorkspaceSymbols(ctx context.Context, query string) (list []Symbol, err error) {
	err = d.request(ctx, d.caps.WorkspaceSymbol, "workspace/symbol", object{"query": query}, &list)
	return list, err
}

// Calls returns the functions that call the one at p or, if outgoing is true, that it calls.
func (d *Document) Calls(ctx context.Context, p Position, outgoing bool) (list []CallItem, err error) {
	var items []CallItem
	if err := d.request(ctx, d.caps.CallHierarchy, "textDocument/prepareCallHierarchy", d.at(p), &items); err != nil {
		return nil, err
	}
	method := "callHierarchy/incomingCalls"
	if outgoing {
		method = "callHierarchy/outgoingCalls"
	}
	for _, item := range items[:min(len(items), 3)] {
		var calls []struct{ From, To CallItem }
		if err := d.request(ctx, d.caps.CallHierarchy, method, object{"item": item}, &calls); err != nil {
			return nil, err
		}
		for _, c := range calls {
			if outgoing {
				c.From = c.To
			}
			list = append(list, c.From)
		}
	}
	return list, nil
}

// Rename returns the edit that renames the name at p.
func (d *Document) Rename(ctx context.Context, p Position, name string) (edit *WorkspaceEdit, err error) {
	params := d.at(p)
	params["newName"] = name
	err = d.request(ctx, d.caps.Rename, "textDocument/rename", params, &edit)
	return edit, err
}

// Actions returns the changes that the server offers for a line, from 0, given its diagnostics. Commands
// are left out: their effects are not known in advance, so that they cannot be judged.
func (d *Document) Actions(ctx context.Context, line int) (list []CodeAction, err error) {
	start, end := lineBounds(d.Text, line)
	in := Range{Position{Line: line}, PositionAt(d.Text, end)}
	diagnostics := []Diagnostic{}
	d.client.mu.Lock()
	if open := d.client.docs[d.Path]; open != nil && start <= end {
		for _, g := range slices.Concat(open.push, open.pull) {
			if g.Range.Start.Line <= line && line <= g.Range.End.Line {
				diagnostics = append(diagnostics, g)
			}
		}
	}
	d.client.mu.Unlock()
	var raws []json.RawMessage
	err = d.request(ctx, d.caps.CodeAction, "textDocument/codeAction", object{
		"textDocument": object{"uri": d.uri}, "range": in, "context": object{"diagnostics": diagnostics, "triggerKind": 1},
	}, &raws)
	for _, raw := range raws {
		var a CodeAction
		if json.Unmarshal(raw, &a) == nil && a.Title != "" && a.Disabled == nil && (a.Edit != nil || len(a.Data) > 0) {
			a.raw = raw
			list = append(list, a)
		}
	}
	return list, err
}

// Resolve returns the edit of an action.
func (d *Document) Resolve(ctx context.Context, a CodeAction) (*WorkspaceEdit, error) {
	if a.Edit == nil {
		if err := d.request(ctx, d.caps.CodeAction, "codeAction/resolve", a.raw, &a); err != nil {
			return nil, err
		}
	}
	if a.Edit == nil {
		return nil, fmt.Errorf("the change %q is not an edit", line(a.Title))
	}
	return a.Edit, nil
}

// maxEdits limits the edits that a server may request at a time.
const maxEdits = 20_000

// Files returns an edit's changes by absolute path. It fails if the edit creates, renames or deletes
// files, or names anything that is not a file.
func (e *WorkspaceEdit) Files() (map[string][]TextEdit, error) {
	files := map[string][]TextEdit{}
	if e == nil {
		return files, nil
	}
	n := 0
	add := func(uri string, edits []TextEdit) error {
		path := Path(uri)
		if path == "" {
			return fmt.Errorf("the server wants to edit %s, which is not a file", line(uri))
		}
		if n += len(edits); n > maxEdits {
			return fmt.Errorf("the server wants to make more than %d edits", maxEdits)
		}
		if len(edits) > 0 {
			files[path] = append(files[path], edits...)
		}
		return nil
	}
	for _, c := range e.DocumentChanges {
		if c.Kind != "" {
			return nil, fmt.Errorf("the server wants to %s a file, which is not supported", line(c.Kind))
		}
		uri := c.TextDocument.URI
		if uri == "" {
			uri = c.URI
		}
		if err := add(uri, c.Edits); err != nil {
			return nil, err
		}
	}
	if len(e.DocumentChanges) > 0 {
		return files, nil // the same edits in another form
	}
	for uri, edits := range e.Changes {
		if err := add(uri, edits); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// A Replacement is an edit by byte offsets.
type Replacement struct {
	Start, End int
	New        string
}

// Replacements converts the edits of a text to offsets, in order. It fails if they overlap.
func Replacements(text string, edits []TextEdit) ([]Replacement, error) {
	var list []Replacement
	for _, e := range edits {
		r := Replacement{Offset(text, e.Range.Start), Offset(text, e.Range.End), e.NewText}
		if r.End < r.Start {
			return nil, errors.New("the server sent an edit that ends before it begins")
		}
		list = append(list, r)
	}
	slices.SortStableFunc(list, func(a, b Replacement) int { return a.Start - b.Start })
	for i := 1; i < len(list); i++ {
		if list[i].Start < list[i-1].End {
			return nil, errors.New("the server sent edits that overlap")
		}
	}
	return list, nil
}

// Apply returns a text with replacements made.
func Apply(text string, list []Replacement) string {
	var b strings.Builder
	at := 0
	for _, r := range list {
		b.WriteString(text[at:r.Start])
		b.WriteString(r.New)
		at = r.End
	}
	b.WriteString(text[at:])
	return b.String()
}
