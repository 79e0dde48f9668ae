package about

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"adze/internal/desk"
	"adze/internal/model/tokens"
	"adze/internal/msg"
	"adze/internal/platform/amount"
	"adze/internal/tool"
)

func toolsCommand() desk.Command {
	return desk.Command{Name: "tools", Args: "[NAME]", Doc: "list the tools with their source, and why some cannot be called, or show one as the model sees it",
		Run: func(_ context.Context, d *desk.Desk, name string) (desk.Answer, error) {
			if name != "" {
				return toolPage(d, name)
			}
			return toolsPage(d), nil
		},
		Complete: func(d *desk.Desk, _ string) (names []string) {
			for _, l := range listTools(d) {
				names = append(names, l.Name)
			}
			return names
		}}
}

func listTools(d *desk.Desk) []tool.Listed {
	return d.Session.Pool().List(d.Permission.Policy().Denier)
}

// toolsPage lists the tools, callable ones first.
func toolsPage(d *desk.Desk) desk.Page {
	var p desk.Page
	var absent []desk.Term
	usable := desk.Table{Columns: []desk.Column{{Name: "Tool"}, {Name: "from"}, {Name: "sent"}, {Name: "what it does", Cut: true}}}
	for _, l := range listTools(d) {
		switch l.State {
		case tool.Core:
			usable.Rows = append(usable.Rows, []string{l.Name, l.Origin, "always", l.Doc})
		case tool.Deferred:
			usable.Rows = append(usable.Rows, []string{l.Name, l.Origin, "when needed", l.Doc})
		default:
			absent = append(absent, desk.Term{Name: l.Name, Text: string(l.State) + ": " + l.Reason})
		}
	}
	if len(usable.Rows) > 0 {
		p.Add(usable)
	}
	if len(absent) > 0 {
		p.Add(desk.Text("The model cannot call:"), desk.Terms(absent))
	}
	p.Add(desk.Text("/tools NAME shows what the model is told of one."))
	return p
}

// toolPage shows a tool's description for the model, and its cost in tokens.
func toolPage(d *desk.Desk, name string) (desk.Answer, error) {
	pool := d.Session.Pool()
	t, canonical, ok := pool.Fold(name)
	for _, l := range listTools(d) {
		if l.Name != canonical && (ok || !strings.EqualFold(l.Name, name)) {
			continue
		}
		state := string(l.State)
		if l.Reason != "" {
			state += ": " + l.Reason
		}
		fields := desk.Fields{{Name: "Tool", Value: l.Name}, {Name: "From", Value: l.Origin}, {Name: "State", Value: state}}
		if !ok {
			return desk.Page{Blocks: []desk.Block{fields}}, nil
		}
		spec := t.Spec()
		size := tokens.New(d.Session.Model()).Request(nil, []msg.ToolSpec{spec}, nil)
		fields = append(fields, desk.Field{Name: "Size", Value: "about " + amount.Of(size, "token", "tokens")})
		var schema bytes.Buffer
		if err := json.Indent(&schema, spec.Schema, "", "  "); err != nil {
			return nil, fmt.Errorf("the schema of %s: %w", l.Name, err)
		}
		return desk.Page{Blocks: []desk.Block{
			fields,
			desk.Text("Description:"), desk.Items(strings.Split(spec.Description, "\n")),
			desk.Text("Input:"), desk.Items(strings.Split(schema.String(), "\n")),
		}}, nil
	}
	text := "there is no tool " + name
	if near := pool.Closest(name); len(near) > 0 {
		text += " (did you mean " + strings.Join(near, " or ") + "?)"
	}
	return nil, fmt.Errorf("%s; /tools lists them", text)
}
