// Package read implements the tool that reads files: text by lines, pictures, PDF documents and
// notebooks.
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

	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/fs/paths"
	"adze/internal/platform/text/pdf"
	"adze/internal/tool"
)

// Name is the tool's name.
const Name = "Read"

// Config configures the tool. Only Dir is required. Its functions may be called from several
// goroutines.
type Config struct {
	// Dir returns the absolute working directory. It is called once per call, when the call is
	// bound.
	Dir func() string
	// Home returns the home directory, or ""; nil means the user's home directory.
	Home func() string

	// MaxBytes is the maximum size of a text file read without a line limit; 0 means 256 KB.
	MaxBytes int64
	// MaxTokens is the maximum size of a result; 0 means 25,000.
	MaxTokens int
	// CountTokens queries the provider for the number of tokens in a text; nil means that
	// estimates are used.
	CountTokens func(ctx context.Context, text string) (int, error)

	// State records the files known in the conversation; nil disables it.
	State *filestate.Store
	// Repeat shows a file again even if it has not changed since it was shown.
	Repeat bool

	// Images and Documents report whether the model supports pictures and PDF documents; nil
	// means no.
	Images, Documents func() bool
	// Model returns the name of the model that reads the result. It gets a reminder not to help
	// malware, unless it is listed in Exempt. Nil means no reminder.
	Model  func() string
	Exempt []string

	// Denied reports whether a rule denies reading a path; such a path is not even accessed or
	// mentioned. Nil means that only the gates before the call decide.
	Denied func(path string) bool
	// Named returns a few files below dir with the given name; may be nil. It is called for a
	// missing file.
	Named func(ctx context.Context, dir, name string) []string
	// Unsaved returns the content of a text file in the user's editor if it differs from the
	// given one on disk, or nil. It may be nil, and is called for files up to 1 MB.
	Unsaved func(path string, disk []byte) ([]byte, error)
	// Discovered is called once for each directory from which a file was read.
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
	maxPages     = 20 // pages per call
	maxWholePDF  = 10 // limit for documents read without a page range
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

// Input is the tool's input.
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
			Core: true, Background: true,
			Served:       &tool.Annotations{Fixed: true, ReadOnly: true},
			Params:       tool.Params{Paths: []string{"file_path"}, Texts: []string{"pages"}},
			Translate:    tool.InChinese(chinese),
			Hint:         "read the contents of a file",
			NeverPersist: true,
			Clearable:    true,
			Output:       json.RawMessage(strings.TrimSpace(outputSchema)),
			Restore:      r.restore,
			Redisplay:    redisplay,
		},
	}, r.bind)
}

// foreign accepts the range fields of other programs: view_range, or start_line and end_line.
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
	case span[1] <= 0: // until the end
	case span[1] < first:
		return nil, nil
	default:
		out["limit"] = json.RawMessage(strconv.Itoa(span[1] - first + 1))
	}
	return out, nil
}

// A reader is the state shared by all calls of the tool.
type reader struct {
	Config

	mu    sync.Mutex
	known map[string]bool // directories reported to Discovered
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

// bind validates the input without accessing the disk.
func (r *reader) bind(in Input) (tool.Call, error) {
	switch {
	case in.Offset == nil:
	case *in.Offset < 0:
		return nil, fmt.Errorf("offset is %d: lines are counted from 1", *in.Offset)
	case *in.Offset == 0: // the first line, for callers that count from 0
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

// A call reads a file. The path is fixed when the call is bound, so that the file read is the
// file that was checked.
type call struct {
	*reader
	in    Input
	base  paths.Base
	path  string // absolute
	pages pdf.Range
	// had is the part of the file that the model had seen when the call was bound: of two calls
	// in a message, the first shows the file.
	had filestate.Entry

	mu   sync.Mutex
	sets map[string]resolved // results by target
}

func (c *call) Input() any { return c.in }

func (c *call) shown() string    { return paths.Relative(c.base.Dir, c.path) }
func (c *call) Title() string    { return "Read " + c.shown() }
func (c *call) Activity() string { return "Reading " + c.shown() }
func (c *call) Path() string     { return c.path }

// Past returns the name of the file.
func (c *call) Past() (verb, object string) { return "Read", c.shown() }

func (c *call) Fold() tool.Fold  { return tool.FoldRead }
func (c *call) Concurrent() bool { return true }

// Access returns both spellings of a screenshot, because the existing one will be opened.
func (c *call) Access() []tool.Access {
	access := []tool.Access{{Verb: tool.Read, Target: c.in.FilePath}}
	if twin := screenshotTwin(c.path); twin != "" {
		access = append(access, tool.Access{Verb: tool.Read, Target: twin})
	}
	return access
}

// ReadOnly returns false for a network share: accessing one can leak the user's credentials.
func (c *call) ReadOnly() bool  { return !paths.IsUNC(c.in.FilePath) }
func (c *call) OpenWorld() bool { return paths.IsUNC(c.in.FilePath) }

func (c *call) Observe() any {
	seen := c.in
	seen.FilePath = c.path
	return seen
}
