package toolbox

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"time"

	"adze/internal/agent/sidequery"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/platform/net/transport"
	"adze/internal/tools/websearch"
)

// Search returns the web search configuration of a conversation.
func WebSearch(p WebPlace, r PageReader) websearch.Config {
	v := p.Project.Values()
	s := v.WebSearch
	w := websearch.Config{
		Adapter: s.Adapter, BraveKey: s.BraveKey, Offline: v.Web.Offline,
		Page:      websearch.Page{Enabled: s.Page, URL: s.PageURL, Market: s.Market, Headers: s.Headers},
		Agent:     fmt.Sprintf("adze/%s (%s; %s)", p.Version, runtime.GOOS, runtime.GOARCH),
		Transport: lazyTransport(sync.OnceValue(func() http.RoundTripper { return transport.New(p.network()) })),
	}
	if r.Model.Backend != nil {
		w.Offers = func() bool { m, err := r.Model.Lookup(r.Current()); return err == nil && m.WebSearch }
		w.First = func() bool { return r.Model.Backend.Router.FirstParty(r.Current()) }
		w.Ask = func(ctx context.Context, question string, s *model.Search, hear func(model.Event)) error {
			q := sidequery.Question{Messages: []msg.Message{msg.UserText(question)}, Search: s, OnEvent: hear}
			return r.search(ctx, q, p.Project.Values().WebSearch.Small)
		}
	}
	return w
}

// Limits of a search answer.
const (
	searchTokens  = 16_000
	searchTimeout = 3 * time.Minute
)

// search asks the main model, or the small one if the user prefers that, to search with its
// provider's tool.
func (r PageReader) search(ctx context.Context, q sidequery.Question, preferSmall bool) error {
	small, main := r.Model.Small()
	q.Purpose, q.Model, q.MaxTokens, q.Timeout, q.Interactive = "web search", main, searchTokens, searchTimeout, true
	if m, err := r.Model.Lookup(small); preferSmall && err == nil && m.WebSearch {
		forced := *q.Search
		forced.Must = m.ForcedTool
		q.Model, q.Search = small, &forced
	}
	_, err := r.Small().Ask(ctx, q)
	return err
}

// A lazyTransport creates its transport with the first request.
type lazyTransport func() http.RoundTripper

func (get lazyTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	return get().RoundTrip(r)
}
