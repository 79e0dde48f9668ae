package brief

import (
	"log/slog"

	"adze/internal/platform/texts"
)

// A Section is a part of the prompt that is written by a function. Empty text leaves it out.
type Section struct {
	name    string
	compute func(*Facts) (string, error)
	breaks  string // why it is computed for each turn; empty if it is cached
}

// Cached returns a section that is computed once and kept until [Registry.Reset], or until the model or
// the language changes.
func Cached(name string, compute func(*Facts) (string, error)) Section {
	return Section{name: name, compute: compute}
}

// Uncached returns a section that is computed for each turn. Since a change of it makes the provider read
// everything again that follows, it takes a reason.
func Uncached(name, reason string, compute func(*Facts) (string, error)) Section {
	if reason == "" {
		panic("brief: the section " + name + " breaks the cache without a reason")
	}
	return Section{name: name, compute: compute, breaks: reason}
}

// A Registry holds the sections of a prompt and what they last said. It belongs to one conversation and is
// not safe for concurrent use.
type Registry struct {
	static, dynamic []Section
	log             *slog.Logger
	kept            map[sectionKey]string
}

type sectionKey struct {
	section, model string
	language       texts.Language
}

// NewRegistry returns the sections of the default prompt. Problems are logged to log, which may be nil.
func NewRegistry(log *slog.Logger) *Registry {
	return newRegistry(staticSections(), dynamicSections(), log)
}

func newRegistry(static, dynamic []Section, log *slog.Logger) *Registry {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Registry{static: static, dynamic: dynamic, log: log, kept: map[sectionKey]string{}}
}

// Reset forgets what the sections said, after the conversation or the settings changed.
func (r *Registry) Reset() { clear(r.kept) }

// Assemble returns the default prompt. A section that fails is left out.
func (r *Registry) Assemble(f *Facts) Assembly {
	var a Assembly
	for _, s := range r.static {
		a.add(s.name, r.text(s, f))
	}
	a.Boundary = len(a.Pieces)
	for _, s := range r.dynamic {
		a.add(s.name, r.text(s, f))
	}
	return a
}

func (r *Registry) text(s Section, f *Facts) string {
	key := sectionKey{s.name, f.Model.ID, f.Language}
	if text, ok := r.kept[key]; ok && s.breaks == "" {
		return text
	}
	text, err := s.compute(f)
	if err != nil {
		r.log.Warn("a section of the prompt is left out", "section", s.name, "err", err)
		return ""
	}
	if s.breaks == "" {
		r.kept[key] = text
	}
	return text
}
