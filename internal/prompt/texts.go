package prompt

import (
	_ "embed"

	"adze/internal/platform/text/texts"
)

var (
	//go:embed texts.en.md
	english string
	//go:embed texts.zh.md
	chinese string

	catalogue = texts.New(english, chinese)
)

// catalogText returns a text from the catalog with its placeholders filled in.
func catalogText(l texts.Language, name string, values ...string) string {
	return catalogue.Text(l, name, values...)
}
