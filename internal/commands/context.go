package commands

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/domain/instruct"
	"adze/internal/mcp"
	"adze/internal/model/tokens"
	"adze/internal/msg"
	"adze/internal/platform/text/amount"
	"adze/internal/platform/text/jsonscan"
	"adze/internal/prompt"
	"adze/internal/tool"
)

func contextCommand() Command {
	return Command{Name: "context", Args: "[all]", Doc: "show what fills the context window", Complete: words("all"),
		Run: func(_ context.Context, r *Registry, arg string) (Answer, error) {
			if arg != "" && arg != "all" {
				return nil, errors.New("usage: /context, or /context all for every part")
			}
			u, err := r.Usage()
			switch {
			case err != nil:
				return nil, err
			case arg == "" && r.Terminal && !r.Env.Keys.Lines:
				return u.glance(), nil
			}
			return u.page(), nil
		}}
}

// A Usage is the breakdown of the context window, in tokens.
type Usage struct {
	Model  string // model ID
	Window int
	// System lists the sections of the system prompt, Tools the tools, and First the content
	// before the first message.
	System, Tools, First []UsagePart
	// Messages is the number of messages, and Talk their tokens.
	Messages, Talk int
	// Largest lists the largest results in the messages.
	Largest []UsagePart
	// Reported is the provider's count for the last request; 0 if unknown.
	Reported int
	// Remote lists the tools of MCP servers.
	Remote []ToolUsage
	// Files are the instruction files in use.
	Files []FileUsage
	// Last is the usage of the last response, or nil.
	Last *msg.Usage
	// Problems are messages for the user. Breaks are the requests that missed the provider's
	// cache.
	Problems []string
	Breaks   []prompt.Break
}

// An UsagePart is a part of the context window.
type UsagePart struct {
	Name   string
	Tokens int
}

// A FileUsage is an instruction file.
type FileUsage struct {
	instruct.File
	Tokens int
}

// A ToolUsage is a tool of an MCP server. It occupies the window only if it is Loaded; others
// are looked up on demand.
type ToolUsage struct {
	UsagePart
	Server string
	Loaded bool
}

// remoteTools returns the tools of MCP servers. Shares are the tools that are sent.
func (r *Registry) remoteTools(shares []UsagePart, gauge *tokens.Estimator) []ToolUsage {
	var all []ToolUsage
	pool := r.Session.Pool()
	for _, s := range shares {
		t, _, _ := pool.Lookup(s.Name) // ok: a tool that is gone belongs to no server
		if remote, ok := t.(mcp.Remote); ok {
			server, _ := remote.Remote()
			all = append(all, ToolUsage{s, server, true})
		}
	}
	for _, t := range pool.Deferred() {
		if remote, ok := t.(mcp.Remote); ok {
			server, _ := remote.Remote()
			spec := t.Spec()
			all = append(all, ToolUsage{UsagePart{spec.Name, gauge.Request(nil, []msg.ToolSpec{spec}, nil)}, server, false})
		}
	}
	return all
}

// deferred returns how many server tools do not occupy the window.
func (u *Usage) deferred() (n int) {
	for _, r := range u.Remote {
		if !r.Loaded {
			n++
		}
	}
	return n
}

// Sum returns the total tokens of all shares.
func Sum(shares []UsagePart) int {
	n := 0
	for _, s := range shares {
		n += s.Tokens
	}
	return n
}

// Used returns how much of the window is used.
func (u *Usage) Used() int { return Sum(u.System) + Sum(u.Tools) + Sum(u.First) + u.Talk }

