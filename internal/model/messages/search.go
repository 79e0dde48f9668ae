package messages

import (
	"bytes"
	"encoding/json"
	"strconv"

	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/platform/text/jsonscan"
)

// searchTool is the server's web search tool.
const searchTool = "web_search"

// Block types for searches.
const (
	serverUse    = "server_tool_use"
	serverResult = "web_search_tool_result"
)

// appendSearch appends the search tool to a request's tools.
func appendSearch(dst []byte, req *model.Request) []byte {
	s := req.Search
	if s == nil {
		return dst
	}
	if len(req.Tools) > 0 {
		dst = append(dst[:len(dst)-1], ',')
	} else {
		dst = append(dst, `,"tools":[`...)
	}
	dst = append(dst, `{"type":"web_search_20250305","name":"`+searchTool+`"`...)
	if s.Most > 0 {
		dst = strconv.AppendInt(append(dst, `,"max_uses":`...), int64(s.Most), 10)
	}
	dst = appendDomains(dst, "allowed_domains", s.Allowed)
	dst = appendDomains(dst, "blocked_domains", s.Blocked)
	return append(dst, "}]"...)
}

func appendDomains(dst []byte, name string, domains []string) []byte {
	for i, d := range domains {
		if i == 0 {
			dst = append(dst, `,"`+name+`":`...)
		}
		dst = msg.AppendString(append(dst, "[,"[min(i, 1)]), d)
	}
	if len(domains) > 0 {
		dst = append(dst, ']')
	}
	return dst
}

// partialQuery returns the query in partial input.
func partialQuery(input []byte) string {
	_, rest, found := bytes.Cut(input, []byte(`"query"`))
	rest = bytes.TrimLeft(bytes.TrimLeft(rest, " \t\n"), ":")
	rest = bytes.TrimLeft(rest, " \t\n")
	if !found || len(rest) == 0 || rest[0] != '"' {
		return ""
	}
	end := 1
	for end < len(rest) && rest[end] != '"' {
		step := 1
		if rest[end] == '\\' {
			if step = 2; end+1 < len(rest) && rest[end+1] == 'u' {
				step = 6
			}
		}
		if end+step > len(rest) {
			break
		}
		end += step
	}
	var query string
	if json.Unmarshal(append(bytes.Clone(rest[:end]), '"'), &query) != nil { // ok: half a character
		return ""
	}
	return query
}

// searching emits the current query if it has changed.
func (d *decoder) searching(query string) {
	if query != "" && query != d.query {
		d.query = query
		d.emit(model.SearchQuery{Query: query})
	}
}

// search emits the events for a search block.
func (d *decoder) search(raw json.RawMessage) {
	var b struct {
		Type  string `json:"type"`
		ID    string `json:"id"`
		Name  string `json:"name"`
		Use   string `json:"tool_use_id"`
		Input struct {
			Query string `json:"query"`
		} `json:"input"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(raw, &b) != nil { // ok: another kind
		return
	}
	switch {
	case b.Type == serverUse && b.Name == searchTool:
		d.searching(b.Input.Query)
		if d.queries == nil {
			d.queries = map[string]string{}
		}
		d.queries[b.ID] = b.Input.Query
	case b.Type == serverResult:
		found := model.SearchResult{Query: d.queries[b.Use]}
		if len(b.Content) > 0 && b.Content[0] == '{' {
			found.Failure = "unavailable"
			var failure struct {
				Code string `json:"error_code"`
			}
			if json.Unmarshal(b.Content, &failure) == nil && failure.Code != "" {
				found.Failure = failure.Code
			}
		}
		var pages []struct{ Title, URL string }
		if !jsonscan.IsNull(b.Content) && json.Unmarshal(b.Content, &pages) == nil {
			for _, p := range pages {
				found.Found = append(found.Found, model.Page{Title: p.Title, URL: p.URL})
			}
		}
		d.emit(found)
	}
}
