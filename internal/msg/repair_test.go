package msg_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/model"
	"adze/internal/model/messages"
	"adze/internal/msg"
)

// talk builds a conversation from lines such as "user text hello" or "assistant use t1": a
// role, a kind of part and its text or ID. A line that begins with "+" adds to the previous
// message.
func talk(t testing.TB, script string) []msg.Message {
	t.Helper()
	var out []msg.Message
	for line := range strings.Lines(script) {
		role, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		kind, arg, _ := strings.Cut(rest, " ")
		switch role {
		case "":
			continue
		case "+":
			last := &out[len(out)-1]
			last.Parts = append(last.Parts, part(t, kind, arg))
			continue
		}
		m := msg.Message{Role: msg.Role(role)}
		if kind != "nothing" {
			m.Parts = []msg.Part{part(t, kind, arg)}
		}
		out = append(out, m)
	}
	return out
}

func part(t testing.TB, kind, arg string) msg.Part {
	t.Helper()
	id, text, _ := strings.Cut(arg, ":")
	switch kind {
	case "text":
		return &msg.Text{Text: arg}
	case "blank":
		return &msg.Text{Text: " \n"}
	case "thinking":
		return &msg.Thinking{Text: arg, Signature: "signed"}
	case "named":
		return &msg.Thinking{Text: text, Signature: id + ":signed"}
	case "unsigned":
		return &msg.Thinking{Text: arg}
	case "redacted":
		return &msg.Redacted{Data: arg}
	case "opaque":
		return &msg.Opaque{Raw: []byte(`{"type":"future"}`)}
	case "server":
		return &msg.Server{Raw: []byte(`{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`)}
	case "image":
		return &msg.Image{MediaType: "image/png", Data: []byte(arg)}
	case "use":
		if text == "" {
			text = "Read"
		}
		return msg.NewToolUse(id, text, "")
	case "result":
		r := &msg.ToolResult{ID: id}
		switch text {
		case "empty":
		case "blank":
			r.Parts = []msg.Part{&msg.Text{}, &msg.Text{Text: "\n"}}
		case "mixed":
			r.Parts = []msg.Part{&msg.Text{}, &msg.Image{MediaType: "image/png", Data: []byte("x")}, &msg.ToolUse{ID: "x"}}
		default:
			r.Parts = []msg.Part{&msg.Text{Text: id + text}}
		}
		return r
	}
	t.Fatalf("no part is called %q", kind)
	return nil
}

// show renders a conversation with one line per part.
func show(ms []msg.Message) string {
	var b strings.Builder
	for _, m := range ms {
		fmt.Fprintf(&b, "%s\n", m.Role)
		for _, p := range m.Parts {
			fmt.Fprintf(&b, "  %s\n", showPart(p))
		}
	}
	return b.String()
}

func showPart(p msg.Part) string {
	switch p := p.(type) {
	case *msg.Text:
		return "text " + p.Text
	case *msg.Thinking:
		return "thinking " + p.Text
	case *msg.Redacted:
		return "redacted " + p.Data
	case *msg.ToolUse:
		return "use " + p.ID + " " + p.Name
	case *msg.Image:
		return "image"
	case *msg.ToolResult:
		s := "result " + p.ID
		if p.IsError {
			s = "error " + p.ID
		}
		for _, c := range p.Parts {
			s += " (" + showPart(c) + ")"
		}
		return s
	}
	return fmt.Sprintf("%T", p)
}

