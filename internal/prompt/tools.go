package prompt

import (
	"sync"

	"adze/internal/msg"
	"adze/internal/platform/text/texts"
	"adze/internal/tool"
	"adze/internal/tool/schema"
)

// ToolTexts describes a conversation's tools in the prompt language. It caches the last
// translation, because tools seldom change. It may be nil, and is safe for concurrent use.
type ToolTexts struct {
	translate map[string]func(texts.Language) map[string]string // keyed by tool name

	mu       sync.Mutex
	language texts.Language
	from, to []msg.ToolSpec
}

// NewToolTexts returns the texts of the given tools. Other tools are described in English.
func NewToolTexts(tools []tool.Tool) *ToolTexts {
	t := &ToolTexts{translate: map[string]func(texts.Language) map[string]string{}}
	for _, one := range tools {
		if f := one.Traits().Translate; f != nil {
			t.translate[one.Spec().Name] = f
		}
	}
	return t
}

// In returns specs with descriptions in a language. The specs are not modified, and are
// identified by address in later calls.
func (t *ToolTexts) In(l texts.Language, specs []msg.ToolSpec) []msg.ToolSpec {
	if t == nil || l == texts.English || len(specs) == 0 {
		return specs
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.language != l || len(t.from) != len(specs) || &t.from[0] != &specs[0] {
		t.language, t.from, t.to = l, specs, t.describe(l, specs)
	}
	return t.to
}

func (t *ToolTexts) describe(l texts.Language, specs []msg.ToolSpec) []msg.ToolSpec {
	described := make([]msg.ToolSpec, len(specs))
	for i, s := range specs {
		if f := t.translate[s.Name]; f != nil {
			s = translated(s, f(l))
		}
		described[i] = s
	}
	return described
}

// translated returns a spec with its texts replaced by the available translations.
func translated(s msg.ToolSpec, other map[string]string) msg.ToolSpec {
	if doc, ok := other["doc"]; ok {
		s.Description = doc
		s.Schema = schema.Describe(s.Schema, func(param string) (string, bool) {
			text, ok := other[param]
			return text, ok
		})
	}
	return s
}
