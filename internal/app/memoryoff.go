package app

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"adze/internal/memory"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/platform/fsys"
	"adze/internal/platform/paths"
)

// silent returns a provider that hears nothing of memories while they are switched off: neither what was
// recalled nor what the model read and wrote there is sent, whoever asks.
func (m *remembering) silent(p model.Provider) model.Provider {
	s := &silence{Provider: p, memory: m, mute: map[msg.Part]msg.Part{}}
	if counter, ok := p.(model.Counter); ok {
		return struct {
			*silence
			model.Counter
		}{s, counter}
	}
	return s
}

type silence struct {
	model.Provider
	memory *remembering

	mu   sync.Mutex
	mute map[msg.Part]msg.Part // what stands for parts that tell of memories; always the same
}

// Stream leaves out what the conversation says of memories, if they are off.
func (s *silence) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Event, error] {
	if s.memory.off.Load() {
		r := *req
		r.Messages = s.without(req.Messages)
		req = &r
	}
	return s.Provider.Stream(ctx, req)
}

// leftOut stands where something about memories was.
const leftOut = "[left out: memory is switched off]"

func (s *silence) without(messages []msg.Message) []msg.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := s.memory.spellings()
	calls := map[string]bool{} // that work on memories
	kept := slices.Clone(messages)
	for i, m := range kept {
		parts := make([]msg.Part, 0, len(m.Parts))
		for _, p := range m.Parts {
			switch p := p.(type) {
			case *msg.Text:
				if isAbout(p.Text, names) {
					continue
				}
			case *msg.ToolUse:
				if calls[p.ID] = mentions(p.Input, names); calls[p.ID] {
					parts = append(parts, s.instead(p, func() msg.Part { return blank(p) }))
					continue
				}
			case *msg.ToolResult:
				if calls[p.ID] || mentions([]byte(msg.PlainText(p.Parts)), names) {
					parts = append(parts, s.instead(p, func() msg.Part {
						return &msg.ToolResult{ID: p.ID, Parts: []msg.Part{&msg.Text{Text: leftOut}}, IsError: p.IsError}
					}))
					continue
				}
			}
			parts = append(parts, p)
		}
		if len(parts) == 0 {
			parts = append(parts, &msg.Text{Text: leftOut})
		}
		kept[i].Parts = parts
	}
	return kept
}

// instead returns what stands for a part, the same one every time.
func (s *silence) instead(p msg.Part, other func() msg.Part) msg.Part {
	if s.mute[p] == nil {
		s.mute[p] = other()
	}
	return s.mute[p]
}

// spellings returns how the folder of memories is written in calls and results.
func (m *remembering) spellings() []string {
	names := slices.Compact([]string{m.folder.Dir, memory.Real(m.folder.Dir)})
	for _, base := range []struct{ dir, prefix string }{{fsys.UserHome(m.b.env.Getenv), "~/"}, {m.b.env.Dir, ""}} {
		if base.dir == "" {
			continue
		}
		if rel := paths.Relative(base.dir, m.folder.Dir); rel != m.folder.Dir {
			names = append(names, base.prefix+filepath.ToSlash(rel))
		}
	}
	return names
}

// isAbout reports whether a reminder tells one file, which is a memory.
func isAbout(text string, names []string) bool {
	rest, ok := strings.CutPrefix(text, "<system-reminder>\n")
	label, _, _ := strings.Cut(rest, "\n")
	return ok && mentions([]byte(label), names)
}

func mentions(text []byte, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return bytes.Contains(text, []byte(name)) })
}

// blank returns a use without what it says.
func blank(u *msg.ToolUse) msg.Part {
	var fields map[string]any
	if json.Unmarshal(u.Input, &fields) != nil {
		fields = map[string]any{}
	}
	for name, v := range fields {
		if _, ok := v.(string); ok {
			fields[name] = leftOut
		}
	}
	input, err := json.Marshal(fields)
	if err != nil {
		input = []byte("{}")
	}
	return msg.NewToolUse(u.ID, u.Name, string(input))
}
