// Package read is the tool that shows the model a file: text by lines, pictures, PDF documents and
// notebooks. What may be read is decided by the permission rules, before it runs.
package read

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"

	"adze/internal/platform/filestate"
	"adze/internal/platform/paths"
	"adze/internal/platform/pdf"
	"adze/internal/tool"
)

// Name is the name of the tool.
const Name = "Read"

// A Config is what the tool needs to know. Only Dir is required. Its functions may be called from
// several goroutines.
type Config struct {
	// Dir returns the working directory, absolute. It is asked once per call, when the call is bound.
	Dir func() string
	// Home returns the home directory, or empty; nil means the user's.
	Home func() string

	// MaxBytes bounds the text files that are read without a limit of lines; 0 means 256 KB.
	MaxBytes int64
	// MaxTokens bounds what is returned; 0 means 25,000.
	MaxTokens int
	// CountTokens asks the provider how many tokens a text is; nil means that estimates decide.
	CountTokens func(ctx context.Context, text string) (int, error)

	// State is what the conversation knows of files; nil means that nothing is remembered.
	State *filestate.Store
	// Repeat shows a file again that has not changed since it was shown.
	Repeat bool

	// Images and Documents say whether the model takes pictures and PDF documents; nil means no.
	Images, Documents func() bool
	// Model returns the name of the model that reads the result. It is reminded not to help malware,
	// unless it is on the list Exempt. Nil means that no reminder is given.
	Model  func() string
	Exempt []string

	// Denied reports whether a rule keeps a path from being read; such a path is not even looked at or
	// mentioned. Nil means that the gates before the call are all there is.
	Denied func(path string) bool
	// Named returns the files below dir that have a name, a few; may be nil. It is asked about a file that is
	// missing.
	Named func(ctx context.Context, dir, name string) []string
	// Discovered is told each directory from which a file was read, once.
	Discovered func(dir string)
}

const (
	defaultMaxBytes  = 256 << 10
	defaultMaxTokens = 25_000
)

// The error codes of the tool's contract.
const (
	codeDenied   = 1
	codeBinary   = 4
	codePages    = 7
	codeTooMany  = 8
	codeDevice   = 9
	maxPages     = 20 // in one call
	maxWholePDF  = 10 // pages of a document that is read without saying which
	maxDocument  = 20 << 20
	maxMediaFile = 100 << 20
)

//go:embed read.md
var doc string

//go:embed read.zh.md
var chinese string

//go:embed read.schema.json
var inputSchema string

//go:embed read.output.json
var outputSchema string

// An Input is what the model gives.
type Input struct {
	FilePath string `json:"file_path"`
	Offset   *int   `json:"offset,omitempty"`
	Limit    *int   `json:"limit,omitempty"`
	Pages    string `json:"pages,omitempty"`
}

// New returns the tool.
func New(c Config) tool.Tool {
	if c.Home == nil {
		c.Home = paths.UserHome
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = defaultMaxBytes
	}
	if c.MaxTokens == 0 {
		c.MaxTokens = defaultMaxTokens
	}
	r := &reader{Config: c, known: map[string]bool{}}
	return tool.NewBound(tool.Def{
		Name:    Name,
		Doc:     strings.TrimSpace(doc),
		Schema:  json.RawMessage(strings.TrimSpace(inputSchema)),
		Strict:  true,
		Foreign: foreign,
		Traits: tool.Traits{
			Params:       tool.Params{Paths: []string{"file_path"}, Texts: []string{"pages"}},
			Translate:    tool.InChinese(chinese),
			Hint:         "read the contents of a file",
			NeverPersist: true,
			Clearable:    true,
			Output:       json.RawMessage(strings.TrimSpace(outputSchema)),
			Restore:      r.restore,
		},
	}, r.bind)
}

