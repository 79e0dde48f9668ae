package collapse

import (
	_ "embed"
	"fmt"
	"strings"
)

var (
	//go:embed fold.en.md
	orderEnglish string
	//go:embed fold.zh.md
	orderChinese string
)

// texts are what the model reads in one language.
type texts struct{ order, intro, said string }

func textsIn(language string) texts {
	switch language {
	case "zh", "chn":
		return texts{orderChinese, "为节省空间，此处的一段对话已由摘要代替：", "用户在其中的原话："}
	}
	return texts{orderEnglish, "To save room, a part of the conversation was replaced by a summary here:", "The user's own words in it:"}
}

// fold returns what stands for messages.
func (t texts) fold(summary string, said []string) string {
	const open, end = "<conversation-fold>", "</conversation-fold>"
	summary = strings.NewReplacer(open, "", end, "").Replace(summary)
	var b strings.Builder
	b.WriteString(open + "\n" + t.intro + "\n" + summary)
	if len(said) > 0 {
		b.WriteString("\n" + t.said)
		for _, s := range said {
			b.WriteString("\n<said>\n" + s + "\n</said>")
		}
	}
	b.WriteString("\n" + end)
	return b.String()
}

// Report says what there is: how full the window is, what is folded, and what could be.
func (f *Folder) Report() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "The conversation, without folds, has about %d tokens; %d fit before it is summed up.\n", f.size, f.limit)
	for _, d := range f.folds {
		state := "staged"
		if d.committed {
			state = "folded"
		}
		fmt.Fprintf(&b, "Messages %d to %d: %s.\n", d.From+1, d.To, state)
	}
	switch {
	case f.busy:
		b.WriteString("Another part is being summed up.\n")
	case f.failed >= maxFailed:
		b.WriteString("Summing up failed; no more is tried.\n")
	case len(f.folds) == 0:
		b.WriteString("Nothing is folded or staged.\n")
	}
	return strings.TrimSpace(b.String())
}