// Usage measures the content of the next request before the next prompt. The estimates are
// corrected by the provider's count for the last request.
func (r *Registry) Usage() (*Usage, error) {
	pre, s := r.Preamble, r.Session
	m, err := pre.Resolve(s.Model())
	if err != nil {
		return nil, err
	}
	specs := pre.Describe(s.ToolSpecs())
	gauge := tokens.New(m.ID)
	messages, opened := pre.messages(gauge, m.ID, s.Conversation())
	u := &Usage{Model: m.ID, Window: m.Window, Breaks: pre.Watch.Breaks()}
	blocks := pre.Blocks(m, specs)
	for _, block := range blocks {
		for _, piece := range block.Pieces {
			u.System = append(u.System, UsagePart{piece.Name, gauge.Text(piece.Text)})
		}
	}
	u.Problems = prompt.LargeSections(blocks)
	for _, t := range specs {
		u.Tools = append(u.Tools, UsagePart{t.Name, gauge.Request(nil, []msg.ToolSpec{t}, nil)})
	}
	u.Remote = r.remoteTools(u.Tools, gauge)
	first := 0
	if pre.First != nil {
		said := pre.First()
		if opened {
			first = gauge.Parts(said...)
		}
		u.First = append(u.First, UsagePart{"instructions, memories, date", gauge.Text(msg.PlainText(said))})
	}
	for _, e := range slices.Backward(s.Conversation()) {
		if e.Message.Role == msg.Assistant && e.Usage != nil {
			u.Last = e.Usage
			break
		}
	}
	if r.Instructions != nil {
		for _, f := range r.Instructions.Files() {
			u.Files = append(u.Files, FileUsage{f, gauge.Text(f.Text)})
		}
		for _, problem := range r.Instructions.Problems() {
			u.Problems = append(u.Problems, problem.Path+" "+problem.Text)
		}
	}
	if len(messages) > 0 {
		u.Messages, u.Talk = len(messages), max(0, gauge.Messages(messages...)-first)
		u.Largest = r.largest(gauge, messages)
	}
	if _, used := pre.Watch.Last(); !used.Estimated {
		u.Reported = sent(used)
	}
	return u, nil
}

