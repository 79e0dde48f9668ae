package hook

import (
	"adze/internal/tool"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestPromptHooks checks that an opinion of a model or an agent counts like a command's output,
// and that an invalid one counts like a broken hook.
//
// Proves HOOK-05, HOOK-14.
func TestPromptHooks(t *testing.T) {
	const hook = `{"type":"prompt","prompt":"Is it safe? $ARGUMENTS","model":"haiku"}`
	use := shell(t, "deploy")
	for _, tt := range []struct {
		name    string
		entry   string
		event   Event
		opinion Opinion
		err     error
		want    string
	}{
		{"met", hook, OnPreToolUse(use), Opinion{OK: true}, nil, ""},
		{"not met", hook, OnPreToolUse(use), Opinion{Reason: "it is Friday"}, nil, "denied"},
		{"not met, no reason", hook, OnPreToolUse(use), Opinion{}, nil, "denied"},
		{"context", hook, OnPreToolUse(use), Opinion{OK: true, Context: "Deploys are slow."}, nil, "told"},
		{"no opinion", hook, OnPreToolUse(use), Opinion{OK: true}, errors.New("overloaded"), "said asked"},
		{"no opinion, lenient", `{"type":"prompt","prompt":"x","onFailure":"continue"}`, OnPreToolUse(use), Opinion{}, errors.New("overloaded"), "said"},
		{"no opinion, strict", `{"type":"prompt","prompt":"x","onFailure":"block"}`, OnPreToolUse(use), Opinion{OK: true}, errors.New("overloaded"), "denied"},
		{"a question", hook, OnPermissionRequest(use, nil), Opinion{Reason: "no"}, nil, "denied"},
		{"a prompt", hook, OnUserPromptSubmit("x"), Opinion{Reason: "no"}, nil, "blocked"},
		{"a stop", hook, OnStop(false, ""), Opinion{Reason: "run the tests"}, nil, "blocked"},
		{"a stop, no opinion", hook, OnStop(false, ""), Opinion{}, errors.New("overloaded"), "said"},
	} {
		for _, typ := range []string{"prompt", "agent"} {
			var asked []PromptRequest
			answer := func(_ context.Context, a PromptRequest) (Opinion, error) {
				asked = append(asked, a)
				return tt.opinion, tt.err
			}
			cfg := Config{Judges: Judges{Prompt: answer}}
			if typ == "agent" {
				cfg = Config{Judges: Judges{Agent: answer}}
			}
			r, _ := start(t, cfg, on(tt.event.Name, strings.Replace(tt.entry, `"prompt"`, `"`+typ+`"`, 1)))
			out := r.Fire(t.Context(), tt.event)
			if got := summary(out); got != tt.want {
				t.Errorf("%s %s: %q, want %q: %+v", typ, tt.name, got, tt.want, out)
			}
			if len(asked) != 1 || len(asked[0].Input) == 0 || tt.entry == hook && (asked[0].Model != "haiku" || asked[0].Prompt != "Is it safe? $ARGUMENTS") {
				t.Errorf("%s %s: %+v", typ, tt.name, asked)
			}
			if tt.opinion.Reason != "" && out.Reason != tt.opinion.Reason {
				t.Errorf("%s %s: %q", typ, tt.name, out.Reason)
			}
		}
	}
}

// Proves HOOK-13.
func TestPromptHookTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for entry, want := range map[string]time.Duration{
			`{"type":"prompt","prompt":"x"}`:              30 * time.Second,
			`{"type":"prompt","prompt":"x","timeout":90}`: 90 * time.Second,
			`{"type":"agent","prompt":"x"}`:               time.Minute,
			`{"type":"agent","prompt":"x","timeout":5}`:   5 * time.Second,
		} {
			late := func(ctx context.Context, _ PromptRequest) (Opinion, error) {
				<-ctx.Done()
				return Opinion{OK: true}, nil
			}
			r, _ := New(Config{Judges: Judges{Prompt: late, Agent: late}, Sources: []Source{{Name: "user settings", JSON: on(PreToolUse, entry)}}})
			began := time.Now()
			if got := summary(r.Fire(t.Context(), OnPreToolUse(shell(t, "deploy")))); got != "said asked" || time.Since(began) != want {
				t.Errorf("%s: %q after %v", entry, got, time.Since(began))
			}
			r.Close()
		}
	})
}

// summary summarizes an outcome.
func summary(out Outcome) string {
	var words []string
	add := func(ok bool, word string) {
		if ok {
			words = append(words, word)
		}
	}
	add(len(out.Messages) > 0, "said")
	add(out.Blocked, "blocked")
	add(len(out.Context) > 0, "told")
	add(out.Decision == tool.Ask, "asked")
	add(out.Decision == tool.Deny, "denied")
	add(out.Decision == tool.Allow, "allowed")
	return strings.Join(words, " ")
}
