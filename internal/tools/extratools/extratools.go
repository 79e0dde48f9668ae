// Package extratools is the two tools with which the model reaches those that are not in the request: one finds them, the
// other stands for them. How a use is forwarded is left to the executor, and which tools are deferred to the pool.
package extratools

import (
	_ "embed"
	"encoding/json"
	"strings"

	"adze/internal/tool"
)

// The names of the tools.
const (
	SearchName  = "SearchExtraTools"
	ExecuteName = "ExecuteExtraTool"
)

//go:embed search.md
var searchDoc string

//go:embed search.zh.md
var searchChinese string

//go:embed search.schema.json
var searchSchema string

//go:embed search.output.json
var searchOutput string

//go:embed execute.md
var executeDoc string

//go:embed execute.zh.md
var executeChinese string

//go:embed execute.schema.json
var executeSchema string

// A Config is what the search needs to know. Only Pool is required.
type Config struct {
	// Pool returns the tools that can be called now.
	Pool func() *tool.Pool
	// Discovered is told which tools were found; may be nil.
	Discovered Discovered
	// Pending returns the servers that are still connecting, sorted; may be nil.
	Pending func() []string
	// Instructions returns what a server said of its use, and the model was not told yet; calling it counts as telling.
	// May be nil.
	Instructions func(server string) string
}

// Discovered is the record of the tools that the model was shown.
type Discovered interface{ Add(names ...string) }

// Search returns the tool that finds deferred tools with f.
func Search(f *Finder) tool.Tool {
	return tool.NewBound(tool.Def{
		Name:   SearchName,
		Doc:    strings.TrimSpace(searchDoc),
		Schema: json.RawMessage(strings.TrimSpace(searchSchema)),
		Traits: tool.Traits{
			Params:       tool.Params{Texts: []string{"query"}},
			Aliases:      []string{"ToolSearch"},
			Translate:    tool.InChinese(searchChinese),
			Hint:         "find tools that are not in the list",
			Door:         true,
			MaxChars:     maxText + maxExtra,
			NeverPersist: true,
			Output:       json.RawMessage(strings.TrimSpace(searchOutput)),
		},
	}, f.bind)
}

// Execute returns the tool that stands for deferred tools.
func Execute() tool.Tool {
	return tool.NewForwarder(tool.Def{
		Name:   ExecuteName,
		Doc:    strings.TrimSpace(executeDoc),
		Schema: json.RawMessage(strings.TrimSpace(executeSchema)),
		Traits: tool.Traits{
			Params:    tool.Params{Texts: []string{"tool_name"}},
			Translate: tool.InChinese(executeChinese),
			Hint:      "run a tool that is not in the list",
			Door:      true,
		},
	})
}