// largest returns the largest results in messages, with what they are results of. Results for
// the same call count as one.
func (r *Registry) largest(gauge *tokens.Estimator, messages []msg.Message) []UsagePart {
	const most, least = 3, 500
	calls, times := map[string]string{}, map[string]int{}
	var all []UsagePart
	for _, m := range messages {
		for _, part := range m.Parts {
			if use, ok := part.(*msg.ToolUse); ok {
				calls[use.ID] = r.describeUse(use)
			}
			result, ok := part.(*msg.ToolResult)
			if !ok || calls[result.ID] == "" {
				continue
			}
			name, size := calls[result.ID], gauge.Parts(result)
			times[name]++
			if i := slices.IndexFunc(all, func(p UsagePart) bool { return p.Name == name }); i >= 0 {
				all[i].Tokens += size
			} else {
				all = append(all, UsagePart{name, size})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b UsagePart) int { return b.Tokens - a.Tokens })
	all = slices.DeleteFunc(all, func(p UsagePart) bool { return p.Tokens < least })
	all = all[:min(len(all), most)]
	for i, p := range all {
		if n := times[p.Name]; n > 1 {
			all[i].Name += fmt.Sprintf(", %d times", n)
		}
	}
	return all
}

// describeUse describes a tool use by its tool and its first text.
func (r *Registry) describeUse(use *msg.ToolUse) string {
	const most = 40
	text := ""
	c := jsonscan.Lazy(use.Input)
	for range c.Members {
		if c.Kind() == '"' {
			text = c.String()
			break
		}
		c.Skip()
	}
	if filepath.IsAbs(text) && r.Files.Short != nil {
		text = r.Files.Short(text)
	}
	return strings.TrimSpace(use.Name + " " + tool.OneLine(text, most))
}

// messages returns the conversation as last sent, with the answer to it, and calibrates the
// gauge with the reported usage. If nothing has been sent yet, it returns the stored
// conversation. Opened reports whether the first message begins with the result of
// [Preamble.First].
func (p *Preamble) messages(g *tokens.Estimator, model string, entries []msg.Entry) (messages []msg.Message, opened bool) {
	req, used := p.Watch.Last()
	if req == nil || len(entries) == 0 {
		var conv msg.Conversation
		for _, e := range entries {
			conv.Add(e.Message)
		}
		messages, _ = conv.Messages()
		return messages, false
	}
	if req.Model == model && !used.Estimated {
		g.Report(g.Count(req.System, req.Tools, req.Messages), sent(used))
	}
	messages = req.Messages
	if last := entries[len(entries)-1].Message; last.Role == msg.Assistant {
		messages = append(messages, last)
	}
	return messages, true
}

// glance shows the use of the window as a bar.
func (u *Usage) glance() Page {
	bar := Bar{Title: amount.Rounded(u.Used()) + " tokens"}
	if u.Window > 0 {
		bar.Title = fmt.Sprintf("%d%% of %s", u.Used()*100/u.Window, amount.Rounded(u.Window))
		bar.Rest = BarPart{Name: "free", Size: max(0, u.Window-u.Used()), Text: amount.Rounded(max(0, u.Window-u.Used()))}
	}
	for _, p := range []UsagePart{{"system prompt", Sum(u.System)}, {"tools", Sum(u.Tools)}, {"instructions, memories", Sum(u.First)}, {"conversation", u.Talk}} {
		bar.Parts = append(bar.Parts, BarPart{Name: p.Name, Size: p.Tokens, Text: amount.Rounded(p.Tokens)})
	}
	p := Page{Blocks: []Block{bar}}
	if len(u.Largest) > 0 {
		var names []string
		for _, l := range u.Largest {
			names = append(names, l.Name+" "+amount.Rounded(l.Tokens))
		}
		p.Add(Remark("Largest results: " + strings.Join(names, "; ")))
	}
	for _, problem := range u.Problems {
		p.Add(Notice(problem))
	}
	p.Add(Remark("/context all lists every part."))
	return p
}

// page shows the parts with their shares of the window.
func (u *Usage) page() Page {
	table := Table{Columns: []Column{{Right: true}, {Right: true}, {Cut: true}}, Indented: true}
	row := func(n int, name string) {
		share := ""
		if u.Window > 0 {
			share = fmt.Sprintf("%d%%", (n*100+u.Window/2)/u.Window)
		}
		table.Rows = append(table.Rows, []string{amount.Grouped(n), share, name})
	}
	parts := func(shares []UsagePart) {
		for _, s := range shares {
			table.Rows = append(table.Rows, []string{amount.Grouped(s.Tokens), "", "  " + s.Name})
		}
	}
	row(Sum(u.System), "system prompt")
	parts(u.System)
	row(Sum(u.Tools), "tools")
	parts(slices.SortedStableFunc(slices.Values(u.Tools), func(a, b UsagePart) int { return b.Tokens - a.Tokens }))
	if n := u.deferred(); n > 0 {
		row(0, amount.Of(n, "tool of MCP servers that is", "tools of MCP servers that are")+" looked up when needed")
	}
	for _, s := range u.First {
		row(s.Tokens, s.Name)
	}
	row(u.Talk, "conversation, "+amount.Of(u.Messages, "message", "messages"))
	row(max(0, u.Window-u.Used()), "free")
	share := ""
	if u.Window > 0 {
		share = fmt.Sprintf(" (%d%%)", u.Used()*100/u.Window)
	}
	p := Say(fmt.Sprintf("%s: %s of %s tokens%s", u.Model, amount.Rounded(u.Used()), amount.Rounded(u.Window), share))
	p.Add(table)
	if u.Reported > 0 {
		p.Add(Text(fmt.Sprintf("The provider counted %s tokens in the last request.", amount.Grouped(u.Reported))))
	}
	for _, problem := range u.Problems {
		p.Add(Notice(problem))
	}
	for _, lost := range u.Breaks {
		p.Add(Text("Cache: " + lost.String()))
	}
	return p
}
