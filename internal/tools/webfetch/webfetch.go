// Package webfetch implements the tool that fetches web pages.
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

	"adze/internal/platform/net/web"
	"adze/internal/platform/text/page"
	"adze/internal/tool"
)

// Name is the tool's name.
const Name = "WebFetch"

// Config configures the tool. Only Client is required.
type Config struct {
	Client *web.Client
	// Ask asks a small model without tools about the text of a page, and returns its answer.
	// Nil means that none is available.
	Ask func(ctx context.Context, system, text, prompt string) (string, error)
	// Save saves a file that is not text, and returns its path. Nil means that files cannot be
	// saved.
	Save func(name, ext string, r io.Reader) (path string, err error)
	// Denied reports whether a rule denies the host and port of a URL; may be nil.
	Denied func(url string) bool
	// Offline disables fetching.
	Offline bool
	// DomainCheck is the URL of a service that decides which hosts may be fetched from; empty
	// disables it. Transport is used for its requests.
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

// Input is the tool's input.
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
			Core: true, Background: true,
			Served:    &tool.Annotations{Fixed: true, ReadOnly: true, OpenWorld: true},
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

// A fetcher is the state shared by all calls of the tool.
type fetcher struct {
	Config
	pages   *page.Converter
	known   func() sites
	cache   cache
	domains domains
}

func (f *fetcher) bind(in Input) (tool.Call, error) {
	if strings.TrimSpace(in.Prompt) == "" {
		return nil, errors.New("the prompt is empty: give a question about the page")
	}
	u, err := f.Client.Check(in.URL)
	if err != nil {
		return nil, err
	}
	return &call{fetcher: f, in: in, url: u}, nil
}

// A call is a fetch.
type call struct {
	*fetcher
	in  Input
	url *url.URL
}

func (c *call) Input() any { return c.in }

// Title returns the URL without its query. The complete URL, which can exfiltrate anything, may
// not fit on a line; see Preview.
func (c *call) Title() string {
	return "Fetch " + c.url.Host + strings.TrimSuffix(c.url.EscapedPath(), "/")
}

// Past returns the same URL as Title.
func (c *call) Past() (verb, object string) {
	return "Fetched", c.url.Host + strings.TrimSuffix(c.url.EscapedPath(), "/")
}

func (c *call) Activity() string { return "Fetching " + c.url.Hostname() }
func (c *call) ReadOnly() bool   { return true }
func (c *call) Concurrent() bool { return true }
func (c *call) OpenWorld() bool  { return true }
func (c *call) Fold() tool.Fold  { return tool.FoldRead }

// Preview shows the complete URL and the prompt.
func (c *call) Preview(context.Context) (tool.Display, error) {
	return tool.Plain{Text: c.url.String() + "\n" + tool.OneLine(c.in.Prompt, 300)}, nil
}

// Access returns the page.
func (c *call) Access() []tool.Access {
	return []tool.Access{{Verb: tool.Connect, Target: c.url.String()}}
}

// follows reports whether a redirect on the host may be followed without another permission. A
// preapproved page may only redirect to another preapproved page.
func (c *call) follows(to *url.URL) bool {
	if c.Denied != nil && c.Denied(to.Scheme+"://"+to.Host) {
		return false
	}
	return !c.Preapproved() || c.known().has(to)
}

// Preapproved reports whether the page needs no permission.
func (c *call) Preapproved() bool { return c.known().has(c.url) }
