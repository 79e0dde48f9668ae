// Package read is the tool that shows the model a file. It reads text; what may be read is decided by
// the permission rules, before it runs.
package read

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"adze/internal/platform/paths"
	"adze/internal/tool"
)

// A Config is what the tool needs to know. Only Dir is required.
type Config struct {
	// Dir returns the working directory, absolute. It is asked once per call, when the call is bound.
	Dir func() string
	// Home returns the home directory, or empty; nil means the user's.
	Home func() string
	// MaxBytes bounds the files that are read without a limit of lines; 0 means 256 KB.
	MaxBytes int64
	// MaxTokens bounds what is returned, by an estimate from its size; 0 means 25,000.
	MaxTokens int
}

const (
	defaultMaxBytes  = 256 << 10
	defaultMaxTokens = 25_000
)

// The error codes of the tool's contract.
const (
	codeBinary = 4
	codeDevice = 9
)

//go:embed read.md
var doc string

//go:embed read.schema.json
var inputSchema string

//go:embed read.output.json
var outputSchema string

// An Input is what the model gives.
type Input struct {
	FilePath string `json:"file_path"`
	Offset   *int   `json:"offset,omitempty"`
	Limit    *int   `json:"limit,omitempty"`
}

// New returns the tool.
func New(c Config) tool.Tool {
	if c.Home == nil {
		c.Home = userHome
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = defaultMaxBytes
	}
	if c.MaxTokens == 0 {
		c.MaxTokens = defaultMaxTokens
	}
	return tool.NewBound(tool.Def{
		Name:   "Read",
		Doc:    strings.TrimSpace(doc),
		Schema: json.RawMessage(strings.TrimSpace(inputSchema)),
		Strict: true,
		Traits: tool.Traits{
			Hint:         "read the contents of a file",
			NeverPersist: true,
			Cancel:       true,
			Clearable:    true,
			Output:       json.RawMessage(strings.TrimSpace(outputSchema)),
		},
	}, c.bind)
}

func userHome() string {
	home, _ := os.UserHomeDir() // ok: without a home there is no ~
	return home
}

// bind checks everything about in that can be told without touching the disk.
func (c Config) bind(in Input) (tool.Call, error) {
	if in.Offset != nil && *in.Offset < 1 {
		return nil, fmt.Errorf("offset is %d: lines are counted from 1", *in.Offset)
	}
	if in.Limit != nil && *in.Limit < 1 {
		return nil, fmt.Errorf("limit is %d: read at least 1 line", *in.Limit)
	}
	dir := c.Dir()
	path, err := paths.Base{Dir: dir, Home: c.Home()}.Expand(in.FilePath)
	if err != nil {
		return nil, err
	}
	if err := refuseKind(path); err != nil {
		return nil, err
	}
	if paths.IsBlocked(path) {
		return nil, blocked(path)
	}
	return &call{in: in, path: path, dir: dir, config: c}, nil
}

func blocked(path string) error {
	return &tool.Error{Code: codeDevice, Text: fmt.Sprintf("%s is a device or a view into a running process, and is never read.", path)}
}

// A call is one reading of one file. The path is fixed when the call is bound, so that the file that
// is read is the file that was judged.
type call struct {
	in     Input
	path   string // absolute
	dir    string
	config Config
}

func (c *call) Input() any { return c.in }

func (c *call) shown() string         { return paths.Relative(c.dir, c.path) }
func (c *call) Title() string         { return "Read " + c.shown() }
func (c *call) Activity() string      { return "Reading " + c.shown() }
func (c *call) Path() string          { return c.path }
func (c *call) Fold() tool.Fold       { return tool.FoldRead }
func (c *call) Concurrent() bool      { return true }
func (c *call) Access() []tool.Access { return []tool.Access{{Verb: tool.Read, Target: c.in.FilePath}} }

// ReadOnly is false for a share of another machine: touching one can hand it the user's credentials.
func (c *call) ReadOnly() bool  { return !paths.IsUNC(c.in.FilePath) }
func (c *call) OpenWorld() bool { return paths.IsUNC(c.in.FilePath) }

func (c *call) Observe() any {
	seen := c.in
	seen.FilePath = c.path
	return seen
}

func (c *call) Run(ctx context.Context, _ func(tool.Progress)) (tool.Result, error) {
	f, err := c.open()
	if err != nil {
		return tool.Result{}, err
	}
	defer f.Close()
	return c.readText(ctx, f)
}
