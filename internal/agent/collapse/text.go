package collapse

import (
	_ "embed"
	"fmt"
	"strings"

	"adze/internal/platform/text/texts"
)

var (
	//go:embed texts.en.md
	english string
	//go:embed texts.zh.md
	chinese string

	catalogue = texts.New(english, chinese)
)

// write returns the text of a fold: a summary and the user's texts.
func write(l texts.Language, summary string, said []string) string {
	const open, end = "<conversation-fold>", "</conversation-fold>"
	summary = strings.NewReplacer(open, "", end, "").Replace(summary)
	var b strings.Builder
	b.WriteString(open + "\n" + catalogue.Text(l, "intro") + "\n" + summary)
	if len(said) > 0 {
		b.WriteString("\n" + catalogue.Text(l, "said"))
		for _, s := range said {
			b.WriteString("\n<said>\n" + s + "\n</said>")
		}
	}
	b.WriteString("\n" + end)
	return b.String()
}

// Report describes how full the window is and which ranges are folded or could be.
func (f *Folder) Report() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "The conversation, without folds, has about %d tokens; %d fit before it is summarised.\n", f.size, f.limit)
	for _, d := range f.folds {
		state := "staged"
		if d.committed {
			state = "folded"
		}
		fmt.Fprintf(&b, "Messages %d to %d: %s.\n", d.From+1, d.To, state)
	}
	switch {
	case f.busy:
		b.WriteString("Another part is being summarised.\n")
	case f.failed.TooMany():
		b.WriteString("Summarising failed too often; giving up for this session.\n")
	case len(f.folds) == 0:
		b.WriteString("Nothing is folded or staged.\n")
	}
	return strings.TrimSpace(b.String())
}
