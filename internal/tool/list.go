package tool

import (
	"errors"
	"slices"
	"strings"
)

// A State is a tool's availability to the model.
type State string

const (
	Core     State = "core"     // sent with every request
	Deferred State = "deferred" // found on demand
	Disabled State = "disabled"
	Denied   State = "denied" // denied by a permission rule
)

// A Listed is a tool's entry in a list.
type Listed struct {
	Name   string `json:"name"`
	Origin string `json:"origin"` // source of the tool, or "built-in"
	State  State  `json:"state"`
	Reason string `json:"reason,omitempty"` // why it cannot be called
	Doc    string `json:"description"`
}

// List lists all tools, including unavailable ones, together with others, ordered by name.
// Denier describes the rule that denies a tool, or returns "".
func (p *Pool) List(denier func(names ...string) string, others ...Tool) []Listed {
	list := make([]Listed, 0, len(p.known)+len(others))
	for _, t := range p.known {
		list = append(list, p.listed(t, denier))
	}
	for _, t := range others {
		l := p.listed(t, denier)
		if l.State == Core && !t.Traits().Core {
			l.State = Deferred
		}
		list = append(list, l)
	}
	slices.SortStableFunc(list, func(a, b Listed) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// maxDoc limits a server tool's description in a list, in bytes.
const maxDoc = 80

func (p *Pool) listed(t Tool, denier func(names ...string) string) Listed {
	traits := t.Traits()
	l := Listed{Name: t.Spec().Name, Origin: "built-in", State: Core, Doc: traits.Hint}
	if traits.Origin != "" {
		l.Origin, l.Doc = traits.Origin, OneLine(t.Spec().Description, maxDoc)
	}
	if p.deferred[l.Name] {
		l.State = Deferred
	}
	err := p.absent[l.Name]
	if err == nil {
		err = enabled(traits)
	}
	rule := denier(append([]string{l.Name}, traits.Aliases...)...)
	switch {
	case rule != "":
		l.State, l.Reason = Denied, rule
	case errors.Is(err, errDenied):
		l.State, l.Reason = Disabled, "it is not among the tools of this session"
	case err != nil:
		l.State, l.Reason = Disabled, err.Error()
	}
	return l
}
