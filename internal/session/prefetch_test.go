package session_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"adze/internal/msg"
	"adze/internal/session"
)

// Proves LOOP-34.
func TestPrefetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "delay 1s\nuse Do {}\n---\nexpect last \"found for first\"\nsay ok\n---\nexpect no-last \"found for second\"\nsay ok", func(b *bench, cfg *session.Config) {
			cfg.PromptHooks = []session.PromptHook{{Name: "note", Run: func(context.Context, session.Prompt) session.HookResult {
				return session.HookResult{Context: []msg.Part{msg.Reminder("a note")}}
			}}}
			cfg.Prefetch = func(p session.Prompt, before []msg.Entry) []func(context.Context) []msg.Part {
				b.add("%s after %d", msg.PlainText(p.Parts), len(before))
				return []func(context.Context) []msg.Part{func(context.Context) []msg.Part {
					return []msg.Part{msg.Reminder("found for " + msg.PlainText(p.Parts))}
				}}
			}
		})
		b.prompt("first")
		b.prompt("second")
		b.Close()
		if err := b.player.Err(); err != nil {
			t.Error(err)
		}
		for _, want := range []string{"first after 0", "second after 4"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%q is not in %s", want, b.String())
			}
		}
	})
}
