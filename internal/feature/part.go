// Package feature defines what a feature contributes to a conversation.
package feature

import (
	"context"

	"adze/internal/agent"
	"adze/internal/agent/compact"
	"adze/internal/agent/exec"
	"adze/internal/commands"
	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/tool"
)

// A Part is what one feature contributes to a conversation. All fields but the name are optional.
type Part struct {
	// Name identifies the part in the debug log and in tests.
	Name string

	// PromptHook sees each prompt before it is stored; see [session.PromptHook].
	PromptHook func(ctx context.Context, p session.Prompt) session.HookResult
	// Gate checks each call, After sees its result, and Stop runs when the model has finished.
	Gate  tool.Gate
	After tool.After
	Stop  agent.StopHook

	// Tools are offered to the model, subject to the conversation's rules.
	Tools []tool.Tool
	// Commands are slash commands, in their sections of /help. Offer changes the environment of
	// all commands.
	Commands []commands.Section
	Offer    func(*commands.Env)

	// News returns notifications to deliver to the model as soon as possible.
	News func() []string
	// Prefetch returns a lookup to run in the background of a turn, or nil, given the user's
	// prompt and the history before it.
	Prefetch func(p session.Prompt, before []msg.Entry) func(context.Context) []msg.Part
	// Restore adds what the model needs again after a compaction. Compacted is called after a
	// compaction or when the conversation was cleared, Rewound after a rewind.
	Restore   func(context.Context, *compact.Sources)
	Compacted func()
	Rewound   func()
	// Ended is called at the end of a turn.
	Ended func(context.Context, agent.Ended)
	// Close is called before the session is closed.
	Close func()
}

// Parts are a conversation's parts. Their functions are called in order.
type Parts []Part

// Tools returns the parts' tools.
func (ps Parts) Tools() (all []tool.Tool) {
	for i := range ps {
		all = append(all, ps[i].Tools...)
	}
	return all
}

// Configure adds the prompt hooks, gates, result observers, stop hooks and listeners to a session's
// configuration. A prompt hook that blocks, or a gate that denies, stops the rest of its list.
func (ps Parts) Configure(cfg *session.Config) {
	for _, p := range ps {
		if p.PromptHook != nil {
			cfg.PromptHooks = append(cfg.PromptHooks, session.PromptHook{Name: p.Name, Run: p.PromptHook})
		}
		if p.Gate != nil {
			cfg.Gates = append(cfg.Gates, exec.Gate{Name: p.Name, Gate: p.Gate})
		}
		if p.After != nil {
			cfg.Afters = append(cfg.Afters, exec.After{Name: p.Name, After: p.After})
		}
		if p.Stop != nil {
			cfg.Stops = append(cfg.Stops, p.Stop)
		}
	}
	cfg.Preamble.News = ps.news
	cfg.Prefetch = ps.prefetch
	cfg.Listeners.Ended = ps.ended
	cfg.Listeners.Rewound = ps.rewound
}

func (ps Parts) news() (all []string) {
	for i := range ps {
		if f := ps[i].News; f != nil {
			all = append(all, f()...)
		}
	}
	return all
}

func (ps Parts) prefetch(p session.Prompt, before []msg.Entry) (all []func(context.Context) []msg.Part) {
	for i := range ps {
		if f := ps[i].Prefetch; f != nil {
			if lookup := f(p, before); lookup != nil {
				all = append(all, lookup)
			}
		}
	}
	return all
}

func (ps Parts) ended(ctx context.Context, e agent.Ended) {
	for i := range ps {
		if f := ps[i].Ended; f != nil {
			f(ctx, e)
		}
	}
}

func (ps Parts) rewound() {
	for i := range ps {
		if f := ps[i].Rewound; f != nil {
			f()
		}
	}
}

// Restore adds to s what the model needs again after a compaction.
func (ps Parts) Restore(ctx context.Context, s *compact.Sources) {
	for i := range ps {
		if ps[i].Restore != nil {
			ps[i].Restore(ctx, s)
		}
	}
}

// Compacted tells the parts that the conversation was compacted or cleared.
func (ps Parts) Compacted() {
	for i := range ps {
		if ps[i].Compacted != nil {
			ps[i].Compacted()
		}
	}
}

// Offer adds the parts' commands to the environment of all commands.
func (ps Parts) Offer(to *commands.Env) {
	for i := range ps {
		to.Sections = append(to.Sections, ps[i].Commands...)
		if ps[i].Offer != nil {
			ps[i].Offer(to)
		}
	}
}

// Close closes the parts.
func (ps Parts) Close() {
	for i := range ps {
		if ps[i].Close != nil {
			ps[i].Close()
		}
	}
}
