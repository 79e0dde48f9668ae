package snip

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/model"
	"adze/internal/model/messages"
	"adze/internal/msg"
)

func size(list ...msg.Message) (n int) {
	for _, m := range list {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case *msg.Text:
				n += len(p.Text)
			case *msg.ToolResult:
				n += size(msg.Message{Parts: p.Parts})
			}
		}
	}
	return n
}

// talk returns a conversation of n steps, each with a result of the given size and a user
// message.
func talk(n, each int) []msg.Message {
	list := []msg.Message{msg.UserText("begin")}
	for i := 1; i <= n; i++ {
		id := fmt.Sprint("use", i)
		list = append(list,
			msg.Message{Role: msg.Assistant, Parts: []msg.Part{&msg.Thinking{Text: "Hm.", Signature: "s"}, &msg.ToolUse{ID: id, Name: "Read", Input: []byte("{}")}}},
			msg.Message{Role: msg.User, Parts: []msg.Part{
				&msg.ToolResult{ID: id, Parts: []msg.Part{&msg.Text{Text: strings.Repeat("x", each)}}},
				&msg.Text{Text: fmt.Sprint("words ", i)},
			}})
	}
	return list
}

func check(t interface{ Fatal(...any) }, list []msg.Message) {
	body, err := new(messages.Encoder).Encode(&model.Request{Model: "m", MaxTokens: 1, Messages: list, Tools: []msg.ToolSpec{{Name: "Read", Schema: []byte(`{"type":"object"}`)}}}, nil)
	if err == nil {
		err = messages.Check(body)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Proves CTX-51.
func TestSnip(t *testing.T) {
	var s Snipper
	list := talk(8, 3000)
	first := s.Snip(list, size, IfWorth)
	if first.Executed || first.Freed != 0 || first.Boundary != nil {
		t.Errorf("without a mark: %+v", first)
	}
	for i, m := range first.Messages {
		if want := i > 0 && m.Role == msg.User; strings.HasSuffix(m.Text(), fmt.Sprintf("[step %d]", i/2)) != want {
			t.Errorf("message %d ends in %q", i, m.Text())
		}
	}
	for _, bad := range [][]int{{0}, {9}, {6}, {2, 8}} {
		if err := s.Mark(bad...); err == nil {
			t.Errorf("%v was marked", bad)
		}
	}
	if s.Force() != 0 {
		t.Error("something is marked")
	}

	if err := s.Mark(2); err != nil {
		t.Fatal(err)
	}
	if out := s.Snip(list, size, IfWorth); out.Executed || cmp.Diff(first.Messages, out.Messages) != "" {
		t.Error("a step was cut that is not worth it")
	}
	if err := s.Mark(3); err != nil {
		t.Fatal(err)
	}
	out := s.Snip(list, size, IfWorth)
	if !out.Executed || out.Freed < 6000 || cmp.Diff([]int{2, 3}, out.Boundary) != "" {
		t.Errorf("two steps: executed %t, freed %d, boundary %v", out.Executed, out.Freed, out.Boundary)
	}
	check(t, out.Messages)
	if got := out.Messages[3].Text() + out.Messages[4].Text() + out.Messages[6].Text(); got != Gone+"words 2words 3" {
		t.Errorf("the rest is %q", got)
	}
	longer := s.Snip(talk(9, 3000), size, IfWorth)
	if diff := cmp.Diff(out.Messages, longer.Messages[:len(out.Messages)]); diff != "" || longer.Executed {
		t.Errorf("later requests begin otherwise:\n%s", diff)
	}

	if err := s.Mark(5); err != nil || s.Force() != 1 {
		t.Error("nothing to force", err)
	}
	if out := s.Snip(list, size, IfWorth); !out.Executed || cmp.Diff([]int{2, 3, 5}, out.Boundary) != "" {
		t.Errorf("forced: %v", out.Boundary)
	}
	var later Snipper
	later.Restore([]int{2, 3, 5})
	if diff := cmp.Diff(s.Snip(list, size, IfWorth).Messages, later.Snip(list, size, IfWorth).Messages); diff != "" {
		t.Errorf("another process sends otherwise:\n%s", diff)
	}
	if !s.Restart() || s.Restart() {
		t.Error("the cut messages are forgotten")
	}
}

// TestSnipProperty checks that the request is valid and has all of the user's words, for any
// omitted steps.
func TestSnipProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Snipper
		n := rapid.IntRange(1, 20).Draw(t, "steps")
		list := talk(n, 100)
		s.Snip(list, size, IfWorth)
		for _, step := range rapid.SliceOf(rapid.IntRange(0, 22)).Draw(t, "marked") {
			if err := s.Mark(step); err == nil && step > n-recent {
				t.Fatalf("step %d of %d was marked", step, n)
			}
		}
		out := s.Snip(list, size, Now)
		check(t, out.Messages)
		all := ""
		for _, m := range out.Messages {
			all += m.Text()
		}
		for i := 1; i <= n; i++ {
			if !strings.Contains(all, fmt.Sprint("words ", i)) {
				t.Fatalf("words %d are gone", i)
			}
		}
	})
}
