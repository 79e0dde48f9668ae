// Package glob implements the tool that finds files by name.
package glob

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"adze/internal/platform/search"
	"adze/internal/tool"
	"adze/internal/tool/place"
)

// Name is the tool's name.
const Name = "Glob"

// A Finder finds files. It is a [search.Engine].
type Finder interface {
	Glob(ctx context.Context, o search.GlobOptions) (*search.GlobResult, error)
}

// Config configures the tool. Dir and Engine are required.
type Config struct {
	place.Config
	Engine Finder
}

//go:embed glob.md
var doc string

//go:embed glob.zh.md
var chinese string

//go:embed glob.schema.json
var inputSchema string

//go:embed glob.output.json
var outputSchema string

// Input is the tool's input.
type Input struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path,omitempty"`
}

// limit is the maximum number of paths returned.
const limit = 250

// New returns the tool.
func New(c Config) tool.Tool {
	return tool.NewBound(tool.Def{
		Name:   Name,
		Doc:    strings.TrimSpace(doc),
		Schema: json.RawMessage(strings.TrimSpace(inputSchema)),
		Traits: tool.Traits{
			Core: true, Background: true,
			Served:    &tool.Annotations{Fixed: true, ReadOnly: true},
			Params:    tool.Params{Paths: []string{"path", "pattern"}},
			Translate: tool.InChinese(chinese),
			Hint:      "find files by name pattern",
			Clearable: true,
			Output:    json.RawMessage(strings.TrimSpace(outputSchema)),
			Redisplay: redisplay,
		},
	}, (&finder{c}).bind)
}

// A finder is the state shared by all calls of the tool.
type finder struct{ Config }

// bind validates the input without accessing the disk. It splits an absolute pattern into a
// directory and a relative pattern.
func (f *finder) bind(in Input) (tool.Call, error) {
	if in.Pattern == "" {
		return nil, errors.New("the pattern is empty: use ** for all files")
	}
	if in.Path == "undefined" || in.Path == "null" {
		in.Path = ""
	}
	base := f.Base()
	target := in.Path
	prefix, rest := search.SplitGlob(expandHome(in.Pattern, base.Home))
	if prefix != "" {
		target = prefix
	}
	if slices.Contains(strings.Split(rest, "/"), "..") {
		return nil, errors.New("a pattern cannot leave its directory with ..: give the directory to look in as path, or begin the pattern with an absolute path")
	}
	at, err := f.At(base, target)
	if err != nil {
		return nil, err
	}
	return &call{Place: at, finder: f, in: in, pattern: rest}, nil
}

// expandHome replaces ~ at the start of a pattern.
func expandHome(pattern, home string) string {
	if rest, ok := strings.CutPrefix(pattern, "~/"); ok && home != "" {
		return home + "/" + rest
	}
	return pattern
}

// A call is a search.
type call struct {
	place.Place
	finder  *finder
	in      Input
	pattern string // relative to the place
}

func (c *call) Input() any { return c.in }

func (c *call) where() string {
	if c.in.Path == "" {
		return ""
	}
	return " in " + c.Shown()
}

func (c *call) Title() string    { return "Glob " + c.in.Pattern + c.where() }
func (c *call) Activity() string { return "Finding " + c.in.Pattern + c.where() }
func (c *call) Fold() tool.Fold  { return tool.FoldList }

// Past names the pattern.
func (c *call) Past() (verb, object string) { return "Listed", c.in.Pattern + c.where() }

func (c *call) Observe() any {
	seen := c.in
	seen.Path = c.Path
	return seen
}
