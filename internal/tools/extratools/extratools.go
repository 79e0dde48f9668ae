// Package extratools implements the two tools for deferred tools, which are not listed in the
// request: one searches them, the other calls them.
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

// Config configures the search. Only Pool is required.
type Config struct {
	// Pool returns the callable tools.
	Pool func() *tool.Pool
	// Discovered, if not nil, records the tools that were found.
	Discovered Discovered
	// Pending returns the servers that are still connecting, sorted; may be nil.
	Pending func() []string
	// Instructions returns a server's usage instructions if the model has not seen them yet,
	// and marks them as seen. May be nil.
	Instructions func(server string) string
}

// Discovered records the tools shown to the model.
type Discovered interface{ Add(names ...string) }

// Search returns the tool that searches deferred tools with f.
func Search(f *Finder) tool.Tool {
	return tool.NewBound(tool.Def{
		Name:   SearchName,
		Doc:    strings.TrimSpace(searchDoc),
		Schema: json.RawMessage(strings.TrimSpace(searchSchema)),
		Traits: tool.Traits{
			Core: true, Background: true,
			Params:       tool.Params{Texts: []string{"query"}},
			Aliases:      []string{"ToolSearch"},
			Translate:    tool.InChinese(searchChinese),
			Hint:         "find tools that are not in the list",
			Dispatcher:   true,
			MaxChars:     maxText + maxExtra,
			NeverPersist: true,
			Output:       json.RawMessage(strings.TrimSpace(searchOutput)),
		},
	}, f.bind)
}

// Execute returns the tool that calls deferred tools.
func Execute() tool.Tool {
	return tool.NewForwarder(tool.Def{
		Name:   ExecuteName,
		Doc:    strings.TrimSpace(executeDoc),
		Schema: json.RawMessage(strings.TrimSpace(executeSchema)),
		Traits: tool.Traits{
			Core: true, Background: true,
			Params:     tool.Params{Texts: []string{"tool_name"}},
			Translate:  tool.InChinese(executeChinese),
			Hint:       "run a tool that is not in the list",
			Dispatcher: true,
		},
	})
}
