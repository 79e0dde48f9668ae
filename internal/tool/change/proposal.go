package change

import (
	"encoding/json"
	"reflect"

	"adze/internal/platform/paths"
	"adze/internal/tool"
)

// A Proposal is what the calls of all tools that change a file have in common. I is what the model gives;
// a call embeds the proposal and adds what it does.
type Proposal[I any] struct {
	*Target
	In I
	// Proposed is what the model gave, if the user changed it; else nil.
	Proposed *I

	tool tool.Tool
	path func(*I) *string
}

// Propose returns the proposal of a call of t. Path finds the path in an input. It touches nothing; its
// error is for the model.
func Propose[I any](f *Files, t tool.Tool, in I, path func(*I) *string) (Proposal[I], error) {
	target, err := f.Target(*path(&in))
	return Proposal[I]{Target: target, In: in, tool: t, path: path}, err
}

// Input returns what the model, or the user, gave.
func (p *Proposal[I]) Input() any { return p.In }

// Path returns the absolute path of the file.
func (p *Proposal[I]) Path() string { return p.Target.Path }

// Access lists what the call touches.
func (p *Proposal[I]) Access() []tool.Access { return p.Target.Access() }

// OpenWorld reports whether the file may be on another machine.
func (p *Proposal[I]) OpenWorld() bool { return p.Remote() }

// Paths is what the rules judge, and what is then opened.
func (p *Proposal[I]) Paths(target string) (paths.Set, error) { return p.Target.Paths(target) }

// Observe returns the input with the path that is meant.
func (p *Proposal[I]) Observe() any {
	seen := p.In
	*p.path(&seen) = p.Target.Path
	return seen
}

// Amend makes the call of an input that the user changed.
func (p *Proposal[I]) Amend(input json.RawMessage) (tool.Call, error) {
	amended, err := p.tool.Bind(input)
	if err != nil {
		return nil, err
	}
	if a := amended.(interface{ proposal() *Proposal[I] }).proposal(); !reflect.DeepEqual(a.In, p.In) {
		a.Proposed = &p.In
	}
	return amended, nil
}

func (p *Proposal[I]) proposal() *Proposal[I] { return p }