// Proves SESS-21, LOOP-17, LOOP-20.
func TestRepair(t *testing.T) {
	const missing = "(text " + msg.MissingResult + ")"
	long := strings.Repeat("x", 129)
	tests := []struct {
		name, in, want string
		problems       []string // one keyword per problem
	}{
		{"missing result", `
			user text go
			assistant use t1
			+ use t2
			user result t2
			+ text and?`, `
			user
			  text go
			assistant
			  use t1 Read
			  use t2 Read
			user
			  error t1 ` + missing + `
			  result t2 (text t2)
			  text and?`, []string{`"t1" had no result`}},
		{"ends in an unanswered use", `
			user text go
			assistant use t1`, `
			user
			  text go
			assistant
			  use t1 Read
			user
			  error t1 ` + missing, []string{"no result"}},
		{"answered by the assistant going on", `
			user text go
			assistant use t1
			user blank
			assistant text done`, `
			user
			  text go
			assistant
			  use t1 Read
			user
			  error t1 ` + missing + `
			assistant
			  text done`, []string{"no result"}},
		{"doubled result", `
			user text go
			assistant use t1
			user result t1:first
			+ result t1:second`, `
			user
			  text go
			assistant
			  use t1 Read
			user
			  result t1 (text t1first)`, []string{"two results"}},
		{"unknown result next to a known one", `
			user text go
			assistant use t1
			user result t9
			+ result t1`, `
			user
			  text go
			assistant
			  use t1 Read
			user
			  result t1 (text t1)`, []string{`unknown tool use "t9"`}},
		{"result without any use", `
			user text go
			+ result t9
			+ text on
			assistant text ok
			user result t8`, `
			user
			  text go
			  text on
			assistant
			  text ok`, []string{`"t9"`, `"t8"`}},
		{"result too late", `
			user text go
			assistant use t1
			user text wait
			assistant text hm
			user result t1`, `
			user
			  text go
			assistant
			  use t1 Read
			user
			  error t1 ` + missing + `
			  text wait
			assistant
			  text hm`, []string{"no result", "unknown"}},
		{"out of order", `
			user text go
			assistant use t1
			+ use t2
			user text first
			+ result t2
			+ result t1`, `
			user
			  text go
			assistant
			  use t1 Read
			  use t2 Read
			user
			  result t1 (text t1)
			  result t2 (text t2)
			  text first`, nil},
		{"spread over messages", `
			user text go
			assistant thinking hm
			assistant use t1
			assistant use t2
			user result t1
			user text and
			user result t2`, `
			user
			  text go
			assistant
			  thinking hm
			  use t1 Read
			  use t2 Read
			user
			  result t1 (text t1)
			  result t2 (text t2)
			  text and`, nil},
		{"assistant first", `
			assistant text hello
			+ use t1
			user result t1
			+ text go`, `
			user
			  text [The message that was answered here is missing from the transcript.]
			assistant
			  text hello
			  use t1 Read
			user
			  result t1 (text t1)
			  text go`, []string{"began with the assistant"}}, // D10
		{"empty text", `
			user text go
			+ blank
			assistant blank
			user text on`, `
			user
			  text go
			  text on`, nil},
		{"unsigned thinking", `
			user text go
			assistant unsigned a
			+ thinking b
			+ text ok`, `
			user
			  text go
			assistant
			  thinking b
			  text ok`, nil},
		{"trailing thinking", `
			user text go
			assistant thinking a
			+ text ok
			+ thinking b
			+ redacted c
			+ blank
			+ opaque`, `
			user
			  text go
			assistant
			  thinking a
			  text ok`, nil},
		{"only thinking", `
			user text go
			assistant thinking a
			user text on`, `
			user
			  text go
			  text on`, nil},
		{"thinking not first", `
			user text go
			assistant text a
			+ thinking b
			+ text c`, `
			user
			  text go
			assistant
			  text a
			  text c`, []string{"thinking"}},
		{"thinking that names its dialect is where that wants it", `
			user text go
			assistant text a
			+ named chat:b
			+ use t1
			+ named chat:c
			user result t1
			assistant named chat:d
			user text on
			assistant text e
			+ named chat:f
			+ thinking g`, `
			user
			  text go
			assistant
			  text a
			  thinking b
			  use t1 Read
			  thinking c
			user
			  result t1 (text t1)
			  text on
			assistant
			  text e
			  thinking f`, nil},
		{"thinking not first after a message that vanished", `
			user text go
			assistant text a
			user blank
			assistant thinking b
			+ text c`, `
			user
			  text go
			assistant
			  text a
			  text c`, []string{"thinking"}},
		{"nothing but unknown blocks", `
			user text go
			assistant opaque
			user opaque
			assistant text a
			+ opaque`, `
			user
			  text go
			assistant
			  text a`, nil},
		{"in the wrong mouth", `
			user text go
			+ use t1
			+ thinking a
			+ redacted b
			+ server
			assistant result t1
			+ image x
			+ text ok
			user text on`, `
			user
			  text go
			assistant
			  text ok
			user
			  text on`, nil},
		{"media and reasoning without content", `
			user text go
			+ image
			assistant redacted
			+ text ok`, `
			user
			  text go
			assistant
			  text ok`, nil},
		{"id taken by an earlier message", `
			user text go
			assistant use t1
			user result t1
			assistant use t1
			+ use t1_2
			user result t1:again
			+ result t1_2`, `
			user
			  text go
			assistant
			  use t1 Read
			user
			  result t1 (text t1)
			assistant
			  use t1_2 Read
			  use t1_2_2 Read
			user
			  result t1_2 (text t1again)
			  result t1_2_2 (text t1_2)`, []string{`"t1_2" of`, `"t1_2_2" of`}},
		{"illegal id and name", `
			user text go
			assistant use a b/ü:
			+ use :no such tool
			user result a b/ü
			+ result `, `
			user
			  text go
			assistant
			  use a_b___2 Read
			  use use_2 no_such_tool
			user
			  result a_b___2 (text a b/ü)
			  result use_2 (text (no output))`, []string{"unusable", "unusable"}},
		{"id too long", "user text go\nassistant use " + long, "user\n  text go\nassistant\n  use " + long[:100] + "_2 Read\nuser\n  error " + long[:100] + "_2 " + missing, []string{"unusable", "no result"}},
		{"empty results", `
			user text go
			assistant use t1
			+ use t2
			+ use t3
			user result t1:empty
			+ result t2:blank
			+ result t3:mixed`, `
			user
			  text go
			assistant
			  use t1 Read
			  use t2 Read
			  use t3 Read
			user
			  result t1 (text (no output))
			  result t2 (text (no output))
			  result t3 (image)`, nil},
		{"nothing", "", "", nil},
		{"messages without parts", `
			user nothing
			assistant nothing
			user nothing`, "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := talk(t, tt.in)
			before := show(in)
			got, problems := msg.Repair(in)
			if diff := cmp.Diff(outdent(tt.want), show(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(problems) != len(tt.problems) {
				t.Errorf("problems %v, want %d", problems, len(tt.problems))
			} else {
				for i, word := range tt.problems {
					if !strings.Contains(problems[i].Text, word) {
						t.Errorf("problem %d is %q, want one with %q", i, problems[i].Text, word)
					}
				}
			}
			if show(in) != before {
				t.Errorf("the input was changed to\n%s", show(in))
			}
			again, problems := msg.Repair(got)
			if diff := cmp.Diff(got, again); diff != "" || len(problems) > 0 {
				t.Errorf("repaired again (-once +twice):\n%s%v", diff, problems)
			}
		})
	}
}

// outdent removes the leading tabs and blank line from a table's text.
func outdent(s string) string {
	s = strings.TrimPrefix(strings.ReplaceAll(s, "\t", ""), "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	return s
}

// wellFormed draws a conversation as a session builds it: results first and in order, possibly
// followed by other parts.
func wellFormed() *rapid.Generator[[]msg.Message] {
	text := func(t *rapid.T, label string) *msg.Text {
		return &msg.Text{Text: "x" + rapid.String().Draw(t, label)}
	}
	return rapid.Custom(func(t *rapid.T) []msg.Message {
		out := []msg.Message{{Role: msg.User, Parts: []msg.Part{text(t, "prompt")}}}
		ids := 0
		for range rapid.IntRange(0, 6).Draw(t, "iterations") {
			answer := msg.Message{Role: msg.Assistant}
			if rapid.Bool().Draw(t, "thinks") {
				answer.Parts = append(answer.Parts, &msg.Thinking{Text: "hm", Signature: "s"})
			}
			answer.Parts = append(answer.Parts, text(t, "said"))
			next := msg.Message{Role: msg.User}
			for range rapid.IntRange(0, 3).Draw(t, "uses") {
				ids++
				id := fmt.Sprint("t", ids)
				answer.Parts = append(answer.Parts, msg.NewToolUse(id, "Read", ""))
				next.Parts = append(next.Parts, &msg.ToolResult{ID: id, Parts: []msg.Part{text(t, "result")}})
			}
			if len(next.Parts) == 0 || rapid.Bool().Draw(t, "queued") {
				next.Parts = append(next.Parts, text(t, "queued"))
			}
			out = append(out, answer, next)
		}
		return out
	})
}

func TestRepairLeavesTheWellFormedAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := wellFormed().Draw(t, "conversation")
		got, problems := msg.Repair(in)
		if len(problems) > 0 || len(got) != len(in) {
			t.Fatalf("problems %v, %d messages of %d", problems, len(got), len(in))
		}
		for i := range in {
			if got[i].Role != in[i].Role || !slices.Equal(got[i].Parts, in[i].Parts) { // the same pointers
				t.Fatalf("message %d was replaced:\n%s", i, show(got[i:i+1]))
			}
		}
	})
}

