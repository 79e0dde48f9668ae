package websearch

import (
	"context"
	"errors"
	"fmt"
)

// An adapter is a way to search.
type adapter struct {
	name   string
	search func(ctx context.Context, c *call, progress func(query string, found int)) (*outcome, error)
}

// The names of the adapters.
const (
	apiName   = "api"
	pageName  = "html"
	braveName = "brave"
)

// Errors for adapters that are not available.
const (
	lacksAPI   = "the provider of the model does not search the web"
	lacksBrave = "no key for Brave (set ADZE_BRAVE_API_KEY)"
	lacksPage  = "the result page of a search engine is not switched on (set webSearch.html.enabled, if its terms allow you to)"
)

// choose returns the adapter: the user's choice, else the provider at its own address, else the
// result page if enabled, else Brave with the user's key.
func (s *searcher) choose() (adapter, error) {
	api, page, brave := adapter{apiName, searchAPI}, adapter{pageName, searchPage}, adapter{braveName, searchBrave}
	offers := s.Ask != nil && s.Offers != nil && s.Offers()
	switch s.Adapter {
	case "":
	case apiName:
		if !offers {
			return adapter{}, fmt.Errorf("the adapter api is chosen, but %s; choose html or brave with ADZE_WEB_SEARCH_ADAPTER, or another model", lacksAPI)
		}
		return api, nil
	case pageName, "bing":
		return page, nil
	case braveName:
		if s.BraveKey == "" {
			return adapter{}, fmt.Errorf("the adapter brave is chosen, but %s; or choose api or html with ADZE_WEB_SEARCH_ADAPTER", lacksBrave)
		}
		return brave, nil
	default:
		return adapter{}, fmt.Errorf("unknown search adapter %q (ADZE_WEB_SEARCH_ADAPTER or webSearch.adapter): choose api, html (also called bing) or brave", s.Adapter)
	}
	switch {
	case offers && s.First != nil && s.First():
		return api, nil
	case s.Page.Enabled:
		return page, nil
	case s.BraveKey != "":
		return brave, nil
	}
	why := lacksAPI
	if offers {
		why = "the provider has a custom base URL (ADZE_WEB_SEARCH_ADAPTER=api uses it anyway)"
	}
	return adapter{}, errors.New("the web cannot be searched: " + why + ", " + lacksBrave + ", and " + lacksPage)
}
