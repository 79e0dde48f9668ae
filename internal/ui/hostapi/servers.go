package hostapi

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"adze/internal/commands"
	"adze/internal/mcp"
	"adze/internal/mcp/roster"
)

// maxCall is the maximum size of a tool or resource result in an answer, in bytes: a line that
// a host can read.
const maxCall = 8 << 20

// A serverAPI answers requests about the MCP servers.
type serverAPI struct{ *commands.Registry }

// connected returns the MCP servers, or an error if none are configured.
func (a serverAPI) connected() (*mcp.Servers, error) {
	if a.Extensions.Servers.All != nil {
		if s := a.Extensions.Servers.All(); s != nil {
			return s, nil
		}
	}
	return nil, &Refusal{Failed, "no MCP servers"}
}

// given returns the internal name of a server from its configured name.
func given(s *mcp.Servers, name string) (string, error) {
	var named string
	for _, st := range s.List() {
		if st.Given == name {
			return st.Name, nil
		}
		if st.Name == name {
			named = st.Name
		}
	}
	if named == "" {
		return "", &Refusal{Failed, fmt.Sprintf("no MCP server %q", name)}
	}
	return named, nil
}

// servers lists the MCP servers.
func (a serverAPI) servers(context.Context, none) (any, error) {
	list := []object{}
	if s, err := a.connected(); err == nil {
		for _, st := range s.List() {
			list = append(list, status(&st))
		}
	}
	return object{"mcpServers": list}, nil
}

// status returns the state of a server.
func status(st *mcp.Status) object {
	o := object{"name": st.Given, "status": StateName(st.State), "scope": SourceName(st.Entry), "source": SourceName(st.Entry), "config": config(st.Entry)}
	if st.State == mcp.Connected {
		o["serverInfo"] = object{"name": st.About.Name, "version": st.About.Version}
		tools := []object{}
		for _, t := range st.Tools {
			tool := object{"name": t.Name, "annotations": annotations(&t)}
			if t.Description != "" {
				tool["description"] = t.Description
			}
			tools = append(tools, tool)
		}
		o["tools"] = tools
	}
	if st.Err != nil {
		o["error"] = st.Err.Error()
	}
	return o
}

func annotations(t *mcp.Tool) object {
	o := object{}
	for name, v := range map[string]*bool{"readOnly": t.ReadOnly, "destructive": t.Destructive, "openWorld": t.OpenWorld} {
		if v != nil {
			o[name] = *v
		}
	}
	return o
}

// config returns how a server is reached. Environment and headers may contain secrets and are
// not disclosed to the host.
func config(e *roster.Entry) object {
	switch e.Type {
	case roster.Host:
		return object{"type": "sdk", "name": e.Given}
	case roster.Stdio:
		args := e.Args
		if args == nil {
			args = []string{}
		}
		return object{"type": "stdio", "command": e.Command, "args": args}
	}
	return object{"type": e.Type, "url": e.URL}
}

// StateName returns the protocol name of a state.
func StateName(s mcp.State) string {
	if s == mcp.Unapproved {
		return string(mcp.Pending)
	}
	return string(s)
}

// SourceName returns the protocol name of the source that configured a server.
func SourceName(e *roster.Entry) string {
	switch {
	case e.Type == roster.Host:
		return "sdk"
	case e.Scope == roster.Flag:
		return "dynamic"
	}
	return string(e.Scope)
}

// A serverName is a request with a server's configured name.
type serverName struct {
	Name string `json:"serverName"`
}

func (a serverAPI) reconnect(ctx context.Context, in serverName) (any, error) {
	s, err := a.connected()
	if err != nil {
		return nil, err
	}
	name, err := given(s, in.Name)
	if err != nil {
		return nil, err
	}
	return none{}, s.Reconnect(ctx, name)
}

func (a serverAPI) toggle(_ context.Context, in struct {
	serverName
	Enabled *bool `json:"enabled"`
}) (any, error) {
	if in.Enabled == nil {
		return nil, &Refusal{Invalid, "enabled is missing"}
	}
	s, err := a.connected()
	if err != nil {
		return nil, err
	}
	name, err := given(s, in.Name)
	if err != nil {
		return nil, err
	}
	return none{}, s.Enable(name, *in.Enabled)
}

