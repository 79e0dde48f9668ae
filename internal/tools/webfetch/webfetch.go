// Package webfetch is the tool that fetches web pages. How a page is reached is left to platform/web, what becomes of its
// HTML to platform/page, who may be reached to the permission rules, and which model answers to its owner.
package webfetch

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"adze/internal/platform/page"
	"adze/internal/platform/web"
	"adze/internal/tool"
)

// Name is the name of the tool.
const Name = "WebFetch"

// A Config is what the tool works with. Only Client is required.
type Config struct {
	Client *web.Client
	// Ask asks a small model without tools about the text of a page, and returns its answer. Nil means that there is
	// none.
	Ask func(ctx context.Context, system, text, prompt string) (string, error)
	// Save keeps a file that is no text, and returns its path. Nil means that none can be kept.
	Save func(name, ext string, r io.Reader) (path string, err error)
	// Denied reports whether a rule denies the host and port of a URL; may be nil.
	Denied func(url string) bool
	// Offline says that nothing is fetched.
	Offline bool
	// DomainCheck is the address of a service that says which hosts may be fetched from; empty means none. Transport
	// carries the questions to it.
	DomainCheck string
	Transport   http.RoundTripper
	// Now replaces the clock; may be nil.
	Now func() time.Time
}

//go:embed webfetch.md
var doc string

//go:embed webfetch.zh.md
var chinese string

//go:embed webfetch.schema.json
var inputSchema string

//go:embed webfetch.output.json
var outputSchema string

// An Input is what the model gives.
type Input struct {
	URL    string `json:"url"`
	Prompt string `json:"prompt"`
}

// New returns the tool.
func New(c Config) tool.Tool {
	if c.Now == nil {
		c.Now = time.Now
	}
	f := &fetcher{Config: c, pages: page.NewConverter(), known: preapproved(), cache: cache{now: c.Now}}
	f.domains = domains{url: c.DomainCheck, transport: c.Transport, now: c.Now}
	return tool.NewBound(tool.Def{
		Name:   Name,
		Doc:    strings.TrimSpace(doc),
		Schema: json.RawMessage(inputSchema),
		Traits: tool.Traits{
			Params:    tool.Params{Hosts: []string{"url"}, Texts: []string{"prompt"}},
			Translate: tool.InChinese(chinese),
			Hint:      "fetch a web page and read it",
			MaxChars:  maxChars + 5000,
			Clearable: true,
			Output:    json.RawMessage(outputSchema),
			Enabled: func() error {
				if c.Offline {
					return errors.New("the network is not used in offline mode (ADZE_OFFLINE)")
				}
				return nil
			},
		},
	}, f.bind)
}

// A fetcher is what all calls of the tool share.
type fetcher struct {
	Config
	pages   *page.Converter
	known   func() sites
	cache   cache
	domains domains
}

func (f *fetcher) bind(in Input) (tool.Call, error) {
	if strings.TrimSpace(in.Prompt) == "" {
		return nil, errors.New("the prompt is empty: say what to find out from the page")
	}
	u, err := f.Client.Check(in.URL)
	if err != nil {
		return nil, err
	}
	return &call{fetcher: f, in: in, url: u}, nil
}

// A call is one fetch.
type call struct {
	*fetcher
	in  Input
	url *url.URL
}

func (c *call) Input() any { return c.in }

// Title names the page without its query. One line may be too short for a URL, which can carry anything away: see Preview.
func (c *call) Title() string {
	return "Fetch " + c.url.Host + strings.TrimSuffix(c.url.EscapedPath(), "/")
}

// Past names the page like Title.
func (c *call) Past() (verb, object string) {
	return "Fetched", c.url.Host + strings.TrimSuffix(c.url.EscapedPath(), "/")
}

func (c *call) Activity() string { return "Fetching " + c.url.Hostname() }
func (c *call) ReadOnly() bool   { return true }
func (c *call) Concurrent() bool { return true }
func (c *call) OpenWorld() bool  { return true }
func (c *call) Fold() tool.Fold  { return tool.FoldRead }

// Preview shows the whole URL and what is wanted.
func (c *call) Preview(context.Context) (tool.Display, error) {
	return tool.Plain{Text: c.url.String() + "\n" + tool.OneLine(c.in.Prompt, 300)}, nil
}

// Access names the page.
func (c *call) Access() []tool.Access {
	return []tool.Access{{Verb: tool.Connect, Target: c.url.String()}}
}

// follows reports whether a redirect on the host may be followed without another permission: one to a page that needs
// none of its own.
func (c *call) follows(to *url.URL) bool {
	if c.Denied != nil && c.Denied(to.Scheme+"://"+to.Host) {
		return false
	}
	return !c.Preapproved() || c.known().has(to)
}

// Preapproved reports whether the page is one of those that need no permission.
func (c *call) Preapproved() bool { return c.known().has(c.url) }
