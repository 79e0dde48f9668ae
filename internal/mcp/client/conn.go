package client

//lint:file-ignore SA1019 roots, sampling and logging are of older revisions, which most servers speak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/mcp"
	"adze/internal/mcp/roster"
)

const (
	// closing is the maximum time to close a connection.
	closing = 600 * time.Millisecond
	// Limits on reading a list: maxPages pages, maxEntries entries and maxList bytes.
	maxPages   = 100
	maxEntries = 1000
	maxList    = 16 << 20
)

// A conn is a connection to a server. It implements [mcp.Conn].
type conn struct {
	entry    *roster.Entry
	limit    time.Duration
	log      func(string)
	link     link
	handlers clientHandlers
	library  *sdk.Client
	session  *sdk.ClientSession
	about    mcp.ServerInfo
	cancel   context.CancelCauseFunc // ends everything that belongs to the connection

	mu    sync.Mutex
	roots map[string]bool
	names map[string]string // the server's own names, by cleaned name, if they differ
	err   error             // reason it ended
	done  chan struct{}
}

// A link is the transport to a server.
type link struct {
	transport sdk.Transport
	stop      func()        // stops the other end; may be nil
	log       func() string // returns the program's output; may be nil
	broken    func() error  // returns the reason it broke; may be nil
}

// begin starts the connection's background work.
func (c *conn) begin() {
	res := c.session.InitializeResult()
	c.about = about(res)
	go func() {
		err := c.session.Wait()
		if c.link.broken != nil && (err == nil || errors.Is(err, io.EOF)) {
			err = c.link.broken()
		}
		if err == nil {
			err = errClosed
		}
		c.close(&mcp.LostError{Err: errors.New(text(err.Error(), textLimit))})
	}()
	if c.about.Logging && c.handlers.client.Logged != nil && res.ProtocolVersion <= olderProtocol {
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), c.limit)
			defer cancel()
			c.session.SetLoggingLevel(ctx, &sdk.SetLoggingLevelParams{Level: "info"}) // ok: the server then logs at its own level
		}()
	}
}

func about(res *sdk.InitializeResult) mcp.ServerInfo {
	a := mcp.ServerInfo{Protocol: line(res.ProtocolVersion, nameLimit), Instructions: text(res.Instructions, textLimit)}
	if info := res.ServerInfo; info != nil {
		a.Name, a.Title, a.Version = line(info.Name, nameLimit), line(info.Title, titleLimit), line(info.Version, nameLimit)
	}
	if caps := res.Capabilities; caps != nil {
		a.Tools, a.Prompts, a.Logging = caps.Tools != nil, caps.Prompts != nil, caps.Logging != nil
		a.Resources = caps.Resources != nil
		a.Subscriptions = caps.Resources != nil && caps.Resources.Subscribe
	}
	return a
}

// About implements [mcp.Conn].
func (c *conn) About() mcp.ServerInfo { return c.about }

// Done implements [mcp.Conn].
func (c *conn) Done() <-chan struct{} { return c.done }

// Err implements [mcp.Conn].
func (c *conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Log implements [mcp.Conn].
func (c *conn) Log() string {
	if c.link.log == nil {
		return ""
	}
	return c.link.log()
}

// Close implements [mcp.Conn].
func (c *conn) Close() error {
	c.close(errClosed)
	return nil
}

// fail closes the connection without waiting.
func (c *conn) fail(err error) { go c.close(err) }

// close closes the connection once, and waits at most the closing time.
func (c *conn) close(why error) {
	c.mu.Lock()
	first := c.err == nil
	if first {
		c.err = why
	}
	c.mu.Unlock()
	if first {
		go func() {
			defer close(c.done)
			c.handlers.close()
			if c.link.stop != nil {
				c.link.stop()
			}
			c.mu.Lock()
			session := c.session
			c.mu.Unlock()
			c.cancel(why)
			if session != nil {
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					session.Close() // ok: it is closed either way
				}()
				if c.link.stop == nil {
					await(ended, farewell)
				}
			}
		}()
	}
	await(c.done, closing)
}