// anything draws arbitrary messages.
func anything() *rapid.Generator[[]msg.Message] {
	id := rapid.SampledFrom([]string{"t1", "t2", "t3", "t1_2", "a b", "", strings.Repeat("x", 200)})
	text := rapid.SampledFrom([]string{"", " ", "hello"})
	result := rapid.Custom(func(t *rapid.T) msg.Part {
		r := &msg.ToolResult{ID: id.Draw(t, "id"), IsError: rapid.Bool().Draw(t, "error")}
		for range rapid.IntRange(0, 2).Draw(t, "parts") {
			r.Parts = append(r.Parts, rapid.SampledFrom([]msg.Part{
				&msg.Text{Text: text.Draw(t, "text")}, &msg.Image{MediaType: "image/png", Data: []byte(text.Draw(t, "data"))},
				&msg.Opaque{Raw: []byte(`{"type":"x"}`)}, &msg.ToolResult{ID: "t1"}, &msg.Thinking{Signature: "s"},
			}).Draw(t, "part"))
		}
		return r
	})
	use := rapid.Custom(func(t *rapid.T) msg.Part {
		name := rapid.SampledFrom([]string{"Read", "", "two words"}).Draw(t, "name")
		return msg.NewToolUse(id.Draw(t, "id"), name, rapid.SampledFrom([]string{"", "{}", "{", " {}"}).Draw(t, "input"))
	})
	other := rapid.Custom(func(t *rapid.T) msg.Part {
		return rapid.SampledFrom([]msg.Part{
			&msg.Text{Text: text.Draw(t, "text")}, &msg.Thinking{Text: "t"}, &msg.Thinking{Text: "t", Signature: "s"},
			&msg.Redacted{}, &msg.Redacted{Data: "r"}, &msg.Image{MediaType: "image/png", Data: []byte(text.Draw(t, "data"))},
			&msg.Document{MediaType: "application/pdf", Data: []byte(text.Draw(t, "data"))}, &msg.Opaque{Raw: []byte(`{"type":"x"}`)},
			&msg.Server{Raw: []byte(`{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`)},
		}).Draw(t, "part")
	})
	message := rapid.Custom(func(t *rapid.T) msg.Message {
		return msg.Message{
			Role:  rapid.SampledFrom([]msg.Role{msg.User, msg.Assistant}).Draw(t, "role"),
			Parts: rapid.SliceOfN(rapid.OneOf(use, result, other), 0, 4).Draw(t, "parts"),
		}
	})
	return rapid.SliceOfN(message, 0, 8)
}

