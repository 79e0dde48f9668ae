package main

import (
	"context"
	"fmt"
	"iter"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"adze/internal/agent"
	"adze/internal/agent/exec"
	"adze/internal/model"
	"adze/internal/model/messages"
	"adze/internal/msg"
	"adze/internal/platform/text/texts"
	"adze/internal/prompt"
	"adze/internal/tool"
)

// Parameters and limit for a request of a long conversation.
const (
	contextMessages = 500
	contextText     = 4 << 10 // bytes in each message
	contextLimit    = 3 * time.Millisecond
)

// runContext measures the time from the beginning of a turn until its request is ready to send,
// in a conversation of which all but the last message was sent before, and how much of a
// request stays the same.
func runContext(runs int) error {
	dir, err := os.MkdirTemp("", "adze-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, err := build(dir)
	if err != nil {
		return err
	}
	fmt.Printf("%s/%s, %d cores, %s, %d runs, medians\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), runs)
	fmt.Printf("%-58s %10s %10s\n", "figure", "measured", "at most")
	h := &conversation{}
	for i := range contextMessages - 1 {
		h.say([]msg.Role{msg.User, msg.Assistant}[i%2], strings.Repeat("A line of text. ", contextText/16))
	}
	p := &encoding{}
	first := prompt.Opening(texts.English, nil, "", "2026-01-01")
	facts := &prompt.Facts{Language: texts.English}
	pool, _ := tool.NewRegistry().Assemble(nil, nil)
	a := &agent.Agent{
		Provider: p, Executor: &exec.Executor{}, Pool: func() *tool.Pool { return pool },
		Model:    agent.Model{ID: "m", Output: 1000, MaxOutput: 1000},
		Preamble: agent.Preamble{Context: func() []msg.Part { return first }},
	}
	a.System, a.Cache = prompt.NewRegistry(nil).Assemble(facts).Parts(prompt.Layout{Client: "adze/bench", Shared: true})
	var took []time.Duration
	for i := range runs + 1 {
		p.began = time.Now()
		for ev := range a.Run(context.Background(), h) {
			if e, ok := ev.(agent.Ended); ok && e.Err != nil {
				return e.Err
			}
		}
		h.say(msg.User, "Go on.")
		if i > 0 { // everything is encoded the first time
			took = append(took, p.took)
		}
	}
	slices.Sort(took)
	b.report(fmt.Sprintf("request of %d messages, ready to be sent", len(h.entries)), "µs", micros(took[len(took)/2]), micros(contextLimit))
	if err := b.prefix(); err != nil {
		return err
	}
	if b.missed > 0 {
		return fmt.Errorf("%d figures are over their limit", b.missed)
	}
	return nil
}

// encoding is a model with short answers. It encodes the request like a network provider would.
type encoding struct {
	enc   messages.Encoder
	began time.Time
	took  time.Duration
}

func (p *encoding) Stream(_ context.Context, req *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		if _, err := p.enc.EncodeBody(req, nil); err != nil {
			yield(nil, &model.Error{Kind: model.Invalid, Err: err})
			return
		}
		p.took = time.Since(p.began)
		for _, ev := range []model.Event{
			model.Start{ID: "r", Model: req.Model},
			model.BlockDone{Part: &msg.Text{Text: "Yes."}},
			model.Stop{Reason: model.StopEnd},
		} {
			if !yield(ev, nil) {
				return
			}
		}
	}
}

// A conversation is an in-memory history.
type conversation struct{ entries []msg.Entry }

func (c *conversation) say(role msg.Role, text string) {
	c.entries = append(c.entries, msg.Entry{
		ID: msg.NewID(), Model: "m", Message: msg.Message{Role: role, Parts: []msg.Part{&msg.Text{Text: text}}},
	})
}

// Entries implements [agent.History].
func (c *conversation) Entries() []msg.Entry { return c.entries }

// Append implements [agent.History].
func (c *conversation) Append(_ context.Context, e msg.Entry) error {
	c.entries = append(c.entries, e)
	return nil
}