// await waits until a channel is closed, at most d.
func await(done <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// request sends a request to the server within the usual timeout.
func request[T any](c *conn, ctx context.Context, q *requestState, send func(context.Context) (T, error)) (json.RawMessage, error) {
	limited, cancel := c.handlers.during(ctx)
	defer cancel()
	if !q.patient {
		var stop context.CancelFunc
		limited, stop = context.WithTimeoutCause(limited, c.limit, errSlow)
		defer stop()
	}
	res, err := send(q.with(limited))
	if err != nil {
		if ctx.Err() == nil && context.Cause(limited) == errSlow {
			err = errSlow
		}
		return nil, c.explain(ctx, err, q)
	}
	if raw, _, _ := q.outcome(); raw != nil {
		return raw, nil
	}
	return json.Marshal(res) // the SDK cached it from an earlier request
}

// Call implements [mcp.Conn].
func (c *conn) Call(ctx context.Context, tool string, input json.RawMessage, progress func(mcp.Progress)) (*mcp.Result, error) {
	params := &sdk.CallToolParams{Name: c.own("tool", tool)}
	if len(input) > 0 {
		params.Arguments = input
	}
	token, stop := c.handlers.follow(progress)
	defer stop()
	params.SetProgressToken(token)
	raw, err := request(c, ctx, &requestState{instead: json.RawMessage(`{"content":[]}`), patient: true}, func(ctx context.Context) (*sdk.CallToolResult, error) {
		return c.session.CallTool(ctx, params)
	})
	if err != nil {
		return nil, err
	}
	return decodeResult(raw)
}

// Read implements [mcp.Conn].
func (c *conn) Read(ctx context.Context, uri string) ([]mcp.Content, error) {
	params := &sdk.ReadResourceParams{URI: c.own("resource", uri)}
	raw, err := request(c, ctx, &requestState{instead: json.RawMessage(`{"contents":[]}`)}, func(ctx context.Context) (*sdk.ReadResourceResult, error) {
		return c.session.ReadResource(ctx, params)
	})
	if err != nil {
		return nil, err
	}
	fields, _ := members(raw) // ok: no contents then
	parts, ok := elements(fields["contents"])
	if !ok {
		return nil, errors.New(`the server violates the protocol: the field "contents" of the resource is not a list`)
	}
	var list []mcp.Content
	for _, part := range parts[:min(len(parts), maxParts)] {
		list = append(list, decodeContained(part))
	}
	return list, nil
}

// Subscribe implements [mcp.Conn].
func (c *conn) Subscribe(ctx context.Context, uri string) error {
	params := &sdk.SubscribeParams{URI: c.own("resource", uri)}
	_, err := request(c, ctx, &requestState{}, func(ctx context.Context) (struct{}, error) { return struct{}{}, c.session.Subscribe(ctx, params) })
	return err
}

// Unsubscribe implements [mcp.Conn].
func (c *conn) Unsubscribe(ctx context.Context, uri string) error {
	params := &sdk.UnsubscribeParams{URI: c.own("resource", uri)}
	_, err := request(c, ctx, &requestState{}, func(ctx context.Context) (struct{}, error) { return struct{}{}, c.session.Unsubscribe(ctx, params) })
	return err
}

// Prompt implements [mcp.Conn].
func (c *conn) Prompt(ctx context.Context, name string, args map[string]string) ([]mcp.PromptMessage, error) {
	params := &sdk.GetPromptParams{Name: c.own("prompt", name), Arguments: args}
	raw, err := request(c, ctx, &requestState{instead: json.RawMessage(`{"messages":[]}`)}, func(ctx context.Context) (*sdk.GetPromptResult, error) {
		return c.session.GetPrompt(ctx, params)
	})
	if err != nil {
		return nil, err
	}
	var res struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &res); err != nil || res.Messages == nil {
		return nil, errors.New(`the server violates the protocol: the field "messages" of the prompt is not a list of messages`)
	}
	var list []mcp.PromptMessage
	for _, m := range res.Messages[:min(len(res.Messages), maxParts)] {
		role := "user"
		if m.Role == "assistant" {
			role = m.Role
		}
		var parts []json.RawMessage
		if json.Unmarshal(m.Content, &parts) != nil {
			parts = []json.RawMessage{m.Content}
		}
		for _, part := range decodeContents(parts) {
			list = append(list, mcp.PromptMessage{Role: role, Content: part})
		}
	}
	return list, nil
}

// RootsChanged implements [mcp.Conn].
func (c *conn) RootsChanged(context.Context) error {
	c.syncRoots()
	return nil
}

// Tools implements [mcp.Conn].
func (c *conn) Tools(ctx context.Context) (all []mcp.Tool, cut string, err error) {
	instead, decode := json.RawMessage(`{"tools":[]}`), decodeTool
	usable := map[string]bool{}
	if c.about.Protocol > olderProtocol {
		// The SDK looks up in the list which arguments go into headers, and which tools are
		// invalid.
		instead = nil
		decode = func(raw json.RawMessage) (mcp.Tool, string, error) {
			tool, own, err := decodeTool(raw)
			if err == nil && !usable[own] {
				err = fmt.Errorf("the tool %s, whose schema asks for headers that cannot be", tool.Name)
			}
			return tool, own, err
		}
	}
	return list(c, ctx, "tool", "tools", instead, decode, func(ctx context.Context, cursor string) (*sdk.ListToolsResult, error) {
		res, err := c.session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		if err == nil {
			for _, tool := range res.Tools {
				usable[tool.Name] = true
			}
		}
		return res, err
	})
}

