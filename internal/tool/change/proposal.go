package change

import (
	"encoding/json"
	"reflect"

	"adze/internal/platform/fs/paths"
	"adze/internal/tool"
)

// A Proposal is the common part of calls that change a file. I is the model's input type; a
// call embeds the proposal and adds its operation.
type Proposal[I any] struct {
	*Target
	In I
	// Proposed is the model's input if the user changed it, or nil.
	Proposed *I

	tool tool.Tool
	path func(*I) *string
}

// Propose returns the proposal for a call of t. Path finds the path in an input. It touches no
// files; its error is for the model.
func Propose[I any](f *Files, t tool.Tool, in I, path func(*I) *string) (Proposal[I], error) {
	target, err := f.Target(*path(&in))
	return Proposal[I]{Target: target, In: in, tool: t, path: path}, err
}

// Input returns the input from the model or the user.
func (p *Proposal[I]) Input() any { return p.In }

// Path returns the absolute path of the file.
func (p *Proposal[I]) Path() string { return p.Target.Path }

// Access lists the call's file accesses.
func (p *Proposal[I]) Access() []tool.Access { return p.Target.Access() }

// OpenWorld reports whether the file may be on another machine.
func (p *Proposal[I]) OpenWorld() bool { return p.Remote() }

// Paths returns the paths that the rules judge, which are also the ones opened.
func (p *Proposal[I]) Paths(target string) (paths.ResolvedPath, error) { return p.Target.Paths(target) }

// Observe returns the input with the resolved path.
func (p *Proposal[I]) Observe() any {
	seen := p.In
	*p.path(&seen) = p.Target.Path
	return seen
}

// Amend returns the call for an input that the user changed.
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
