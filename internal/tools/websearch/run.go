package websearch

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"adze/internal/platform/text/amount"
	"adze/internal/tool"
)

const (
	maxResults = 20
	maxSnippet = 500    // characters
	maxRemark  = 4_000  // characters per remark of the searching model
	maxRemarks = 16_000 // total characters of remarks
)

// A hit is a page that was found, in a format that hooks and clients know.
type hit struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Snippet string `json:"snippet,omitempty"`
	site    string // its host, if not in the URL
}

// An outcome is the results of a search, in order.
type outcome struct {
	items    []item
	searches int // successful searches
}

// An item is a page or a text: a remark of the searching model, or the error of a search.
type item struct {
	hit  *hit
	text string
}

func (o *outcome) add(h hit) { o.items = append(o.items, item{hit: &h}) }

// Output is the structured result.
type Output struct {
	Query      string `json:"query"`
	Adapter    string `json:"adapter"`
	Results    []hit  `json:"results"`
	Total      int    `json:"total"` // number of matches
	DurationMs int64  `json:"durationMs"`
}

// Run searches.
func (c *call) Run(ctx context.Context, report func(tool.Progress)) (tool.Result, error) {
	if c.Offline {
		return tool.Result{}, errOffline
	}
	how, err := c.choose()
	if err != nil {
		return tool.Result{}, err
	}
	began := time.Now()
	found, err := how.search(ctx, c, func(query string, n int) {
		text := "Searching for " + query
		if n >= 0 {
			text = fmt.Sprintf("Found %s for %s", amount.Of(n, "result", "results"), query)
		}
		report(tool.Progress{Display: tool.Plain{Text: text}})
	})
	if ctx.Err() != nil {
		return tool.Result{}, context.Cause(ctx)
	}
	if err != nil {
		return tool.Result{}, err
	}
	return c.result(how.name, found, time.Since(began)), nil
}

// reminder is the reminder to the model after results.
const reminder = `End your answer to the user with a list "Sources:" of the links that you used, as Markdown.`

// result formats the pages that pass the filter, each once.
func (c *call) result(adapter string, found *outcome, took time.Duration) tool.Result {
	out := Output{Query: c.query, Adapter: adapter, Results: []hit{}, DurationMs: took.Milliseconds()}
	var b strings.Builder
	fmt.Fprintf(&b, "Results for %q:\n", c.query)
	empty := b.Len()
	var shown []string
	remarks := 0
	for _, it := range merge(found.items) {
		if it.hit == nil {
			text := cut(strings.TrimSpace(visible(it.text, true)), maxRemark)
			if remarks += len(text); text != "" && remarks <= maxRemarks {
				fmt.Fprintf(&b, "\n%s\n", text)
			}
			continue
		}
		h := *it.hit
		h.Title, h.Snippet = oneLine(h.Title), cut(oneLine(h.Snippet), maxSnippet)
		link, ok := webURL(h.URL)
		if !ok || !c.filter.keeps(h) {
			continue
		}
		h.URL = link
		if h.Title == "" {
			h.Title = link
		}
		if out.Total++; len(out.Results) == maxResults {
			continue
		}
		out.Results = append(out.Results, h)
		shown = append(shown, h.Title+" "+h.URL)
		fmt.Fprintf(&b, "\n%d. [%s](%s)\n", len(out.Results), bracketed.Replace(h.Title), enclosed.Replace(h.URL))
		if h.Snippet != "" {
			fmt.Fprintf(&b, "   %s\n", h.Snippet)
		}
	}
	text := b.String()
	switch {
	case len(text) == empty:
		text = fmt.Sprintf("No results for %q.", c.query)
		if len(c.filter.allowed)+len(c.filter.blocked) > 0 {
			text += " Try without allowed_domains and blocked_domains, or with others."
		}
	case out.Total > len(out.Results):
		text += fmt.Sprintf("\n(These are %d of %d.)\n", len(out.Results), out.Total)
	}
	for _, n := range c.notes {
		text = strings.TrimRight(text, "\n") + "\n\n(" + n + ")"
	}
	res := tool.Text(strings.TrimRight(text, "\n"))
	if len(out.Results) > 0 {
		res.Reminders = []string{reminder}
	}
	res.Structured = out
	res.Display = tool.List{Items: shown, Total: out.Total, Unit: "results"}
	return res
}

// merge merges duplicate pages into their first occurrence.
func merge(items []item) []item {
	var all []item
	at := map[string]int{}
	for _, it := range items {
		if it.hit == nil {
			all = append(all, it)
			continue
		}
		i, known := at[it.hit.URL]
		if !known {
			at[it.hit.URL] = len(all)
			h := *it.hit
			all = append(all, item{hit: &h})
			continue
		}
		h := all[i].hit
		if h.Title == "" {
			h.Title = it.hit.Title
		}
		if h.Snippet == "" {
			h.Snippet = it.hit.Snippet
		}
	}
	return slices.Clip(all)
}

// Escapes characters that would end a link early.
var (
	bracketed = strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`)
	enclosed  = strings.NewReplacer(`(`, `%28`, `)`, `%29`, `<`, `%3C`, `>`, `%3E`, ` `, `%20`)
)

// webURL returns a normalized web URL, and reports whether text is one.
func webURL(text string) (string, bool) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || len(text) > 2000 {
		return "", false
	}
	return u.String(), true
}

// oneLine returns text on one line.
func oneLine(text string) string { return strings.Join(strings.Fields(visible(text, false)), " ") }

// visible removes invisible characters, which may hide text meant only for the model.
func visible(text string, lines bool) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' && lines:
			return r
		case unicode.IsSpace(r):
			return ' '
		case unicode.Is(unicode.C, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
}

// cut returns the start of text.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:most])) + "…"
}