// TestRepairMakesRequestsValid checks that after any history is loaded, the next request is
// valid.
//
// Proves SESS-21, LOOP-17.
func TestRepairMakesRequestsValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := append(anything().Draw(t, "messages"), msg.UserText("and now?"))
		got, _ := msg.Repair(in)
		var enc messages.Encoder
		body, err := enc.Encode(&model.Request{Model: "m", MaxTokens: 10, Messages: got}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := messages.Check(body); err != nil {
			t.Fatalf("%v\n%s\nof\n%s", err, show(got), show(in))
		}
		if again, problems := msg.Repair(got); len(problems) > 0 || show(again) != show(got) {
			t.Fatalf("a second repair found %v:\n%s\nafter the first:\n%s", problems, show(again), show(got))
		}
	})
}

// TestConversationGrows checks that a Conversation read while it grows equals one repaired in a
// single pass.
func TestConversationGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anything().Draw(t, "messages")
		var c msg.Conversation
		for n, m := range in {
			c.Add(m)
			if rapid.Bool().Draw(t, "look") {
				c.Messages()
			}
			got, problems := c.Messages()
			want, wantProblems := msg.Repair(in[:n+1])
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("after %d messages (-at once +grown):\n%s", n+1, diff)
			}
			if diff := cmp.Diff(wantProblems, problems); diff != "" {
				t.Fatalf("problems after %d messages (-at once +grown):\n%s", n+1, diff)
			}
		}
	})
}

