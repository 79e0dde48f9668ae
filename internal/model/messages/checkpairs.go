package messages

import (
	"fmt"
	"slices"
)

// checkPairing checks that each tool use is answered exactly once, at the start of the next
// message, and that the request has no other results.
func checkPairing(r *checkedRequest) error {
	ids := make(map[string]bool) // IDs in the whole conversation
	var due []string             // IDs in the previous message
	for i, m := range r.Messages {
		results := true // only results so far
		var answered []string
		for j, b := range m.Content {
			place := fmt.Sprintf("messages.%d.content.%d", i, j)
			if b.Type != "tool_result" {
				results = false
				continue
			}
			switch {
			case !slices.Contains(due, b.ToolUseID):
				return fmt.Errorf("%s: result for %q, which the message before does not use", place, b.ToolUseID)
			case slices.Contains(answered, b.ToolUseID):
				return fmt.Errorf("%s: second result for %q", place, b.ToolUseID)
			case !results:
				return fmt.Errorf("%s: tool results must come first in their message", place)
			}
			answered = append(answered, b.ToolUseID)
		}
		for _, id := range due {
			if !slices.Contains(answered, id) {
				return fmt.Errorf("messages.%d: tool use %q has no result in the next message", i-1, id)
			}
		}
		due = due[:0]
		for j, b := range m.Content {
			if b.Type != "tool_use" {
				continue
			}
			if ids[b.ID] {
				return fmt.Errorf("messages.%d.content.%d.id: %q is not unique", i, j, b.ID)
			}
			ids[b.ID] = true
			due = append(due, b.ID)
		}
	}
	if len(due) > 0 {
		return fmt.Errorf("messages.%d: tool use %q has no result in the next message", len(r.Messages)-1, due[0])
	}
	return nil
}

// checkThinking checks that thinking opens its message and never ends the conversation's last
// answer.
func checkThinking(r *checkedRequest) error {
	last := -1
	for i, m := range r.Messages {
		if m.Role != "assistant" {
			continue
		}
		last = i
		thinks := slices.ContainsFunc(m.Content, func(b checkedBlock) bool { return b.isThinking() })
		if thinks && !m.Content[0].isThinking() {
			return fmt.Errorf("messages.%d.content.0: a message with thinking must start with it", i)
		}
	}
	if last >= 0 {
		content := r.Messages[last].Content
		if n := len(content) - 1; content[n].isThinking() {
			return fmt.Errorf("messages.%d.content.%d: the last answer may not end in thinking", last, n)
		}
	}
	return nil
}

// checkMarks checks that cache marks are few and not on thinking, and that none has a longer
// lifetime than one before it. The server processes tools, system and messages in this order.
func checkMarks(r *checkedRequest) error {
	n, short := 0, false
	mark := func(place string, m *checkedMark) error {
		if m == nil {
			return nil
		}
		n++
		switch {
		case m.Type != "ephemeral":
			return fmt.Errorf("%s.cache_control.type: must be ephemeral", place)
		case m.TTL != "" && m.TTL != "5m" && m.TTL != "1h":
			return fmt.Errorf("%s.cache_control.ttl: %q is neither 5m nor 1h", place, m.TTL)
		case m.TTL == "1h" && short:
			return fmt.Errorf("%s.cache_control.ttl: 1h may not come after 5m", place)
		case n > maxMarks:
			return fmt.Errorf("%s.cache_control: more than %d cache marks", place, maxMarks)
		}
		short = short || m.TTL != "1h"
		return nil
	}
	for i, t := range r.Tools {
		if err := mark(fmt.Sprintf("tools.%d", i), t.Mark); err != nil {
			return err
		}
	}
	for i, b := range r.System {
		if err := mark(fmt.Sprintf("system.%d", i), b.Mark); err != nil {
			return err
		}
	}
	for i, m := range r.Messages {
		for j, b := range m.Content {
			place := fmt.Sprintf("messages.%d.content.%d", i, j)
			if b.Mark != nil && b.isThinking() {
				return fmt.Errorf("%s.cache_control: thinking may not carry a cache mark", place)
			}
			if err := mark(place, b.Mark); err != nil {
				return err
			}
		}
	}
	return nil
}
