// Package grep implements the tool that searches file contents by regular expression.
package grep

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/fs/paths"
	"adze/internal/platform/search"
	"adze/internal/tool"
	"adze/internal/tool/place"
)

// Name is the tool's name.
const Name = "Grep"

// A Searcher searches file contents. It is a [search.Engine].
type Searcher interface {
	Grep(ctx context.Context, o search.GrepOptions) (*search.GrepResult, error)
}

// Config configures the tool. Dir and Engine are required.
type Config struct {
	place.Config
	Engine Searcher
	// State records which lines were shown; may be nil.
	State *filestate.Store
}

//go:embed grep.md
var doc string

//go:embed grep.zh.md
var chinese string

//go:embed grep.schema.json
var inputSchema string

//go:embed grep.output.json
var outputSchema string

// Input is the tool's input.
type Input struct {
	Pattern    string `json:"pattern"`
	Path       string `json:"path,omitempty"`
	Glob       string `json:"glob,omitempty"`
	Type       string `json:"type,omitempty"`
	OutputMode string `json:"output_mode,omitempty"`
	After      int    `json:"-A,omitempty"`
	Before     int    `json:"-B,omitempty"`
	Context    int    `json:"-C,omitempty"`
	Numbers    *bool  `json:"-n,omitempty"`
	IgnoreCase bool   `json:"-i,omitempty"`
	Only       bool   `json:"-o,omitempty"`
	Multiline  bool   `json:"multiline,omitempty"`
	HeadLimit  *int   `json:"head_limit,omitempty"`
	Offset     int    `json:"offset,omitempty"`
}

// The output modes.
const (
	modeFiles   = "files_with_matches"
	modeContent = "content"
	modeCount   = "count"
)

// defaultLimit is a token budget: this many lines are about a tenth of a usual context window.
const defaultLimit = 250

// New returns the tool.
func New(c Config) tool.Tool {
	return tool.NewBound(tool.Def{
		Name:   Name,
		Doc:    strings.TrimSpace(doc),
		Schema: json.RawMessage(strings.TrimSpace(inputSchema)),
		Traits: tool.Traits{
			Core: true, Background: true,
			Served:    &tool.Annotations{Fixed: true, ReadOnly: true},
			Params:    tool.Params{Paths: []string{"path"}, Texts: []string{"pattern", "glob", "type"}},
			Translate: tool.InChinese(chinese),
			Hint:      "search file contents by regular expression",
			Clearable: true,
			Output:    json.RawMessage(strings.TrimSpace(outputSchema)),
			Redisplay: redisplay,
		},
	}, (&finder{c}).bind)
}

// A finder is the state shared by all calls of the tool.
type finder struct{ Config }

// bind validates the input without accessing the disk.
func (f *finder) bind(in Input) (tool.Call, error) {
	if in.Pattern == "" {
		return nil, errors.New("the pattern is empty: every line would match")
	}
	if in.OutputMode == "" {
		in.OutputMode = modeFiles
	}
	if in.Path == "undefined" || in.Path == "null" {
		in.Path = ""
	}
	at, err := f.At(f.Base(), in.Path)
	switch {
	case err != nil:
		return nil, err
	case paths.IsBlocked(at.Path):
		return nil, fmt.Errorf("%s is a device or a view into a running process, and is never read.", at.Path)
	}
	return &call{Place: at, finder: f, in: in}, nil
}

// A call is a search.
type call struct {
	place.Place
	finder *finder
	in     Input
	hidden atomic.Bool // something was skipped because a rule hides it
}

func (c *call) Input() any { return c.in }

func (c *call) where() string {
	if c.Path == c.Dir {
		return ""
	}
	return " in " + c.Shown()
}

func (c *call) Title() string    { return "Grep " + c.in.Pattern + c.where() }
func (c *call) Activity() string { return "Searching for " + c.in.Pattern + c.where() }
func (c *call) Fold() tool.Fold  { return tool.FoldSearch }

// Past returns the pattern and the place of the search.
func (c *call) Past() (verb, object string) {
	object = c.in.Pattern
	if c.in.Glob != "" {
		object += " in " + c.in.Glob
	}
	return "Searched", object + c.where()
}

func (c *call) Observe() any {
	seen := c.in
	seen.Path = c.Path
	return seen
}
