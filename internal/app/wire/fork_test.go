package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"adze/internal/app/models"
	"adze/internal/feature/agents"
	"adze/internal/feature/agents/builtin"
	"adze/internal/msg"
	"adze/internal/platform/text/texts"
	"adze/internal/session"
	agenttool "adze/internal/tools/agent"
)

// forks is the number of forks launched by one answer.
const forks = 10

// forking returns a script for a model that reads files and then launches forks in one answer.
func forking(reads int) string {
	var b strings.Builder
	b.WriteString("when no-tool Agent\nforever\nsay A title\n---\nwhen text \"<fork-directive>\"\nforever\nthink I am the fork.\nsay The part is done.\n---\n")
	for i := range reads {
		fmt.Fprintf(&b, "think Which is next?\nuse Read {\"file_path\":\"f%d.txt\"}\n---\n", i)
	}
	b.WriteString("think They can be looked at side by side.\nsay I split the work.\n")
	for i := range forks {
		fmt.Fprintf(&b, "use Agent {\"description\":\"Look at part %d\",\"prompt\":\"Look at part %d of the files, and say what is wrong with it.\"}\n", i, i)
	}
	return b.String() + "---\nforever\nsay Launched."
}

// rest waits until all agents are idle.
func (c *Conversation) rest(t *testing.T) {
	t.Helper()
	for began := time.Now(); len(c.agents.Working()) > 0; time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("they still work: %+v", c.agents.Working())
		}
	}
	if err := c.Session.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestForksShareThePrefix checks that all forks of an answer send the same bytes up to their
// last text block and that, from the second on, nearly everything is read from the provider's
// cache. This also holds for ephemeral sessions and in Chinese. The server rejects thinking
// blocks that are not in their original position.
//
// Proves AGENT-02, AGENT-03, AGENT-06, X-095.
func TestForksShareThePrefix(t *testing.T) {
	for _, tt := range []struct {
		name      string
		entry     Entry
		ephemeral bool
		language  string
	}{
		{"kept", Print, false, "eng"},
		{"for a user", Interactive, false, "eng"},
		{"for a host, not kept", Host, true, "eng"},
		{"in Chinese", Interactive, true, "chn"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			p.Write("work/CLAUDE.md", "Rule 0.")
			const reads = 12
			for i := range reads {
				p.Write(fmt.Sprintf("work/f%d.txt", i), strings.Repeat(fmt.Sprintf("line of file %d\n", i), 500))
			}
			p.Write("home/.adze/settings.json", fmt.Sprintf(`{"promptLanguage":%q,"agents":{"fork":true},"sessionMemory":{"enabled":false}}`, tt.language))
			c := p.chat(forking(reads), func(s *Spec) { s.Entry, s.Session.Ephemeral = tt.entry, tt.ephemeral })
			c.say("Look at the files.")
			c.rest(t)
			cache, asked := promptCache{}, 0
			var first []byte
			worst := 0.0
			for i := range c.sent() {
				file := p.Path(fmt.Sprintf("sent/%03d-request.json", i+1))
				share := cache.ask(t, file)
				before, last := splitLast(t, file)
				if !strings.Contains(last, "<fork-directive>") {
					continue
				}
				if asked++; asked == 1 {
					first = before
					continue
				}
				if !bytes.Equal(before, first) {
					t.Fatalf("fork %d begins otherwise from %.200q on", asked, before[common(before, first):])
				}
				worst = max(worst, 100*float64(share.size-share.read)/float64(share.size))
			}
			t.Logf("at most %.2f %% of a fork's request are not in the cache", worst)
			if asked != forks || worst > 1 {
				t.Errorf("%d forks; %.2f %% of a request are not in the cache", asked, worst)
			}
		})
	}
}

// splitLast returns a request up to its last block, without cache marks, and that block.
func splitLast(t *testing.T, file string) (before []byte, last string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var req struct {
		Messages []struct{ Content []json.RawMessage }
	}
	if err := json.Unmarshal(data, &req); err != nil {
		t.Fatal(err)
	}
	content := req.Messages[len(req.Messages)-1].Content
	last = string(markPattern.ReplaceAll(compacted(t, content[len(content)-1]), nil))
	all := unmarked(t, file)
	at := bytes.LastIndex(all, []byte(last))
	if at < 0 {
		t.Fatalf("the last block is not at the end: %s", last)
	}
	return all[:at], last
}

// TestForksDoNotFork checks that a fork cannot launch agents. It is recognized by its origin,
// even after its directive was removed from the conversation, and by its directive alone.
//
// Proves AGENT-04.
func TestForksDoNotFork(t *testing.T) {
	const refused = "a fork cannot launch agents"
	launch := func(c *Conversation) error {
		_, err := c.agents.Launch(t.Context(), agents.Request{Input: agenttool.Input{Description: "more", Prompt: "Do more."}}, nil)
		return err
	}
	p := newPlace(t)
	p.Write("home/.adze/settings.json", `{"agents":{"fork":true},"sessionMemory":{"enabled":false}}`)
	c := p.chat("when text \"<fork-directive>\"\nuse Agent {\"description\":\"more\",\"prompt\":\"Do more.\"}\n---\n"+
		"when text \"<fork-directive>\"\nexpect last \""+refused+"\"\nexpect tool Agent\nsay Done by myself.\n---\n"+
		"use Agent {\"description\":\"part\",\"prompt\":\"Do a part.\"}\n---\nforever\nsay Launched.", nil)
	c.say("Split it.")
	c.rest(t)
	if last := tail(c.sent()); !strings.Contains(last, "Done by myself.") {
		t.Error(last)
	}

	spec := Spec{Session: SessionSpec{Ephemeral: true}, Model: ModelSpec{Name: models.ReplayPrefix + p.Path("model.replay")}}
	var err error
	if spec.worker, err = c.newWorker(agents.Spec{ID: "a1", Asks: func() bool { return false }}); err != nil {
		t.Fatal(err)
	}
	made, err := c.ws.converse(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	if err := launch(made); err == nil || !strings.Contains(err.Error(), refused) {
		t.Errorf("after becoming a fork: %v", err)
	}

	for _, directive := range []string{
		builtin.Fork(texts.English, "Do a part."), builtin.ForkIn(texts.Chinese, "Do a part.", "/own", "/main"),
	} {
		told := p.chat("forever\nsay Hello.", nil)
		if err := told.Session.Submit(t.Context(), session.Prompt{Parts: []msg.Part{&msg.Text{Text: directive}}, Quoted: true}); err != nil {
			t.Fatal(err)
		}
		if err := told.Session.Idle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := launch(told.Conversation); err == nil || !strings.Contains(err.Error(), refused) {
			t.Errorf("after the directive: %v", err)
		}
	}
}

func compacted(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
