package extras

import (
	"context"

	"adze/internal/brief"
	"adze/internal/msg"
	"adze/internal/platform/texts"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/tool/suggest"
	"adze/internal/tools/extratools"
)

// coreTools are in every request, as far as there are any; all others are looked up.
func coreTools() []string {
	return []string{
		"Bash", "PowerShell", "Read", "Edit", "Write", "Glob", "Grep", "Agent", "AskUserQuestion", "TaskCreate", "TodoWrite",
		"EnterPlanMode", "ExitPlanMode", "VerifyPlanExecution", "WebFetch", "WebSearch", "LSP", "Skill", "Workflow", "Sleep",
		extratools.SearchName, extratools.ExecuteName, "StructuredOutput",
	}
}

// Tools returns the tools that find and run others. Extras may be nil where none is called.
func (x *Extras) Tools() []tool.Tool {
	var f *extratools.Finder
	if x != nil {
		f = x.finder
	}
	return []tool.Tool{extratools.Search(f), extratools.Execute()}
}

// Forwarders are the tools that stand for others, to see transcripts through them.
func Forwarders() tool.Forwarders { return tool.ForwardersOf([]tool.Tool{extratools.Execute()}) }

// An Open conversation is what its extras are looked up in, and who is told of them.
type Open struct {
	Session   func() *session.Session
	Announcer *brief.Announcer // may be nil
	Language  func() texts.Language
}

// Attach says which conversation the extras are of.
func (x *Extras) Attach(c Open) {
	x.open = c
	words := func(server string) string {
		if c.Announcer == nil {
			return ""
		}
		return c.Announcer.Words(server)
	}
	x.finder = extratools.NewFinder(extratools.Config{
		Pool: x.pool, Discovered: &x.Discovered, Pending: x.Pending, Instructions: words,
	})
}

func (x *Extras) pool() *tool.Pool { return x.open.Session().Pool() }

// Told returns what the model is to be told of extras: the same value until something changes. Before a conversation is
// open there is nothing to tell.
func (x *Extras) Told() *brief.Extras {
	if x == nil || x.open.Session == nil {
		return &brief.Extras{}
	}
	return x.told(x.pool(), extratools.ExecuteName)
}

// News returns what the model is to be told while a turn runs.
func (x *Extras) News() []string {
	if x.open.Announcer == nil {
		return nil
	}
	return x.open.Announcer.Arrivals()
}

// Hear suggests tools that may help with a message. See [session.Hearer].
func (x *Extras) Hear(_ context.Context, p session.Prompt) (h session.Hearing) {
	x.Save()
	var lines []string
	if before := x.open.Session().Conversation(); len(before) > 0 { // with the first message the index is not there yet
		for _, s := range suggest.For(x.finder.Suggest, &x.Discovered, p.Parts, before) {
			lines = append(lines, s.Name+": "+s.Line)
		}
	}
	if len(lines) > 0 {
		h.Context = append(h.Context, msg.Reminder(brief.Suggested(x.open.Language(), extratools.ExecuteName, lines)))
	}
	x.warming.Go(func() { // for the next message
		if len(x.pool().Deferred()) > 0 {
			x.finder.Warm()
		}
	})
	return h
}
