// Package glob is the tool that finds files by name. The search itself is done by platform/search; what
// may be read is decided by the permission rules.
package glob

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"strings"

	"adze/internal/platform/paths"
	"adze/internal/platform/search"
	"adze/internal/tool"
)

// A Finder finds files. It is a [search.Engine].
type Finder interface {
	Glob(ctx context.Context, o search.GlobOptions) (*search.GlobResult, error)
}

// A Config is what the tool needs to know. Dir and Engine are required. Its functions may be called
// from several goroutines.
type Config struct {
	// Dir returns the working directory, absolute. It is asked once per call, when the call is bound.
	Dir func() string
	// Home returns the home directory, or empty; nil means the user's.
	Home   func() string
	Engine Finder
	// Denied returns what names the rule that keeps a path from being read, if one does: such a path is
	// passed over. It is asked once per call; nil, also as its answer, means that nothing is hidden.
	Denied func() func(path string) (rule string)
}

//go:embed glob.md
var doc string

//go:embed glob.schema.json
var inputSchema string

//go:embed glob.output.json
var outputSchema string

// An Input is what the model gives.
type Input struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path,omitempty"`
}

// limit is how many paths are returned.
const limit = 250

// New returns the tool.
func New(c Config) tool.Tool {
	if c.Home == nil {
		c.Home = paths.UserHome
	}
	return tool.NewBound(tool.Def{
		Name:   "Glob",
		Doc:    strings.TrimSpace(doc),
		Schema: json.RawMessage(strings.TrimSpace(inputSchema)),
		Traits: tool.Traits{
			Hint:      "find files by name pattern",
			Cancel:    true,
			Clearable: true,
			Output:    json.RawMessage(strings.TrimSpace(outputSchema)),
		},
	}, (&finder{c}).bind)
}

// A finder is what all calls of the tool share.
type finder struct{ Config }

// bind checks everything about in that can be told without touching the disk. A pattern that is an
// absolute path is divided into the directory it is about and the rest.
func (f *finder) bind(in Input) (tool.Call, error) {
	if in.Pattern == "" {
		return nil, errors.New("the pattern is empty: use ** for all files")
	}
	if in.Path == "undefined" || in.Path == "null" {
		in.Path = ""
	}
	c := &call{finder: f, in: in, dir: f.Dir()}
	base := paths.Base{Dir: c.dir, Home: f.Home()}
	target := in.Path
	prefix, rest := search.SplitGlob(expandHome(in.Pattern, base.Home))
	if c.pattern = rest; prefix != "" {
		target = prefix
	}
	c.path = c.dir
	if target != "" {
		var err error
		if c.path, err = base.Expand(target); err != nil {
			return nil, err
		}
		c.target = target
	}
	return c, nil
}

// expandHome replaces ~ at the beginning of a pattern.
func expandHome(pattern, home string) string {
	if rest, ok := strings.CutPrefix(pattern, "~/"); ok && home != "" {
		return home + "/" + rest
	}
	return pattern
}

// A call is one search. The path is fixed when the call is bound, so that what is searched is what was
// judged.
type call struct {
	*finder
	in      Input
	dir     string
	target  string // the directory as the model gave it; empty for the working directory
	path    string // the same, absolute
	pattern string // relative to it
}

func (c *call) Input() any { return c.in }

func (c *call) where() string {
	if c.in.Path == "" {
		return ""
	}
	return " in " + paths.Relative(c.dir, c.path)
}

func (c *call) Title() string    { return "Glob " + c.in.Pattern + c.where() }
func (c *call) Activity() string { return "Finding " + c.in.Pattern + c.where() }
func (c *call) Fold() tool.Fold  { return tool.FoldList }
func (c *call) Concurrent() bool { return true }

// Access names the directory that is searched, as the model gave it.
func (c *call) Access() []tool.Access {
	target := c.target
	if target == "" {
		target = c.dir
	}
	return []tool.Access{{Verb: tool.Read, Target: target}}
}

// ReadOnly is false for a share of another machine: touching one can hand it the user's credentials.
func (c *call) ReadOnly() bool  { return !paths.IsUNC(c.target) }
func (c *call) OpenWorld() bool { return paths.IsUNC(c.target) }

func (c *call) Observe() any {
	seen := c.in
	seen.Path = c.path
	return seen
}