// readResource reads a resource of a server.
func (a serverAPI) readResource(ctx context.Context, in struct {
	serverName
	URI string `json:"uri"`
}) (any, error) {
	s, err := a.connected()
	if err != nil {
		return nil, err
	}
	name, err := given(s, in.Name)
	if err != nil {
		return nil, err
	}
	list, err := s.Read(ctx, name, in.URI)
	if err != nil {
		return nil, err
	}
	contents := []object{}
	size := 0
	for _, c := range list {
		o := object{"uri": c.URI}
		if c.MIME != "" {
			o["mimeType"] = c.MIME
		}
		if c.Data != nil {
			o["blob"] = base64.StdEncoding.EncodeToString(c.Data)
		} else {
			o["text"] = c.Text
		}
		contents = append(contents, o)
		size += len(c.Data)*4/3 + len(c.Text)
	}
	return bounded(object{"contents": contents}, size)
}

// bounded returns an answer, or an error if it is longer than a host can read.
func bounded(o object, size int) (any, error) {
	if size > maxCall {
		return nil, &Refusal{Failed, fmt.Sprintf("the answer of the server has more than %d MB", maxCall>>20)}
	}
	return o, nil
}

// callTool calls a tool by the name the model uses. The host is the user's own program and
// needs no permission, but deny rules apply.
func (a serverAPI) callTool(ctx context.Context, in struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Checked   bool            `json:"check_permissions"`
}) (any, error) {
	s, err := a.connected()
	switch {
	case err != nil:
		return nil, err
	case in.Checked:
		return nil, &Refusal{Unsupported, "check_permissions is not available in this version"}
	}
	t, _, _ := a.Session.Pool().Lookup(in.Tool) // ok: checked below
	remote, ok := t.(mcp.Remote)
	if !ok {
		return nil, &Refusal{Failed, fmt.Sprintf("no connected MCP server has the tool %q, or a rule denies it", in.Tool)}
	}
	server, tool := remote.Remote()
	if len(in.Arguments) == 0 {
		in.Arguments = json.RawMessage("{}")
	}
	r, err := s.Call(ctx, server, tool, in.Arguments, nil)
	if err != nil {
		return nil, err
	}
	o := object{"content": contentsOf(r.Content), "isError": r.IsError}
	if r.Structured != nil {
		o["structuredContent"] = r.Structured
	}
	size := len(r.Structured)
	for _, c := range r.Content {
		size += len(c.Data)*4/3 + len(c.Text)
	}
	return bounded(o, size)
}

// contentsOf returns the content parts of a result in protocol format.
func contentsOf(list []mcp.Content) []object {
	all := []object{}
	for _, c := range list {
		data := base64.StdEncoding.EncodeToString(c.Data)
		switch {
		case c.Flaw != "":
			all = append(all, object{"type": "text", "text": c.Flaw})
		case c.Kind == mcp.TextContent:
			all = append(all, object{"type": "text", "text": c.Text})
		case c.Kind == mcp.ImageContent:
			all = append(all, object{"type": "image", "data": data, "mimeType": c.MIME})
		case c.Kind == mcp.AudioContent:
			all = append(all, object{"type": "audio", "data": data, "mimeType": c.MIME})
		case c.Kind == mcp.ResourceText:
			all = append(all, object{"type": "resource", "resource": object{"uri": c.URI, "mimeType": c.MIME, "text": c.Text}})
		case c.Kind == mcp.ResourceBlob:
			all = append(all, object{"type": "resource", "resource": object{"uri": c.URI, "mimeType": c.MIME, "blob": data}})
		case c.Kind == mcp.ResourceLink:
			all = append(all, object{"type": "resource_link", "uri": c.URI, "name": c.Name, "description": c.Description, "mimeType": c.MIME})
		}
	}
	return all
}
