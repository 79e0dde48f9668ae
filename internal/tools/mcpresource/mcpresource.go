// Package mcpresource implements the tools that list and read servers' resources, and tracks
// which resources have changed since they were read.
package mcpresource

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"adze/internal/mcp"
	"adze/internal/mcp/content"
	"adze/internal/msg"
	"adze/internal/platform/text/amount"
	"adze/internal/platform/text/rank"
	"adze/internal/tool"
)

// The names of the tools.
const (
	ListName = "ListMcpResources"
	ReadName = "ReadMcpResource"
)

// Config configures the tools.
type Config struct {
	// Servers holds the servers that may have resources; nil means none.
	Servers Servers
	// Denied reports whether a rule denies everything from a server; may be nil.
	Denied func(server string) bool
	// Content configures the handling of content.
	Content content.Config
	// Read, if not nil, is called for each resource that was read.
	Read func(server, uri string)
}

// Servers provides access to resources.
type Servers interface {
	List() []mcp.Status
	// WithResources returns the names of the connected servers that have resources. It is called for each request.
	WithResources() []string
	Resources(ctx context.Context, server string) ([]mcp.Resource, error)
	Templates(ctx context.Context, server string) ([]mcp.Resource, error)
	Read(ctx context.Context, server, uri string) ([]mcp.Content, error)
}

// having returns the names of the connected and permitted servers that have resources.
func (c *Config) having() []string {
	if c.Servers == nil {
		return nil
	}
	names := c.Servers.WithResources()
	if c.Denied != nil {
		names = slices.DeleteFunc(names, c.Denied)
	}
	return names
}

// enabled returns an error if the tools are not available.
func (c *Config) enabled() error {
	if len(c.having()) == 0 {
		return errors.New("no connected MCP server has resources")
	}
	return nil
}

// check returns an error if the name of a server is invalid.
func (c *Config) check(server string) error {
	having := c.having()
	if slices.Contains(having, server) {
		return nil
	}
	known := "no connected server has resources"
	if len(having) > 0 {
		known = "servers with resources: " + strings.Join(having, ", ")
	}
	if c.Servers == nil {
		return errors.New(known)
	}
	for _, status := range c.Servers.List() {
		switch {
		case status.Name != server:
		case c.Denied != nil && c.Denied(server):
			return fmt.Errorf("a permission rule denies the server %s; %s", server, known)
		case status.State != mcp.Connected:
			return fmt.Errorf("the server %s is not connected (%s); %s", server, status.State, known)
		default:
			return fmt.Errorf("the server %s has no resources; %s", server, known)
		}
	}
	text := fmt.Sprintf("no server %s; %s", tool.OneLine(server, 64), known)
	if near := rank.Closest(server, having, 1); len(near) > 0 {
		text += "; did you mean " + near[0] + "?"
	}
	return errors.New(text)
}

//go:embed list.md
var listDoc string

//go:embed list.zh.md
var listChinese string

//go:embed list.schema.json
var listSchema string

//go:embed list.output.json
var listOutput string

// ListInput is the input for listing resources.
type ListInput struct {
	OneServer string `json:"server,omitempty"`
}

// Listing sends the servers nothing from the conversation.
func (ListInput) ReadOnly() bool        { return true }
func (ListInput) Concurrent() bool      { return true }
func (ListInput) OpenWorld() bool       { return false }
func (ListInput) Access() []tool.Access { return []tool.Access{} }
func (ListInput) Fold() tool.Fold       { return tool.FoldList }

// Title returns a line for dialogs and logs.
func (in ListInput) Title() string {
	if in.OneServer != "" {
		return "List the resources of " + in.OneServer
	}
	return "List the resources of servers"
}

// Activity returns the spinner text.
func (in ListInput) Activity() string { return "Listing resources" }

// A Listed is a resource in the structured result of a list.
type Listed struct {
	Server      string `json:"server"`
	URI         string `json:"uri"`
	Name        string `json:"name"`
	MIMEType    string `json:"mimeType,omitempty"`
	Description string `json:"description,omitempty"`
	Template    bool   `json:"template,omitempty"`
}

