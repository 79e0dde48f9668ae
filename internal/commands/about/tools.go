package about

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"adze/internal/commands"
	"adze/internal/model/tokens"
	"adze/internal/msg"
	"adze/internal/platform/text/amount"
	"adze/internal/tool"
)

func toolsCommand() commands.Command {
	return commands.Command{Name: "tools", Args: "[NAME]", Doc: "list the tools with their source, and why some cannot be called, or show one as the model sees it",
		Run: func(_ context.Context, r *commands.Registry, name string) (commands.Answer, error) {
			if name != "" {
				return toolPage(r, name)
			}
			return toolsPage(r), nil
		},
		Complete: func(r *commands.Registry, _ string) (names []string) {
			for _, l := range listTools(r) {
				names = append(names, l.Name)
			}
			return names
		}}
}

func listTools(r *commands.Registry) []tool.Listed {
	return r.Session.Pool().List(r.Permission.Policy().Denier)
}

// toolsPage lists the tools, callable ones first.
func toolsPage(r *commands.Registry) commands.Page {
	var p commands.Page
	var absent []commands.Term
	usable := commands.Table{Columns: []commands.Column{{Name: "Tool"}, {Name: "from"}, {Name: "sent"}, {Name: "what it does", Cut: true}}}
	for _, l := range listTools(r) {
		switch l.State {
		case tool.Core:
			usable.Rows = append(usable.Rows, []string{l.Name, l.Origin, "always", l.Doc})
		case tool.Deferred:
			usable.Rows = append(usable.Rows, []string{l.Name, l.Origin, "when needed", l.Doc})
		default:
			absent = append(absent, commands.Term{Name: l.Name, Text: string(l.State) + ": " + l.Reason})
		}
	}
	if len(usable.Rows) > 0 {
		p.Add(usable)
	}
	if len(absent) > 0 {
		p.Add(commands.Text("The model cannot call:"), commands.Terms(absent))
	}
	p.Add(commands.Text("/tools NAME shows a tool as sent to the model."))
	return p
}

// toolPage shows a tool's description for the model, and its cost in tokens.
func toolPage(r *commands.Registry, name string) (commands.Answer, error) {
	pool := r.Session.Pool()
	t, canonical, ok := pool.Fold(name)
	for _, l := range listTools(r) {
		if l.Name != canonical && (ok || !strings.EqualFold(l.Name, name)) {
			continue
		}
		state := string(l.State)
		if l.Reason != "" {
			state += ": " + l.Reason
		}
		fields := commands.Fields{{Name: "Tool", Value: l.Name}, {Name: "From", Value: l.Origin}, {Name: "State", Value: state}}
		if !ok {
			return commands.Page{Blocks: []commands.Block{fields}}, nil
		}
		spec := t.Spec()
		size := tokens.New(r.Session.Model()).Request(nil, []msg.ToolSpec{spec}, nil)
		fields = append(fields, commands.Field{Name: "Size", Value: "about " + amount.Of(size, "token", "tokens")})
		var schema bytes.Buffer
		if err := json.Indent(&schema, spec.Schema, "", "  "); err != nil {
			return nil, fmt.Errorf("the schema of %s: %w", l.Name, err)
		}
		return commands.Page{Blocks: []commands.Block{
			fields,
			commands.Text("Description:"), commands.Items(strings.Split(spec.Description, "\n")),
			commands.Text("Input:"), commands.Items(strings.Split(schema.String(), "\n")),
		}}, nil
	}
	text := "unknown tool " + name
	if near := pool.Closest(name); len(near) > 0 {
		text += " (did you mean " + strings.Join(near, " or ") + "?)"
	}
	return nil, fmt.Errorf("%s; /tools lists them", text)
}
