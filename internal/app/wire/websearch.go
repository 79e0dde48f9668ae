package wire

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"time"

	"adze/internal/agent/aside"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/platform/contacts"
	"adze/internal/platform/transport"
	"adze/internal/tools/websearch"
)

// webSearch returns how the web is searched. What it needs of the session it finds when it is called.
func webSearch(c *Conversation) websearch.Config {
	v := c.ws.values().WebSearch
	w := websearch.Config{
		Adapter: v.Adapter, BraveKey: v.BraveKey, Offline: c.ws.values().Web.Offline,
		Page:      websearch.Page{Enabled: v.Page, URL: v.PageURL, Market: v.Market, Headers: v.Headers},
		Agent:     fmt.Sprintf("adze/%s (%s; %s)", c.ws.Version, runtime.GOOS, runtime.GOARCH),
		Transport: lazyTransport(sync.OnceValue(func() http.RoundTripper { return transport.New(plainNetwork(c.ws, contacts.Web)) })),
	}
	if c.model.Backend != nil {
		w.Offers = func() bool { m, err := c.model.Lookup(c.Session.Model()); return err == nil && m.WebSearch }
		w.First = func() bool { return c.model.Backend.Router.FirstParty(c.Session.Model()) }
		w.Ask = searches{c}.ask
	}
	return w
}

// Bounds of the answer of a model that searches.
const (
	searchTokens  = 16_000
	searchTimeout = 3 * time.Minute
)

// searches has a model of the conversation search the web.
type searches struct{ c *Conversation }

// ask asks the main model, or the small one if the user wants that, to search with the tool of its provider.
func (x searches) ask(ctx context.Context, question string, s *model.Search, hear func(model.Event)) error {
	c := x.c
	small, main := c.model.Small()
	q := aside.Question{
		Purpose: "web search", Model: main, Messages: []msg.Message{msg.UserText(question)}, Search: s, Hear: hear,
		MaxTokens: searchTokens, Timeout: searchTimeout, Awaited: true,
	}
	if m, err := c.model.Lookup(small); c.ws.values().WebSearch.Small && err == nil && m.WebSearch {
		forced := *s
		forced.Must = m.ForcedTool
		q.Model, q.Search = small, &forced
	}
	_, err := c.window.small.Ask(ctx, q)
	return err
}

// A lazyTransport is set up by the first request.
type lazyTransport func() http.RoundTripper

func (get lazyTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	return get().RoundTrip(r)
}
