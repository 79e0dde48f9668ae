package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	mcpfeature "adze/internal/feature/mcp"
	"adze/internal/mcp"
	"adze/internal/mcp/roster"
	"adze/internal/setup"
)

// tried is the name of a server that is not configured.
const tried = "server"

// reach connects to the server named by the first argument, by --url or by the words after --.
// rest holds the other arguments.
func (t *Task) reach(ctx context.Context) (f *mcpfeature.Manager, status mcp.Status, rest []string, done func(), err error) {
	e, rest, err := t.target()
	if err != nil {
		return nil, status, nil, nil, err
	}
	switch {
	case e.Unapproved:
		err = fmt.Errorf("%s is a server of the project that you have not approved; adze asks about it when it starts at a terminal", e.Name)
	case e.Disabled:
		err = fmt.Errorf("%s is disabled", e.Name)
	case e.Problem != nil:
		err = fmt.Errorf("%s cannot be used: %w", e.Name, e.Problem)
	}
	if err != nil {
		return nil, status, nil, nil, err
	}
	f, done, err = t.Open([]*roster.Entry{e}, true)
	if err != nil {
		return nil, status, nil, nil, err
	}
	f.Wait(ctx)
	if status = f.List()[0]; t.Login && status.State == mcp.NeedsAuth {
		if err = f.SigningIn(ctx, e.Name, t.aside(), func() error { return f.List()[0].Err }); err != nil {
			done()
			return nil, status, nil, nil, err
		}
		status = f.List()[0]
	}
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case status.State != mcp.Connected:
		text := fmt.Sprintf("%s: %s", e.Name, status.State)
		if status.Err != nil {
			text += ": " + status.Err.Error()
		}
		if status.State == mcp.NeedsAuth {
			text += "; adze mcp login " + e.Name + " signs in"
			if e.Scope == roster.Flag {
				text = e.Name + " wants you to sign in; --login does that"
			}
		}
		err = errors.New(text)
	}
	if err != nil {
		done()
		return nil, status, nil, nil, err
	}
	return f, status, rest, done, nil
}

// target returns the entry of the server to test, and the other arguments.
func (t *Task) target() (e *roster.Entry, rest []string, err error) {
	words := t.Command
	if t.URL != "" {
		words = []string{t.URL}
	}
	if len(words) == 0 {
		if len(t.Args) == 0 {
			return nil, nil, setup.Errorf("name a server, or say --url URL or -- COMMAND")
		}
		r, err := t.load()
		if err != nil {
			return nil, nil, err
		}
		e, err := find(r, t.Args[0])
		return e, t.Args[1:], err
	}
	given, err := t.entry(words)
	if err != nil {
		return nil, nil, err
	}
	raw, err := json.Marshal(given)
	if err != nil {
		return nil, nil, fmt.Errorf("writing the entry: %w", err)
	}
	return roster.Source{Scope: roster.Flag, Getenv: t.Project.Source().Getenv}.Entry(tried, raw), t.Args, nil
}

func tools(ctx context.Context, t *Task) error {
	_, status, rest, done, err := t.reach(ctx)
	if err != nil {
		return err
	}
	defer done()
	if len(rest) > 0 {
		return setup.Errorf("usage: adze mcp tools NAME")
	}
	if t.JSON {
		type tool struct {
			Name        string          `json:"name"`
			Title       string          `json:"title,omitempty"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"inputSchema,omitempty"`
			Output      json.RawMessage `json:"outputSchema,omitempty"`
			ReadOnly    *bool           `json:"readOnlyHint,omitempty"`
			Destructive *bool           `json:"destructiveHint,omitempty"`
			OpenWorld   *bool           `json:"openWorldHint,omitempty"`
		}
		list := []tool{}
		for _, x := range status.Tools {
			list = append(list, tool{x.Name, x.Title, x.Description, x.Schema, x.Output, x.ReadOnly, x.Destructive, x.OpenWorld})
		}
		return t.PrintJSON(list)
	}
	var b strings.Builder
	for _, x := range status.Tools {
		first, _, _ := strings.Cut(x.Description, "\n")
		fmt.Fprintf(&b, "%s  %s\n", x.Name, first)
	}
	if len(status.Tools) == 0 {
		t.Say("the server has no tools")
	}
	for _, cut := range status.Cut {
		t.Say(cut)
	}
	return t.Show(b.String())
}

// call calls a server's tool. Rules do not apply, since the user names the tool.
func call(ctx context.Context, t *Task) error {
	f, status, rest, done, err := t.reach(ctx)
	if err != nil {
		return err
	}
	defer done()
	if len(rest) == 0 || len(rest) > 2 {
		return setup.Errorf("usage: adze mcp call NAME TOOL [JSON]")
	}
	input := json.RawMessage("{}")
	if len(rest) == 2 {
		input = json.RawMessage(rest[1])
		if trimmed := strings.TrimSpace(rest[1]); !json.Valid(input) || !strings.HasPrefix(trimmed, "{") {
			return setup.Errorf("the input is not a JSON object")
		}
	}
	var result *mcp.Result
	do := func() (err error) {
		result, err = f.Call(ctx, status.Name, rest[0], input, nil)
		return err
	}
	if t.Login {
		err = f.SigningIn(ctx, status.Name, t.aside(), do)
	} else {
		err = do()
	}
	if err != nil {
		return err
	}
	if t.JSON {
		err = t.PrintJSON(describeResult(result))
	} else {
		err = t.Show(resultText(result))
	}
	if err == nil && result.IsError {
		err = ErrFailed
	}
	return err
}

// A content is a content block of a result in JSON output.
type content struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"`
	Data []byte `json:"data,omitempty"`
	MIME string `json:"mimeType,omitempty"`
	URI  string `json:"uri,omitempty"`
	Name string `json:"name,omitempty"`
	Flaw string `json:"flaw,omitempty"`
}

func kind(k mcp.Kind) string {
	switch k {
	case mcp.ImageContent:
		return "image"
	case mcp.AudioContent:
		return "audio"
	case mcp.ResourceText, mcp.ResourceBlob:
		return "resource"
	case mcp.ResourceLink:
		return "resource_link"
	}
	return "text"
}

func describeResult(r *mcp.Result) any {
	out := struct {
		IsError    bool            `json:"isError"`
		Content    []content       `json:"content"`
		Structured json.RawMessage `json:"structuredContent,omitempty"`
	}{r.IsError, []content{}, r.Structured}
	for _, c := range r.Content {
		out.Content = append(out.Content, content{kind(c.Kind), c.Text, c.Data, c.MIME, c.URI, c.Name, c.Flaw})
	}
	return out
}

// resultText formats a result for reading: texts verbatim, and one line for each other block.
func resultText(r *mcp.Result) string {
	var b strings.Builder
	for _, c := range r.Content {
		switch {
		case c.Flaw != "":
			fmt.Fprintf(&b, "[%s: %s]\n", kind(c.Kind), c.Flaw)
		case c.Text != "":
			b.WriteString(strings.TrimSuffix(c.Text, "\n") + "\n")
		case c.Kind == mcp.ResourceLink:
			fmt.Fprintf(&b, "[resource %s %s]\n", c.URI, c.Name)
		default:
			fmt.Fprintf(&b, "[%s %s, %d bytes]\n", kind(c.Kind), c.MIME, len(c.Data))
		}
	}
	if len(r.Content) == 0 && r.Structured != nil {
		fmt.Fprintf(&b, "%s\n", r.Structured)
	}
	return b.String()
}
