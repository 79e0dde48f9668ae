package messages

import (
	"bytes"
	"encoding/json"
	"strconv"

	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/platform/jsonscan"
)

// searchTool is the tool with which the server searches the web.
const searchTool = "web_search"

// The kinds of block of a search.
const (
	serverUse    = "server_tool_use"
	serverResult = "web_search_tool_result"
)

// appendSearch appends the tool to those of a request.
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

// partialQuery returns the query in input that is still being typed.
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

// searching says what is looked for, if it says more than before.
func (d *decoder) searching(query string) {
	if query != "" && query != d.query {
		d.query = query
		d.emit(model.Searching{Query: query})
	}
}

// search hands out what a block of a search says.
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
	if json.Unmarshal(raw, &b) != nil { // ok: of another kind
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
		found := model.Searched{Query: d.queries[b.Use]}
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
