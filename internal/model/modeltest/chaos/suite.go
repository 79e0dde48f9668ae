package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// Run sends one request to a provider of a dialect for each seed; seeds must be a multiple of
// 100. It checks that every request ends in time, in a complete answer or an understandable
// error, and that no call is duplicated. The provider must not retry.
func Run(t *testing.T, seeds int, d wire.Server, newProvider func(http.RoundTripper) model.Provider) {
	const many = 100 // runs per bubble
	seen := map[string]bool{}
	for first := 0; first < seeds; first += many {
		synctest.Test(t, func(t *testing.T) {
			for seed := first; seed < first+many; seed++ {
				s := &Server{Dialect: d, Seed: uint64(seed), Faults: 95, Answer: usualAnswer}
				tr := s.Transport()
				if err := once(t.Context(), newProvider(tr), s, seed); err != nil {
					t.Errorf("seed %d, %s: %v", seed, s.History(), err)
				}
				tr.CloseIdleConnections()
				s.Wait()
				seen[s.History()] = true
				for _, p := range s.Problems() {
					t.Errorf("seed %d, %s: request: %v", seed, s.History(), p)
				}
			}
		})
	}
	for _, f := range faults {
		if !seen[f.name] && seeds >= 1000 {
			t.Errorf("%q has not happened", f.name)
		}
	}
}

// usualAnswer is some text and two calls.
func usualAnswer(*model.Request) ([]model.Event, model.StopReason) {
	events := []model.Event{
		model.TextDelta{Text: "One, "}, model.TextDelta{Text: "two."}, model.BlockDone{Part: &msg.Text{Text: "One, two."}},
	}
	return append(events, Calls(1, msg.NewToolUse("call_1", "first", `{"path":"a"}`), msg.NewToolUse("call_2", "second", `{"path":"b"}`))...), model.StopTools
}

// Calls returns the events of calls in blocks starting at block.
func Calls(block int, calls ...*msg.ToolUse) (events []model.Event) {
	for i, u := range calls {
		at := len(u.Input) / 2
		for _, typed := range []json.RawMessage{u.Input[:at], u.Input[at:]} {
			events = append(events, model.InputDelta{Block: block + i, ID: u.ID, Name: u.Name, JSON: string(typed)})
		}
		events = append(events, model.BlockDone{Block: block + i, Part: u})
	}
	return events
}

// patience is longer than any answer may take: as many silences as there are events, each just
// under the limit, plus all the tolerated keep-alives.
const patience = time.Hour

// once sends one request.
func once(ctx context.Context, p model.Provider, s *Server, seed int) error {
	why := errors.New("esc")
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if seed%17 == 0 { // the user cancels
		timer := time.AfterFunc(time.Duration(seed%170)*time.Second, func() { cancel(why) })
		defer timer.Stop()
	}
	req := &model.Request{
		Model: "model-1", MaxTokens: 4000, NoStream: seed%5 == 0, Messages: []msg.Message{msg.UserText("go")},
		Tools: []msg.ToolSpec{{Name: "first", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "second", Schema: json.RawMessage(`{"type":"object"}`)}},
	}
	var a model.Accumulator
	var last model.Event
	var failed error
	blocks := 0
	began := time.Now()
	for e, err := range p.Stream(ctx, req) {
		switch {
		case failed != nil:
			return fmt.Errorf("%v, %v after the error %w", e, err, failed)
		case (e == nil) == (err == nil):
			return fmt.Errorf("%v together with the error %w", e, err)
		case err != nil:
			failed = err
			continue
		}
		if _, ok := last.(model.Stop); ok {
			return fmt.Errorf("%v after the end", e)
		}
		if _, ok := e.(model.Start); ok != (last == nil) {
			return fmt.Errorf("%v after %v", e, last)
		}
		if done, ok := e.(model.BlockDone); ok {
			if done.Block < blocks {
				return fmt.Errorf("block %d is done after block %d", done.Block, blocks-1)
			}
			blocks = done.Block + 1
		}
		a.Add(e)
		last = e
	}
	if took := time.Since(began); took > patience {
		return fmt.Errorf("it took %v", took)
	}
	if _, done := a.Stop(); !done && failed == nil {
		return fmt.Errorf("ends with %v and without an error", last)
	}
	if ctx.Err() != nil {
		return nil
	}
	if failed != nil {
		return Understandable(failed)
	}
	return sound(s.History(), a.Message())
}

// Understandable returns an error if a user would not understand err.
func Understandable(err error) error {
	var e *model.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("the error %w is a %T", err, err)
	}
	text := model.Explain(err, "model-1", false)
	switch {
	case len(text) < 20 || len(text) > 1500:
		return fmt.Errorf("an explanation of %d bytes: %q", len(text), text)
	case strings.ContainsAny(text, "<>{}\n\t") || strings.ContainsFunc(text, unicode.IsControl) || strings.ContainsRune(text, unicode.ReplacementChar):
		return fmt.Errorf("an explanation with markup: %q", text)
	}
	return nil
}

// harmless lists the faults that an answer survives intact.
var harmless = []string{"none", "no length", "right length", "byte by byte", "line feeds only", "never hangs up"}

// sound returns an error if an answer has calls that cannot be run or that are duplicated. An
// answer with a harmless fault must be complete.
func sound(happened string, m msg.Message) error {
	var ids []string
	for _, u := range m.Uses() {
		switch {
		case u.ID == "" || u.Name == "":
			return fmt.Errorf("a call without id or name: %+v", u)
		case slices.Contains(ids, u.ID):
			return fmt.Errorf("two calls with the id %s", u.ID)
		case !json.Valid(u.Input):
			return fmt.Errorf("a call with the input %s", u.Input)
		case slices.Contains(ids, u.Name+string(u.Input)) && u.Malformed == "":
			return fmt.Errorf("the call %s %s comes twice", u.Name, u.Input)
		}
		ids = append(ids, u.ID, u.Name+string(u.Input))
	}
	if !slices.Contains(harmless, happened) {
		return nil
	}
	uses := m.Uses()
	if m.Text() != "One, two." || len(uses) != 2 || uses[0].Name != "first" || string(uses[1].Input) != `{"path":"b"}` {
		return fmt.Errorf("the answer is %+v", m)
	}
	return nil
}
