// Package websearch implements the tool that searches the web. It has three adapters: the
// model's provider, the result page of a search engine, and a search service with the user's
// own key.
package websearch

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"adze/internal/model"
	"adze/internal/tool"
)

// Name is the tool's name.
const Name = "WebSearch"

// Config configures the tool. The zero value has no adapter, and searching fails.
type Config struct {
	// Adapter is the user's choice: api, html (also called bing) or brave; empty selects
	// automatically.
	Adapter string
	// Ask lets the model's provider search, and calls hear with the events of its answer. Nil
	// means not available.
	Ask func(ctx context.Context, question string, s *model.Search, hear func(model.Event)) error
	// Offers reports whether the provider can search. First reports whether it is used at its
	// own address, in which case it is preferred. Both may be nil.
	Offers, First func() bool
	// BraveKey is the user's key for the search service.
	BraveKey string
	// Page configures the search engine whose result page is scraped.
	Page Page
	// Agent is the user agent. Transport is used for requests.
	Agent     string
	Transport http.RoundTripper
	// Offline disables searching.
	Offline bool
}

//go:embed websearch.md
var doc string

//go:embed websearch.zh.md
var chinese string

//go:embed websearch.schema.json
var inputSchema string

//go:embed websearch.output.json
var outputSchema string

// Input is the tool's input.
type Input struct {
	Query   string   `json:"query"`
	Allowed []string `json:"allowed_domains,omitempty"`
	Blocked []string `json:"blocked_domains,omitempty"`
}

var errOffline = errors.New("the web is not searched in offline mode (ADZE_OFFLINE)")

// New returns the tool.
func New(c Config) tool.Tool {
	s := &searcher{Config: c}
	return tool.NewBound(tool.Def{
		Name:   Name,
		Doc:    strings.TrimSpace(doc),
		Schema: json.RawMessage(inputSchema),
		Traits: tool.Traits{
			Core: true, Background: true,
			Served:    &tool.Annotations{Fixed: true, ReadOnly: true, OpenWorld: true},
			Params:    tool.Params{Texts: []string{"query", "allowed_domains", "blocked_domains"}},
			Translate: tool.InChinese(chinese),
			Hint:      "search the web",
			Clearable: true,
			Output:    json.RawMessage(outputSchema),
			Enabled: func() error {
				if c.Offline {
					return errOffline
				}
				return nil
			},
		},
	}, s.bind)
}

// A searcher is the state shared by all calls of the tool.
type searcher struct {
	Config

	mu   sync.Mutex
	next time.Time // earliest time of the next result page request
}

// bind validates the input. Corrections of domains are mentioned in the result.
func (s *searcher) bind(in Input) (tool.Call, error) {
	query := strings.Join(strings.Fields(in.Query), " ")
	switch {
	case utf8.RuneCountInString(query) < 2:
		return nil, errors.New("the query is too short: give at least 2 characters")
	case len(in.Allowed) > 0 && len(in.Blocked) > 0:
		return nil, errors.New("allowed_domains and blocked_domains exclude each other: give only one")
	}
	c := &call{searcher: s, in: in, query: query}
	var err error
	if c.filter.allowed, err = c.domains("allowed_domains", in.Allowed); err != nil {
		return nil, err
	}
	if c.filter.blocked, err = c.domains("blocked_domains", in.Blocked); err != nil {
		return nil, err
	}
	return c, nil
}

// A call is a search.
type call struct {
	*searcher
	in     Input
	query  string
	filter filter
	notes  []string // about the domains
}

func (c *call) Input() any { return c.in }

func (c *call) Title() string    { return "Search the web for " + c.query }
func (c *call) Activity() string { return "Searching for " + c.query }
func (c *call) ReadOnly() bool   { return true }
func (c *call) Concurrent() bool { return true }
func (c *call) OpenWorld() bool  { return true }
func (c *call) Fold() tool.Fold  { return tool.FoldSearch }

// Past returns the query.
func (c *call) Past() (verb, object string) { return "Searched the web for", c.query }

// domains returns the host names in a list.
func (c *call) domains(list string, given []string) (hosts []string, err error) {
	for _, d := range given {
		host, reduced, err := hostName(d)
		if err != nil {
			return nil, fmt.Errorf("%s: %q is not a host name, such as example.org: %w", list, d, err)
		}
		if reduced {
			c.notes = append(c.notes, fmt.Sprintf("%q was taken as the domain %s.", d, host))
		}
		hosts = append(hosts, host)
	}
	return hosts, nil
}
