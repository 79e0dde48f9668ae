package notebook

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// outputs returns the best representation of a cell output.
func (o output) outputs() []Output {
	switch o.Type {
	case "stream":
		return text(string(o.Text))
	case "error":
		trace := plain(strings.Join(o.Traceback, "\n"))
		if trace == "" {
			trace = o.Name + ": " + o.Value
		}
		return text(trace)
	}
	for _, mediaType := range []string{"image/png", "image/jpeg", "image/gif", "image/webp"} {
		if data, ok := picture(o.Data[mediaType]); ok {
			return []Output{{MediaType: mediaType, Data: data}}
		}
	}
	for _, mediaType := range []string{"text/plain", "text/markdown", "text/latex", "text/html", "application/json"} {
		if raw, ok := o.Data[mediaType]; ok {
			return text(content(raw))
		}
	}
	if len(o.Data) > 0 {
		return text(fmt.Sprintf("[output of type %s]", strings.Join(slices.Sorted(maps.Keys(o.Data)), ", ")))
	}
	return nil
}

func text(s string) []Output {
	if s = plain(s); strings.TrimSpace(s) == "" {
		return nil
	}
	return []Output{{Text: s}}
}

// content returns the value of a JSON string, or other JSON verbatim.
func content(raw json.RawMessage) string {
	var l lines
	if json.Unmarshal(raw, &l) == nil {
		return string(l)
	}
	return string(raw)
}

func picture(raw json.RawMessage) ([]byte, bool) {
	if raw == nil {
		return nil, false
	}
	code := strings.Join(strings.Fields(content(raw)), "")
	data, err := base64.StdEncoding.DecodeString(code)
	return data, err == nil && len(data) > 0
}

var colours = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]") })

// plain removes terminal color sequences from s.
func plain(s string) string {
	if !strings.Contains(s, "\x1b") {
		return s
	}
	return colours().ReplaceAllString(s, "")
}