// NewList returns the tool that lists resources.
func NewList(c Config) tool.Tool {
	return tool.New(tool.Def{
		Name: ListName, Doc: strings.TrimSpace(listDoc), Schema: json.RawMessage(strings.TrimSpace(listSchema)),
		Traits: tool.Traits{
			Params:  tool.Params{Texts: []string{"server"}},
			Aliases: []string{"ListMcpResourcesTool"}, Hint: "list resources of MCP servers", Translate: tool.InChinese(listChinese), Clearable: true,
			Output: json.RawMessage(strings.TrimSpace(listOutput)), Enabled: c.enabled,
		},
	}, func(ctx context.Context, in ListInput, _ func(tool.Progress)) (tool.Result, error) {
		return c.list(ctx, in)
	})
}

// maxListed is the maximum number of resources per server if several servers are listed.
const maxListed = 50

func (c *Config) list(ctx context.Context, in ListInput) (tool.Result, error) {
	names := c.having()
	if in.OneServer != "" {
		if err := c.check(in.OneServer); err != nil {
			return tool.Result{}, err
		}
		names = []string{in.OneServer}
	}
	if len(names) == 0 {
		return tool.Result{}, c.enabled()
	}
	texts, found := make([]string, len(names)), make([][]Listed, len(names))
	var asked sync.WaitGroup
	for i, name := range names {
		asked.Go(func() { texts[i], found[i] = c.listOne(ctx, name, len(names) > 1) })
	}
	asked.Wait()
	if ctx.Err() != nil {
		return tool.Result{}, context.Cause(ctx)
	}
	all := slices.Concat(found...)
	rendered := c.Content.Render(ctx, content.Source{Server: names[0], Name: "resources"}, []mcp.Content{{Text: strings.Join(texts, "\n")}}, nil)
	if rendered.Cut || all == nil {
		all = []Listed{}
	}
	items := make([]string, 0, len(all))
	for _, one := range all {
		items = append(items, one.Server+": "+one.URI)
	}
	return tool.Result{Parts: rendered.Parts, Structured: all, Display: tool.List{Items: items, Total: len(items), Unit: "resources"}}, nil
}

