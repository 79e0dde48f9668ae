package compact

import (
	_ "embed"
	"fmt"
	"strings"
)

// What a compaction leaves is one element, so that the next one knows it again.
const (
	openTag  = "<conversation-summary>"
	closeTag = "\n</conversation-summary>"
	// What the person said stands between these.
	openSaid, closeSaid = "\n<said>\n", "\n</said>"
)

// Cleared stands for the content of an old result. It is the same for all, and in all languages, so
// that nothing before it changes when a session goes on elsewhere.
const Cleared = "[Old tool output was cleared to save room. Run the tool again if it is needed.]"

// The instructions for a summary.
var (
	//go:embed summary.en.md
	summaryEnglish string
	//go:embed summary.zh.md
	summaryChinese string
)

// texts are what the model reads in one language.
type texts struct {
	instruction string
	focus       string // with the focus
	keep        string // with what hooks want to be kept
	again       string // after an answer that is no summary
	since       string // with the words at which the part to sum up begins

	intro      string // before a summary
	introBack  string // before a summary of what followed the messages before it
	introDrop  string // before what is left when messages were dropped
	introPrior string // before what an earlier summary told
	said       string // before the words of the person
	transcript string // with the path
	goOn       string // when the person did not ask for the compaction

	file, skill     string // with the name
	plan            string // with the file
	running         string // before the background tasks
	cut             string // after a text that was cut
	image, document string // in place of one
}

func textsIn(language string) texts {
	switch language {
	case "zh", "chn":
		return chinese
	}
	return english
}

var english = texts{
	instruction: summaryEnglish,
	focus:       "The person asks you to pay attention above all to this: %s",
	keep:        "The summary must keep this: %s",
	again:       "That was no complete summary. Answer with text alone, without tool calls, and more briefly: an <analysis> of at most ten lines, then the whole <summary>.",
	since:       "Sum up only what came after the person said the following, including that; what was before it stays in the conversation:\n<said>\n%s\n</said>",
	intro:       "This conversation goes on from an earlier one that no longer fitted into the context window. What happened so far:",
	introBack:   "What followed the messages before this one was replaced by a summary, as the person wished. What happened:",
	introDrop:   "The beginning of this conversation no longer fitted into the context window, and earlier messages were dropped without a summary. Find out again what you need to know.",
	introPrior:  "What happened before them:",
	said:        "The person's own words so far, oldest first:",
	transcript:  "The whole conversation is in %s; read there when you need an exact detail.",
	goOn:        "Go on with the work where it stopped. Do not ask the person about it, and do not mention this summary.",
	file:        "The file %s as it is now:",
	skill:       "The skill %s, which was in use:",
	plan:        "The plan of this session is in %s:",
	running:     "These tasks still run in the background; you are told when one ends:",
	cut:         "\n[cut off here]",
	image:       "[image left out]",
	document:    "[document left out]",
}

var chinese = texts{
	instruction: summaryChinese,
	focus:       "用户要求特别关注：%s",
	keep:        "摘要必须保留：%s",
	again:       "上面的回答不是完整的摘要。请只用文字回答，不要调用工具，并且更简短：先写不超过十行的 <analysis>，再写完整的 <summary>。",
	since:       "只概括用户说出以下内容之后（包括这段话）的部分；此前的内容会原样留在对话中：\n<said>\n%s\n</said>",
	intro:       "本对话接续之前的一段对话，之前的内容已放不进上下文窗口。到目前为止发生的事：",
	introBack:   "应用户要求，此前消息之后的内容已由摘要代替。发生的事：",
	introDrop:   "本对话的开头已放不进上下文窗口，较早的消息未经摘要就被丢弃。需要知道的内容请重新查明。",
	introPrior:  "在那之前发生的事：",
	said:        "用户至今的原话，从旧到新：",
	transcript:  "完整对话保存在 %s；需要确切细节时请到那里查看。",
	goOn:        "请从中断处继续工作。不要就此询问用户，也不要提及这份摘要。",
	file:        "文件 %s 的当前内容：",
	skill:       "正在使用的技能 %s：",
	plan:        "本会话的计划在 %s：",
	running:     "以下任务仍在后台运行；结束时会通知你：",
	cut:         "\n[此处截断]",
	image:       "[图片已省略]",
	document:    "[文档已省略]",
}

// ask returns what the model is told to do.
func (t texts) ask(focus, keep string) string {
	lines := []string{strings.TrimSpace(t.instruction)}
	if focus != "" {
		lines = append(lines, fmt.Sprintf(t.focus, focus))
	}
	if keep != "" {
		lines = append(lines, fmt.Sprintf(t.keep, keep))
	}
	return strings.Join(lines, "\n\n")
}

// summary returns a summary as the model reads it from then on.
func (t texts) summary(text string, said []string, path string, j Job) string {
	var b strings.Builder
	intro := t.intro
	if j.Side == Back {
		intro = t.introBack
	}
	b.WriteString(openTag + "\n" + intro + "\n\n" + text)
	t.coda(&b, said, path)
	if j.Trigger == Auto {
		b.WriteString("\n\n" + t.goOn)
	}
	b.WriteString(closeTag)
	return b.String()
}

// dropped returns what stands for messages that are gone without a summary, after what an earlier
// summary told.
func (t texts) dropped(prior string, said []string, path string) string {
	var b strings.Builder
	b.WriteString(openTag + "\n" + t.introDrop)
	if prior != "" {
		b.WriteString("\n\n" + t.introPrior + "\n\n" + prior)
	}
	t.coda(&b, said, path)
	b.WriteString(closeTag)
	return b.String()
}

func (t texts) coda(b *strings.Builder, said []string, path string) {
	if len(said) > 0 {
		b.WriteString("\n\n" + t.said)
		for _, s := range said {
			b.WriteString(openSaid + s + closeSaid)
		}
	}
	if path != "" {
		b.WriteString("\n\n" + fmt.Sprintf(t.transcript, path))
	}
}

// read takes apart what a compaction has left, in whatever language: what was told, and the person's
// words.
func read(text string) (told string, said []string) {
	text = strings.TrimSuffix(strings.TrimPrefix(text, openTag+"\n"), closeTag)
	for _, t := range []texts{english, chinese} {
		for _, intro := range []string{t.introDrop, t.introPrior, t.intro, t.introBack} {
			text = strings.TrimPrefix(strings.TrimPrefix(text, intro), "\n\n")
		}
		path, _, _ := strings.Cut(t.transcript, "%s")
		for _, end := range []string{"\n\n" + t.goOn, "\n\n" + path} {
			if at := strings.LastIndex(text, end); at >= 0 {
				text = text[:at]
			} else if strings.HasPrefix(text, end[2:]) {
				text = ""
			}
		}
		before, words, ok := strings.Cut(text, t.said+openSaid)
		if !ok {
			continue
		}
		return strings.TrimSpace(before), strings.Split(strings.TrimSuffix(words, closeSaid), closeSaid+openSaid)
	}
	return strings.TrimSpace(text), nil
}
