package deferred

import (
	"context"

	"adze/internal/feature"
	"adze/internal/msg"
	"adze/internal/platform/text/texts"
	"adze/internal/prompt"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/tool/suggest"
	"adze/internal/tools/extratools"
)

// Tools returns the tools that find and run deferred tools. x may be nil if they are never
// called.
func (x *Extras) Tools() []tool.Tool {
	var f *extratools.Finder
	if x != nil {
		f = x.finder
	}
	return []tool.Tool{extratools.Search(f), extratools.Execute()}
}

// Forwarders returns the tools that run others on the model's behalf, for reading transcripts.
func Forwarders() tool.Forwarders { return tool.ForwardersOf([]tool.Tool{extratools.Execute()}) }

// A Conversation is the open conversation that extras are attached to.
type Conversation struct {
	Session   func() *session.Session
	Announcer *prompt.Announcer // may be nil
	Language  func() texts.Language
}

// Attach attaches the extras to a conversation.
func (x *Extras) Attach(c Conversation) {
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

// Told returns the deferred tools to announce. It returns the same value until something
// changes, and an empty one before a conversation is attached.
func (x *Extras) Told() *prompt.DeferredTools {
	if x == nil || x.open.Session == nil {
		return &prompt.DeferredTools{}
	}
	return x.told(x.pool(), extratools.ExecuteName)
}

// News returns the announcements due during a turn.
func (x *Extras) News() []string {
	if x.open.Announcer == nil {
		return nil
	}
	return x.open.Announcer.Arrivals()
}

// Part returns the deferred tools' contribution to a conversation.
func (x *Extras) Part() feature.Part {
	return feature.Part{Name: "tools", PromptHook: x.PromptHook, News: x.News}
}

// PromptHook suggests tools relevant to a message. See [session.PromptHook].
func (x *Extras) PromptHook(_ context.Context, p session.Prompt) (h session.HookResult) {
	x.Save()
	var lines []string
	if before := x.open.Session().Conversation(); len(before) > 0 { // the index does not exist yet for the first message
		for _, s := range suggest.For(x.finder.Suggest, &x.Discovered, p.Parts, before) {
			lines = append(lines, s.Name+": "+s.Line)
		}
	}
	if len(lines) > 0 {
		h.Context = append(h.Context, msg.Reminder(prompt.Suggested(x.open.Language(), extratools.ExecuteName, lines)))
	}
	x.warming.Go(func() { // ready for the next message
		if len(x.pool().Deferred()) > 0 {
			x.finder.Warm()
		}
	})
	return h
}
