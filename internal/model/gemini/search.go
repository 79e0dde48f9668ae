package gemini

import (
	"encoding/json"

	"adze/internal/model"
)

// search appends the events for the server's web search results and counts the searches. The
// addresses are redirects of the server, so the title names the site.
func (t *tally) search(out []model.Event, raw []byte) []model.Event {
	var g struct {
		Queries []string `json:"webSearchQueries"`
		Chunks  []struct {
			Web struct {
				URI    string `json:"uri"`
				Title  string `json:"title"`
				Domain string `json:"domain"`
			} `json:"web"`
		} `json:"groundingChunks"`
		Supports []struct {
			Segment struct {
				Text string `json:"text"`
			} `json:"segment"`
			Chunks []int `json:"groundingChunkIndices"`
		} `json:"groundingSupports"`
	}
	if json.Unmarshal(raw, &g) != nil || len(g.Queries)+len(g.Chunks) == 0 { // ok: an answer without sources
		return out
	}
	t.searches = max(t.searches, len(g.Queries))
	found := model.SearchResult{}
	for _, q := range g.Queries {
		out = append(out, model.SearchQuery{Query: q})
		found.Query = q
	}
	for _, c := range g.Chunks {
		p := model.Page{Title: c.Web.Title, URL: c.Web.URI, Site: c.Web.Domain}
		if p.Site == "" {
			p.Site = c.Web.Title
		}
		found.Found = append(found.Found, p)
	}
	for _, s := range g.Supports {
		for _, i := range s.Chunks {
			if i >= 0 && i < len(found.Found) && found.Found[i].Snippet == "" {
				found.Found[i].Snippet = s.Segment.Text
			}
		}
	}
	return append(out, found)
}
