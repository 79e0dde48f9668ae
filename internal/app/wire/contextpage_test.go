package wire

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"unicode/utf8"

	"adze/internal/agent"
	"adze/internal/agent/exec"
	"adze/internal/commands"
	"adze/internal/model/replay"
	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/draw"
)

// runCommand runs a command and returns its output, wrapped at the given width.
func runCommand(t *testing.T, r *commands.Registry, text string, width int) (string, error) {
	t.Helper()
	name, arg, ok := commands.Parse(text)
	if !ok {
		t.Fatalf("%s is not a command", text)
	}
	answer, err := r.Run(t.Context(), name, arg)
	if err != nil {
		return "", err
	}
	page, ok := answer.(commands.Page)
	if !ok {
		t.Fatalf("%s comes to %T", text, answer)
	}
	return draw.Palette{}.Text(draw.Page(page, draw.Options{Width: width})) + "\n", nil
}

// Proves CTX-03, CTX-18.
func TestContextPage(t *testing.T) {
	p := newPlace(t)
	p.Write("work/CLAUDE.md", "Use tabs. @../elsewhere.md")
	p.Write("elsewhere.md", "Not yours.")
	c := p.converse("say One.\nusage input=100 output=5 cache_write=6000\n---\nsay Two.\nusage input=9 output=5 cache_write=7000",
		Spec{Prompt: PromptSpec{Append: strings.Repeat("字 ", 12_000)}})
	r, s := c.Commands(), c.Session
	page := func() string {
		t.Helper()
		text, err := runCommand(t, r, "/context", 80)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(text) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 && !strings.Contains(line, p.Root) {
				t.Errorf("a line has %d columns: %s", n, line)
			}
		}
		return text
	}
	if text := page(); !strings.Contains(text, "conversation, 0 messages") || strings.Contains(text, "The provider counted") {
		t.Errorf("before the first prompt:\n%s", text)
	}
	say(t, s, "hi")
	say(t, s, "again")
	text := page()
	for _, want := range []string{
		"replay: ", "  system prompt\n", "    identity\n", "    environment\n", "    append\n", "  tools\n", "    Bash\n", "    Read\n",
		"  instructions, memories, date\n", "  conversation, 4 messages\n", "  free\n", "The provider counted 7,009 tokens in the last request.\n",
		"note: the section append has 24000 characters", "is outside the", "Cache: request 2 read 6000 tokens again; nothing changed",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}

	// The parts add up to the total that the provider counted, including its answer.
	u, err := r.Usage()
	if err != nil {
		t.Fatal(err)
	}
	sum := u.Used()
	if sum < 6_700 || sum > 7_200 {
		t.Errorf("the parts come to %d tokens", sum)
	}
}

// TestPromptIsWrittenAnewAfterACompaction checks that sections are rendered once, and again
// after a compaction.
//
// Proves CTX-06.
func TestPromptIsWrittenAnewAfterACompaction(t *testing.T) {
	p := newPlace(t)
	c := p.converse("say "+strings.Repeat("A long answer. ", 300)+"\n---\nsay Two.\n---\nsay <summary>They talked.</summary>\n---\nsay Three.", Spec{})
	s := c.Session
	write := func() msg.Part {
		parts, _ := c.prompt.prompt.Parts("m", nil)
		return parts[len(parts)-1]
	}
	say(t, s, "one")
	first := write()
	say(t, s, "two")
	if write() != first {
		t.Error("the prompt was written again without need")
	}
	if err := s.Submit(t.Context(), session.Compact{Focus: "all"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if write() == first {
		t.Error("the prompt is that from before the compaction")
	}
	say(t, s, "three")
}

// TestLostCacheIsLogged checks that a changed tool description invalidates the cache and that
// the log gives the reason.
//
// Proves CTX-16.
func TestLostCacheIsLogged(t *testing.T) {
	p := newPlace(t)
	c := p.following()
	script, err := replay.Parse("script", []byte("say 1\nusage cache_write=5000\n---\nsay 2\nusage cache_read=5000\n---\nsay 3\nusage cache_write=5000"))
	if err != nil {
		t.Fatal(err)
	}
	doc := "Does it."
	var log bytes.Buffer
	cfg := session.Config{
		Provider: replay.NewPlayer(script).Provider(), Gates: []exec.Gate{{Name: "permission", Gate: userGate{}}},
		Tools: session.Tools{Registry: tool.NewRegistry(), Dynamic: func() []tool.Tool {
			def := tool.Def{Name: "Do", Doc: doc, Schema: []byte(`{"type":"object"}`)}
			return []tool.Tool{tool.New(def, func(context.Context, struct{}, func(tool.Progress)) (tool.Result, error) { return tool.Result{}, nil })}
		}},
		Models: session.Models{Main: "m", Resolve: func(name string) (agent.Model, error) {
			return agent.Model{ID: name, Window: 200_000, Output: 1000}, nil
		}},
		Debug: slog.New(slog.NewTextHandler(&log, nil)),
	}
	c.prompt.debug, cfg.Listeners.Answered = cfg.Debug, c.prompt.answered
	s := session.Open(t.Context(), cfg)
	defer s.Close()
	say(t, s, "one")
	say(t, s, "two")
	if log.Len() > 0 {
		t.Errorf("logged without reason: %s", log.String())
	}
	doc = "Does something else."
	say(t, s, "three")
	if want := `msg="the provider's cache was lost" changed=tools request=3 message=0 tokens=5000`; !strings.Contains(log.String(), want) {
		t.Errorf("%s is not in %q", want, log.String())
	}
	if got, want := fmt.Sprint(c.prompt.watch.Breaks()), "[request 3 read 5000 tokens again; changed: tools]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