// listOne returns a server's resources and templates, as text and as data.
func (c *Config) listOne(ctx context.Context, name string, several bool) (string, []Listed) {
	resources, err := c.Servers.Resources(ctx, name)
	templates, unlisted := c.Servers.Templates(ctx, name) // ok: many servers have none, or do not support this request
	if err != nil {
		return fmt.Sprintf("Server %s: its resources could not be listed: %v", name, err), nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Server %s: %s", name, amount.Of(len(resources), "resource", "resources"))
	if unlisted == nil && len(templates) > 0 {
		fmt.Fprintf(&b, ", %s", amount.Of(len(templates), "template", "templates"))
	} else {
		templates = nil
	}
	var all []Listed
	write := func(list []mcp.Resource, template bool) {
		for i, r := range list {
			if several && i == maxListed {
				fmt.Fprintf(&b, "\n- … %d more; name the server to list all", len(list)-i)
				break
			}
			b.WriteString("\n- " + line(&r, template))
			all = append(all, Listed{Server: name, URI: r.URI, Name: r.Name, MIMEType: r.MIME, Description: r.Description, Template: template})
		}
	}
	write(resources, false)
	write(templates, true)
	return b.String(), all
}

// line describes a resource on one line.
func line(r *mcp.Resource, template bool) string {
	text := r.URI
	if title := tool.OneLine(firstOf(r.Title, r.Name), 80); title != "" && title != r.URI {
		text += " " + title
	}
	var about []string
	if template {
		about = append(about, "template: replace the names in braces")
	}
	if r.MIME != "" {
		about = append(about, r.MIME)
	}
	if r.Size > 0 {
		about = append(about, amount.Bytes(r.Size))
	}
	if len(about) > 0 {
		text += " (" + strings.Join(about, ", ") + ")"
	}
	if r.Description != "" {
		text += ": " + tool.OneLine(r.Description, 200)
	}
	return text
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

//go:embed read.md
var readDoc string

//go:embed read.zh.md
var readChinese string

//go:embed read.schema.json
var readSchema string

//go:embed read.output.json
var readOutput string

// ReadInput is the input for reading a resource.
type ReadInput struct {
	ServerName string `json:"server"`
	URI        string `json:"uri"`
}

// ReadOnly returns true: reading changes nothing, if the server follows the protocol.
func (ReadInput) ReadOnly() bool   { return true }
func (ReadInput) Concurrent() bool { return true }
func (ReadInput) OpenWorld() bool  { return true }
func (ReadInput) Fold() tool.Fold  { return tool.FoldRead }

// Server returns the server's name, whose rules also apply to its resources.
func (in ReadInput) Server() string { return in.ServerName }

// Title returns a line for dialogs and logs.
func (in ReadInput) Title() string {
	return "Read from " + tool.OneLine(in.ServerName, 30) + " (MCP): " + in.URI
}

// Past returns the URI of the resource.
func (in ReadInput) Past() (verb, object string) { return "Read", in.URI }

// Activity returns the spinner text.
func (in ReadInput) Activity() string { return "Reading " + in.URI }

// Validate rejects an invalid server name or URI.
func (in ReadInput) Validate() error {
	if strings.TrimSpace(in.ServerName) == "" || strings.TrimSpace(in.URI) == "" {
		return errors.New("name the server and the URI of the resource, as " + ListName + " lists them")
	}
	if len(in.URI) > maxURI {
		return fmt.Errorf("the URI has %d characters, and at most %d are possible", len(in.URI), maxURI)
	}
	return nil
}

// maxURI is the maximum length of a URI.
const maxURI = 8192

// Preview shows the complete request.
func (in ReadInput) Preview(context.Context) (tool.Display, error) {
	return tool.Plain{Text: "resource " + in.URI + "\nof server " + in.ServerName}, nil
}

// Output is the structured result of reading a resource.
type Output struct {
	Contents []Content `json:"contents"`
}

// A Content is a part of a resource: its text, or the file that contains it.
type Content struct {
	URI      string `json:"uri"`
	MIMEType string `json:"mimeType,omitempty"`
	Text     string `json:"text,omitempty"`
	File     string `json:"file,omitempty"`
}

// NewRead returns the tool that reads a resource.
func NewRead(c Config) tool.Tool {
	return tool.New(tool.Def{
		Name: ReadName, Doc: strings.TrimSpace(readDoc), Schema: json.RawMessage(strings.TrimSpace(readSchema)),
		Traits: tool.Traits{
			Params:  tool.Params{Texts: []string{"server", "uri"}},
			Aliases: []string{"ReadMcpResourceTool"}, Hint: "read a resource of an MCP server", Translate: tool.InChinese(readChinese), Clearable: true,
			MaxChars: 150_000, Output: json.RawMessage(strings.TrimSpace(readOutput)), Enabled: c.enabled,
		},
	}, func(ctx context.Context, in ReadInput, _ func(tool.Progress)) (tool.Result, error) {
		return c.read(ctx, in)
	})
}

func (c *Config) read(ctx context.Context, in ReadInput) (tool.Result, error) {
	if err := c.check(in.ServerName); err != nil {
		return tool.Result{}, err
	}
	contents, err := c.Servers.Read(ctx, in.ServerName, in.URI)
	if err != nil {
		return tool.Result{}, err
	}
	if c.Read != nil {
		c.Read(in.ServerName, in.URI)
	}
	if len(contents) == 1 && contents[0].Kind == mcp.ResourceText {
		contents = []mcp.Content{{Text: contents[0].Text, URI: in.URI, MIME: contents[0].MIME, Flaw: contents[0].Flaw}}
	}
	rendered := c.Content.Render(ctx, content.Source{Server: in.ServerName, Name: in.URI}, contents, nil)
	out := Output{Contents: []Content{}}
	for i, one := range contents {
		if rendered.Cut {
			out.Contents = append(out.Contents, Content{URI: in.URI, Text: rendered.Text, File: rendered.File})
			break
		}
		out.Contents = append(out.Contents, Content{URI: one.URI, MIMEType: one.MIME, Text: one.Text, File: rendered.Files[i]})
	}
	r := tool.Result{Structured: out, Display: tool.Plain{Text: fmt.Sprintf("Read %s", tool.OneLine(in.URI, 200))}}
	said := "The server " + in.ServerName + " returned"
	if len(rendered.Parts) == 0 {
		r.Parts = []msg.Part{&msg.Text{Text: said + " an empty resource."}}
	}
	for _, part := range rendered.Parts {
		if t, ok := part.(*msg.Text); ok {
			part = &msg.Text{Text: said + ":\n" + t.Text}
		}
		r.Parts = append(r.Parts, part)
	}
	return r, nil
}