// foreign understands the ranges of other programs: view_range, or start_line and end_line.
func foreign(in map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	var span [2]int // first and last line; 0 and -1 mean none
	switch {
	case in["offset"] != nil || in["limit"] != nil:
		return nil, nil
	case in["view_range"] != nil:
		var list []int
		if json.Unmarshal(in["view_range"], &list) != nil || len(list) != 2 {
			return nil, nil
		}
		span = [2]int(list)
	case in["start_line"] != nil || in["end_line"] != nil:
		for i, name := range []string{"start_line", "end_line"} {
			if in[name] != nil && json.Unmarshal(in[name], &span[i]) != nil {
				return nil, nil
			}
		}
	default:
		return nil, nil
	}
	out := maps.Clone(in)
	maps.DeleteFunc(out, func(name string, _ json.RawMessage) bool {
		return name == "view_range" || name == "start_line" || name == "end_line"
	})
	first := max(span[0], 1)
	out["offset"] = json.RawMessage(strconv.Itoa(first))
	switch {
	case span[1] <= 0: // to the end
	case span[1] < first:
		return nil, nil
	default:
		out["limit"] = json.RawMessage(strconv.Itoa(span[1] - first + 1))
	}
	return out, nil
}

// A reader is what all calls of the tool share.
type reader struct {
	Config

	mu    sync.Mutex
	known map[string]bool // directories that Discovered was told
}

func (r *reader) denied(path string) bool { return r.Denied != nil && r.Denied(path) }

// discovered reports the directory of a file that was read.
func (r *reader) discovered(dir string) {
	r.mu.Lock()
	known := r.known[dir]
	r.known[dir] = true
	r.mu.Unlock()
	if !known && r.Discovered != nil {
		r.Discovered(dir)
	}
}

// bind checks everything about in that can be told without touching the disk.
func (r *reader) bind(in Input) (tool.Call, error) {
	switch {
	case in.Offset == nil:
	case *in.Offset < 0:
		return nil, fmt.Errorf("offset is %d: lines are counted from 1", *in.Offset)
	case *in.Offset == 0: // the first line, to those who count from 0
		in.Offset = new(int)
		*in.Offset = 1
	}
	if in.Limit != nil && *in.Limit < 1 {
		return nil, fmt.Errorf("limit is %d: read at least 1 line", *in.Limit)
	}
	pages, err := parsePages(in.Pages)
	if err != nil {
		return nil, err
	}
	base := paths.Base{Dir: r.Dir(), Home: r.Home()}
	path, err := base.Expand(in.FilePath)
	switch {
	case err != nil:
		return nil, err
	case r.denied(path):
		return nil, &tool.Error{Code: codeDenied, Text: fmt.Sprintf("A permission rule denies reading %s. Ask the user if you need it.", path)}
	}
	if err := refuseKind(path); err != nil {
		return nil, err
	}
	if paths.IsBlocked(path) {
		return nil, blocked(path)
	}
	c := &call{reader: r, in: in, base: base, path: path, pages: pages}
	if r.State != nil {
		c.had, _ = r.State.Get(path)
	}
	return c, nil
}

func blocked(path string) error {
	return &tool.Error{Code: codeDevice, Text: fmt.Sprintf("%s is a device or a view into a running process, and is never read.", path)}
}

// A call is one reading of one file. The path is fixed when the call is bound, so that the file that
// is read is the file that was judged.
type call struct {
	*reader
	in    Input
	base  paths.Base
	path  string // absolute
	pages pdf.Range
	// had is what the model had seen of the file when the call was bound: of two calls in one message, the first shows the file.
	had filestate.Entry

	mu   sync.Mutex
	sets map[string]resolved // by target
}

func (c *call) Input() any { return c.in }

func (c *call) shown() string    { return paths.Relative(c.base.Dir, c.path) }
func (c *call) Title() string    { return "Read " + c.shown() }
func (c *call) Activity() string { return "Reading " + c.shown() }
func (c *call) Path() string     { return c.path }

// Past names the file.
func (c *call) Past() (verb, object string) { return "Read", c.shown() }

func (c *call) Fold() tool.Fold  { return tool.FoldRead }
func (c *call) Concurrent() bool { return true }

// Access names a screenshot in both spellings: whichever is there will be opened.
func (c *call) Access() []tool.Access {
	access := []tool.Access{{Verb: tool.Read, Target: c.in.FilePath}}
	if twin := screenshotTwin(c.path); twin != "" {
		access = append(access, tool.Access{Verb: tool.Read, Target: twin})
	}
	return access
}

// ReadOnly is false for a share of another machine: touching one can hand it the user's credentials.
func (c *call) ReadOnly() bool  { return !paths.IsUNC(c.in.FilePath) }
func (c *call) OpenWorld() bool { return paths.IsUNC(c.in.FilePath) }

func (c *call) Observe() any {
	seen := c.in
	seen.FilePath = c.path
	return seen
}