// TestRepairedPrefixIsStable checks that messages already sent never change, because the
// provider's cache depends on it.
func TestRepairedPrefixIsStable(t *testing.T) {
	// A session also truncates answers, splits messages and keeps unknown blocks.
	disturb := func(t *rapid.T, in []msg.Message) []msg.Message {
		var out []msg.Message
		for _, m := range in {
			switch rapid.IntRange(0, 5).Draw(t, "disturb") {
			case 0:
				m.Parts = append(slices.Clone(m.Parts), &msg.Opaque{Raw: []byte(`{"type":"x"}`)}, &msg.Text{})
			case 1:
				out = append(out, m)
				m = msg.Message{Role: m.Role, Parts: []msg.Part{&msg.Text{Text: "more"}}}
			case 2:
				if m.Role == msg.Assistant && len(m.Uses()) == 0 {
					m.Parts = []msg.Part{&msg.Thinking{Text: "cut off"}}
				}
			}
			out = append(out, m)
		}
		return out
	}
	rapid.Check(t, func(t *rapid.T) {
		all := disturb(t, wellFormed().Draw(t, "conversation"))
		whole, _ := msg.Repair(all)
		for n := 1; n <= len(all); n++ {
			if all[n-1].Role != msg.User {
				continue
			}
			part, _ := msg.Repair(all[:n])
			if !strings.HasPrefix(blocks(whole), blocks(part)) {
				t.Fatalf("the first %d messages repaired:\n%s\nall of them:\n%s", n, show(part), show(whole))
			}
		}
	})
}

// blocks renders a conversation such that appending a block, to the last message or a new one,
// appends to the text.
func blocks(ms []msg.Message) string {
	var b strings.Builder
	for _, m := range ms {
		for _, p := range m.Parts {
			fmt.Fprintf(&b, "%s %s\n", m.Role, showPart(p))
		}
	}
	return b.String()
}

func FuzzRepair(f *testing.F) {
	f.Add("user text a\nassistant use t1\nuser result t1\n")
	f.Add("assistant thinking a\n+ use t1\nuser result t2\n+ result t1:blank\nassistant opaque\n")
	f.Fuzz(func(t *testing.T, script string) {
		for line := range strings.Lines(script) {
			role, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			kind, _, _ := strings.Cut(rest, " ")
			if !slices.Contains([]string{"user", "assistant"}, role) ||
				!slices.Contains([]string{"nothing", "text", "blank", "thinking", "named", "unsigned", "redacted", "opaque", "server", "image", "use", "result"}, kind) {
				return
			}
		}
		got, _ := msg.Repair(append(talk(t, script), msg.UserText("and now?")))
		var enc messages.Encoder
		body, err := enc.Encode(&model.Request{Model: "m", MaxTokens: 10, Messages: got}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := messages.Check(body); err != nil {
			t.Fatalf("%v\n%s", err, show(got))
		}
	})
}
