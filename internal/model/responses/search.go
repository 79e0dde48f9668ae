package responses

import (
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/platform/text/jsonscan"
)

// appendSearch appends the server's web search tool to a request's tools. The server does not
// support blocked domains; the caller has to filter the results.
func appendSearch(dst []byte, req *model.Request) []byte {
	if req.Search == nil {
		return dst
	}
	if len(req.Tools) > 0 {
		dst = append(dst[:len(dst)-1], ',')
	} else {
		dst = append(dst, `,"tools":[`...)
	}
	dst = append(dst, `{"type":"web_search"`...)
	for i, d := range req.Search.Allowed {
		if i == 0 {
			dst = append(dst, `,"filters":{"allowed_domains":`...)
		}
		dst = msg.AppendString(append(dst, "[,"[min(i, 1)]), d)
	}
	if len(req.Search.Allowed) > 0 {
		dst = append(dst, "]}"...)
	}
	return append(dst, "}]"...)
}

// search emits the event for an item if it is a search.
func (d *decoder) search(raw []byte) {
	found := model.SearchResult{}
	var kind, action, status []byte
	err := jsonscan.Object(raw, func(name, value []byte) error {
		switch string(name) {
		case "type":
			kind = value
		case "action":
			action = value
		case "status":
			status = value
		}
		return nil
	})
	if err != nil || !jsonscan.Is(kind, "web_search_call") || len(action) == 0 || action[0] != '{' {
		return
	}
	searches := false
	var sources []byte
	err = jsonscan.Object(action, func(name, value []byte) error {
		switch string(name) {
		case "type":
			searches = jsonscan.Is(value, "search")
		case "query":
			found.Query, _ = jsonscan.String(value)
		case "sources":
			sources = value
		}
		return nil
	})
	if err != nil || !searches {
		return
	}
	d.tally.usage.WebSearches++
	if found.Query != "" {
		d.emit(model.SearchQuery{Query: found.Query})
	}
	if jsonscan.Is(status, "failed") {
		found.Failure = "failed"
	}
	found.Found = pages(sources, "")
	d.emit(found)
}

// pages returns the pages in a list of objects. kind is the type they must have, or empty.
func pages(list []byte, kind string) (all []model.Page) {
	if len(list) == 0 || list[0] != '[' {
		return nil
	}
	jsonscan.List(list, func(value []byte) error { // ok: unreadable entries are skipped
		var p model.Page
		fits := kind == ""
		if len(value) == 0 || value[0] != '{' {
			return nil
		}
		err := jsonscan.Object(value, func(name, value []byte) error {
			switch string(name) {
			case "type":
				fits = fits || jsonscan.Is(value, kind)
			case "title":
				p.Title, _ = jsonscan.String(value)
			case "url":
				p.URL, _ = jsonscan.String(value)
			}
			return nil
		})
		if err == nil && fits && p.URL != "" {
			all = append(all, p)
		}
		return nil
	})
	return all
}

// citations returns the pages that an answer's text cites.
func citations(content []byte) (all []model.Page) {
	if len(content) == 0 || content[0] != '[' {
		return nil
	}
	jsonscan.List(content, func(value []byte) error { // ok: the text itself was already read
		if value[0] != '{' {
			return nil
		}
		return jsonscan.Object(value, func(name, value []byte) error {
			if string(name) == "annotations" {
				all = append(all, pages(value, "url_citation")...)
			}
			return nil
		})
	})
	return all
}