// Resources implements [mcp.Conn].
func (c *conn) Resources(ctx context.Context) (all []mcp.Resource, cut string, err error) {
	return list(c, ctx, "resource", "resources", json.RawMessage(`{"resources":[]}`), decodeResource, func(ctx context.Context, cursor string) (*sdk.ListResourcesResult, error) {
		return c.session.ListResources(ctx, &sdk.ListResourcesParams{Cursor: cursor})
	})
}

// Templates implements [mcp.Conn].
func (c *conn) Templates(ctx context.Context) (all []mcp.Resource, cut string, err error) {
	return list(c, ctx, "resource", "resourceTemplates", json.RawMessage(`{"resourceTemplates":[]}`), decodeResource, func(ctx context.Context, cursor string) (*sdk.ListResourceTemplatesResult, error) {
		return c.session.ListResourceTemplates(ctx, &sdk.ListResourceTemplatesParams{Cursor: cursor})
	})
}

// Prompts implements [mcp.Conn].
func (c *conn) Prompts(ctx context.Context) (all []mcp.Prompt, cut string, err error) {
	return list(c, ctx, "prompt", "prompts", json.RawMessage(`{"prompts":[]}`), decodePrompt, func(ctx context.Context, cursor string) (*sdk.ListPromptsResult, error) {
		return c.session.ListPrompts(ctx, &sdk.ListPromptsParams{Cursor: cursor})
	})
}

// list reads all pages of a list, whose entries are in the given field of each page. It records
// the server's own name of a renamed entry. Cut describes omitted entries.
func list[T, R any](c *conn, ctx context.Context, what, field string, instead json.RawMessage,
	decode func(json.RawMessage) (T, string, error), send func(context.Context, string) (R, error)) (all []T, cut string, err error) {
	var left []string // omitted entries
	seen, cursors := map[string]bool{}, map[string]bool{}
	cursor, size := "", 0
pages:
	for page := 1; ; page++ {
		raw, err := request(c, ctx, &requestState{instead: instead}, func(ctx context.Context) (R, error) { return send(ctx, cursor) })
		if err != nil {
			return nil, "", err
		}
		fields, _ := members(raw) // ok: no list then
		entries, ok := elements(fields[field])
		if !ok {
			return nil, "", fmt.Errorf("the server violates the protocol: the field %q of the list is not a list", field)
		}
		for _, entry := range entries {
			if len(all) == maxEntries {
				left = append(left, fmt.Sprintf("all after the first %d %ss", maxEntries, what))
				break pages
			}
			if size += len(entry); size > maxList {
				left = append(left, fmt.Sprintf("all %ss after the first %d, which take %d MB", what, len(all), maxList>>20))
				break pages
			}
			one, own, err := decode(entry)
			if err != nil {
				left = append(left, err.Error())
				continue
			}
			name := line(own, limitOf(what))
			if seen[name] {
				left = append(left, fmt.Sprintf("another %s called %s", what, name))
				continue
			}
			seen[name] = true
			c.call(what, name, own)
			all = append(all, one)
		}
		cursor = str(fields["nextCursor"])
		if cursor == "" || cursors[cursor] {
			break
		}
		if cursors[cursor] = true; page == maxPages {
			left = append(left, fmt.Sprintf("all after the first %d pages", maxPages))
			break
		}
	}
	return all, leftOut(left), nil
}

func limitOf(what string) int {
	if what == "resource" {
		return uriLimit
	}
	return nameLimit
}

// leftOut describes the entries missing from a list.
func leftOut(left []string) string {
	switch len(left) {
	case 0:
		return ""
	case 1:
		return "left out: " + left[0]
	}
	return fmt.Sprintf("left out: %s, and %d more", left[0], len(left)-1)
}

// call records the server's own name for a renamed entry.
func (c *conn) call(what, name, own string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if name == own {
		delete(c.names, what+" "+name)
	} else {
		c.names[what+" "+name] = own
	}
}

// own returns the server's own name for an entry.
func (c *conn) own(what, name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if own, ok := c.names[what+" "+name]; ok {
		return own
	}
	return name
}
