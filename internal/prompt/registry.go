package prompt

import (
	"log/slog"

	"adze/internal/platform/text/texts"
)

// A Section is a part of the prompt written by a function. It is omitted if its text is empty.
type Section struct {
	name    string
	compute func(*Facts) (string, error)
	breaks  string // the reason it is computed each turn; empty if cached
}

// Cached returns a section that is computed once and kept until [Registry.Reset], or until the
// model or language changes.
func Cached(name string, compute func(*Facts) (string, error)) Section {
	return Section{name: name, compute: compute}
}

// Uncached returns a section that is computed each turn. It requires a reason, because a change
// makes the provider read everything after it again.
func Uncached(name, reason string, compute func(*Facts) (string, error)) Section {
	if reason == "" {
		panic("brief: the section " + name + " breaks the cache without a reason")
	}
	return Section{name: name, compute: compute, breaks: reason}
}

// A Registry holds a prompt's sections and their cached text. It belongs to one conversation
// and is not safe for concurrent use.
type Registry struct {
	static, dynamic []Section
	log             *slog.Logger
	kept            map[sectionKey]string
}

type sectionKey struct {
	section, model string
	language       texts.Language
}

// NewRegistry returns the sections of the default prompt. log, if non-nil, receives problems.
func NewRegistry(log *slog.Logger) *Registry {
	return newRegistry(staticSections(), dynamicSections(), log)
}

func newRegistry(static, dynamic []Section, log *slog.Logger) *Registry {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Registry{static: static, dynamic: dynamic, log: log, kept: map[sectionKey]string{}}
}

// Reset clears the cached text, after the conversation or the settings changed.
func (r *Registry) Reset() { clear(r.kept) }

// Assemble returns the default prompt. A section that fails is omitted.
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
