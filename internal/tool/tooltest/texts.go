package tooltest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"adze/internal/platform/text/texts"
	"adze/internal/tool"
	"adze/internal/tool/schema"
)

// Translated checks that the tool's description and all of its parameters are translated to
// Chinese, line by line, and nothing else is. [Run] does it as well; it is for the variants of
// a tool.
func Translated(t *testing.T, tl tool.Tool) {
	t.Helper()
	for _, problem := range translated(tl) {
		t.Error(problem)
	}
}

func translated(tl tool.Tool) []string {
	spec, translate := tl.Spec(), tl.Traits().Translate
	if translate == nil {
		return []string{spec.Name + " has no Chinese texts"}
	}
	if translate(texts.English) != nil {
		return []string{spec.Name + " translates itself into English"}
	}
	var problems []string
	report := func(format string, args ...any) {
		problems = append(problems, spec.Name+": "+fmt.Sprintf(format, args...))
	}
	all := translate(texts.Chinese)
	if got, want := strings.Count(all["doc"], "\n"), strings.Count(spec.Description, "\n"); all["doc"] == "" || got != want {
		report("the Chinese description has %d line breaks, the English one %d", got, want)
	}
	for name, text := range all {
		if text == "" || strings.Contains(text, "{}") {
			report("the Chinese text of %s is empty or has a gap", name)
		}
	}
	left := maps.Clone(all)
	delete(left, "doc")
	schema.Describe(json.RawMessage(spec.Schema), func(param string) (string, bool) {
		if all[param] == "" {
			report("the parameter %s has no Chinese text", param)
		}
		delete(left, param)
		return "", false
	})
	for _, name := range slices.Sorted(maps.Keys(left)) {
		report("there is a Chinese text for %s, which is no parameter", name)
	}
	return problems
}
