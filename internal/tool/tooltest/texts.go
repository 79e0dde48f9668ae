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

// Translated checks the tool's Chinese texts: the description has as many lines as the English one, and
// the other texts belong to parameters. It logs missing ones, for which English is used. [Run] does
// it as well; it is for the variants of a tool.
func Translated(t *testing.T, tl tool.Tool) {
	t.Helper()
	problems, missing := translated(tl)
	for _, problem := range problems {
		t.Error(problem)
	}
	for _, text := range missing {
		t.Log(text)
	}
}

func translated(tl tool.Tool) (problems, missing []string) {
	spec, translate := tl.Spec(), tl.Traits().Translate
	if translate == nil {
		return nil, []string{spec.Name + " has no Chinese texts"}
	}
	if translate(texts.English) != nil {
		return []string{spec.Name + " translates itself into English"}, nil
	}
	report := func(format string, args ...any) {
		problems = append(problems, spec.Name+": "+fmt.Sprintf(format, args...))
	}
	all := translate(texts.Chinese)
	doc, translated := all["doc"]
	if !translated {
		missing = append(missing, spec.Name+": the description has no Chinese text")
	}
	if got, want := strings.Count(doc, "\n"), strings.Count(spec.Description, "\n"); translated && got != want {
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
		if _, ok := all[param]; !ok {
			missing = append(missing, fmt.Sprintf("%s: the parameter %s has no Chinese text", spec.Name, param))
		}
		delete(left, param)
		return "", false
	})
	for _, name := range slices.Sorted(maps.Keys(left)) {
		report("Chinese text for an unknown parameter %s", name)
	}
	return problems, missing
}
