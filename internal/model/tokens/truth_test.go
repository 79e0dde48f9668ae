package tokens_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"adze/internal/model/tokens"
	"adze/internal/msg"
)

// counts holds the token counts of the files in testdata, by tokenizer; count.mjs writes them.
type counts struct {
	Texts, Conversations, Halves map[string]map[string]int
}

// models maps each tokenizer to a model of its family.
var models = map[string]string{
	"claude": "claude-2.1", "gpt": "gpt-5", "gemini": "google/gemini-3-pro", "qwen": "qwen3-max", "deepseek": "deepseek-v3.2",
}

func testdata(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func readCounts(t *testing.T) counts {
	t.Helper()
	var c counts
	if err := json.Unmarshal(testdata(t, "counts.json"), &c); err != nil {
		t.Fatal(err)
	}
	if len(c.Texts) < 10 || len(c.Conversations) < 5 {
		t.Fatalf("only %d texts and %d conversations", len(c.Texts), len(c.Conversations))
	}
	return c
}

var reference = regexp.MustCompile(`^@(\w+\.txt)(?::(\d+)-(\d+))?$`)

// conversations returns the conversations in testdata, in which "@name:from-to" refers to lines
// of a file.
func conversations(t *testing.T) map[string][]msg.Message {
	t.Helper()
	resolve := func(text string) string {
		m := reference.FindStringSubmatch(text)
		if m == nil {
			return text
		}
		text = string(testdata(t, m[1]))
		if m[2] == "" {
			return text
		}
		lines := strings.Split(text, "\n")
		from, _ := strconv.Atoi(m[2])
		to, _ := strconv.Atoi(m[3])
		return strings.Join(lines[from-1:min(to, len(lines))], "\n")
	}
	var raw map[string][]struct {
		Role    msg.Role
		Content []struct {
			Type, Text, ID, Name, Content string
			Input                         json.RawMessage
		}
	}
	if err := json.Unmarshal(testdata(t, "conversations.json"), &raw); err != nil {
		t.Fatal(err)
	}
	all := map[string][]msg.Message{}
	for name, messages := range raw {
		for _, m := range messages {
			var parts []msg.Part
			for _, p := range m.Content {
				switch p.Type {
				case "tool_use":
					parts = append(parts, msg.NewToolUse(p.ID, p.Name, string(p.Input)))
				case "tool_result":
					parts = append(parts, &msg.ToolResult{Parts: []msg.Part{&msg.Text{Text: resolve(p.Content)}}})
				default:
					parts = append(parts, &msg.Text{Text: resolve(p.Text)})
				}
			}
			all[name] = append(all[name], msg.Message{Role: m.Role, Parts: parts})
		}
	}
	return all
}

// TestConversationsAgainstTokenizers checks the documented bound for conversations, before any
// report, against the counts of real tokenizers.
//
// Proves CTX-31, SESS-46.
func TestConversationsAgainstTokenizers(t *testing.T) {
	c, talks := readCounts(t), conversations(t)
	for name, counted := range c.Conversations {
		for tokenizer, want := range counted {
			g := tokens.New(models[tokenizer])
			if got := g.Messages(talks[name]...); off(got, want) > 0.15 {
				t.Errorf("%s for %s: estimated %d, true %d", name, tokenizer, got, want)
			}
		}
	}
}

// TestConversationsAfterAReport checks that a model with an unknown tokenizer meets the same
// bound from the first report on: the first half of a conversation was reported, and the whole
// is estimated. A model that is assigned to the wrong family, because its tokenizer has
// changed, is at most 20 % off.
//
// Proves CTX-31.
func TestConversationsAfterAReport(t *testing.T) {
	c, talks := readCounts(t), conversations(t)
	tried := 0
	for name, counted := range c.Conversations {
		for tokenizer, want := range counted {
			reported := c.Halves[name][tokenizer]
			if reported < want/2 {
				continue // the greater part was not reported
			}
			tried++
			for model, bound := range map[string]float64{"mine": 0.15, "claude-x": 0.2, "qwen3": 0.2} {
				g := tokens.New(model)
				g.Report(g.Count(nil, nil, talks[name][:(len(talks[name])+1)/2]), reported)
				if got := g.Messages(talks[name]...); off(got, want) > bound {
					t.Errorf("%s, %s taken for %s: estimated %d, true %d", name, tokenizer, model, got, want)
				}
			}
		}
	}
	if tried < 10 {
		t.Errorf("only %d conversations were tried", tried)
	}
}

// TestTextsAgainstTokenizers checks the documented bounds for single kinds of text.
func TestTextsAgainstTokenizers(t *testing.T) {
	bounds := map[string]float64{"chinese.txt": 0.2, "hanzi.txt": 0.2, "paths.txt": 0.3}
	for name, counted := range readCounts(t).Texts {
		text := string(testdata(t, name))
		bound := bounds[name]
		if bound == 0 {
			bound = 0.15
		}
		for tokenizer, want := range counted {
			if got := tokens.New(models[tokenizer]).Text(text); off(got, want) > bound {
				t.Errorf("%s for %s: estimated %d, true %d", name, tokenizer, got, want)
			}
		}
	}
}
