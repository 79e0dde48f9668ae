package compact

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"adze/internal/agent/sidequery"
	"adze/internal/model"
	"adze/internal/model/tokens"
	"adze/internal/msg"
)

const (
	// maxSummary limits the model's answer, in tokens.
	maxSummary = 20_000
	// maxTime limits the duration of a summary request.
	maxTime = 15 * time.Minute
	// maxTries is how often a summary request that was too long is shortened.
	maxTries = 3
	// maxQuote limits the quotation that identifies a message, in tokens.
	maxQuote = 200
)

// summarise asks the model for a summary of the entries in told and returns the segment in
// which the summary replaces them.
func (c *Compactor) summarise(ctx context.Context, j Job, told, kept []msg.Entry, keep string) (*Segment, error) {
	text, err := c.ask(ctx, j, told, keep)
	if err != nil {
		return nil, err
	}
	g := c.Gauge(j.Model)
	said := userMessagesWithin(told, wordsBudget(j.Limits), g, c.text.cut())
	seg := &Segment{Text: text, Kept: slices.Clip(kept), Last: j.Side == Back}
	seg.Summary = c.entry(c.text.summary(text, said, c.transcript(), j))
	if n := len(kept); seg.Last && n > 0 {
		seg.Summary.Parent = kept[n-1].ID
	}
	if err := c.finish(j, seg); err != nil {
		return nil, err
	}
	c.attach(ctx, j, seg, g)
	return seg, nil
}

// attach adds restored files and other sources to the summary as far as they fit.
func (c *Compactor) attach(ctx context.Context, j Job, seg *Segment, g *tokens.Estimator) {
	var parts []msg.Part
	var restored []string
	if c.cfg.Sources != nil {
		room := min((j.Limits.Auto()-seg.After)/2, seg.Before-seg.After-1) // any more would not be shorter
		parts, restored = restore(c.cfg.Sources(ctx), seg.Kept, room, g, c.text)
	}
	if c.cfg.Hooks != nil {
		parts = append(parts, c.cfg.Hooks.After(ctx, j.Trigger, seg.Text)...)
	}
	if len(parts) == 0 {
		return
	}
	whole := *seg
	whole.Summary.Message.Parts = append(slices.Clip(seg.Summary.Message.Parts), parts...)
	if c.finish(j, &whole) == nil {
		whole.Restored = restored
		*seg = whole
	}
}

// ask returns a summary of told. The model reads the conversation as it was sent before,
// including the entries not to be summarized; the instructions identify the part to summarize.
// If that is too long or rejected, the model reads the entries in the bare form.
func (c *Compactor) ask(ctx context.Context, j Job, told []msg.Entry, keep string) (string, error) {
	g := c.Gauge(j.Model)
	order := c.text.ask(j.Focus, keep)
	part := ""
	switch {
	case j.Side == Back:
		order += "\n\n" + c.text.say("since", cutTo(own(told[0]), maxQuote, g))
	case j.Side == Front && len(told) < len(j.Entries):
		part = "\n\n" + c.text.say("until", cutTo(own(j.Entries[len(told)]), maxQuote, g))
	}
	if c.cfg.OnSummarize != nil {
		c.cfg.OnSummarize()
	}
	room := j.Limits.Block() - g.Text(order+part)
	if j.Limits.MaxOutput <= 0 {
		room -= answerLimit(j.Limits)
	}
	var sent sidequery.Conversation
	whole, size := false, 0
	if j.Sent != nil {
		sent.Request = j.Sent
		end := len(told)
		if j.Side == Back {
			end = len(j.Entries)
		}
		for _, e := range j.Entries[min(j.SentEntries, end):end] {
			sent.Since = append(sent.Since, e.Message)
		}
		size = g.Request(j.Sent.System, j.Sent.Tools, j.Sent.Messages) + g.Messages(sent.Since...)
		whole = size <= room
	}
	if j.Side == Back {
		told = j.Entries // the model also reads the entries before them
	}
	var in *Job // bare form, built on demand
	for tries, again := 0, false; ; {
		var q sidequery.Question
		if whole {
			q = sent.Question(order+part, answerLimit(j.Limits))
		} else {
			if in == nil {
				in = c.bareJob(j, told)
			}
			entries := in.Entries
			if c.Size(*in) > room {
				seg, ok := c.shorten(*in, room, shortener{readOnly: true})
				if !ok {
					return "", errors.New("the conversation is too long to be summarised")
				}
				entries = seg.Entries()
			}
			size = g.Request(in.System, in.Tools, nil) + sum(g, entries)
			q = in.question(entries, order)
		}
		q.Purpose = "summaries"
		text, err := c.answer(ctx, q)
		switch kind := model.KindOf(err); {
		case err == nil || ctx.Err() != nil:
			return text, err
		case (kind == model.TooLong || kind == model.OverWindow) && tries < maxTries:
			tries++
			whole, room = false, smallerSize(room, size, err)
		case whole && (kind == model.MediaTooLarge || kind == model.BadSignature):
			whole = false
		case errors.Is(err, sidequery.ErrUnusable) && !again:
			again = true
			order += "\n\n" + c.text.say("again")
		default:
			return "", err
		}
	}
}

// bareJob returns j in the bare form.
func (c *Compactor) bareJob(j Job, told []msg.Entry) *Job {
	in := &Job{Model: j.Model, Limits: j.Limits, System: j.System, UserID: j.UserID, Entries: c.bare(told, j.Limits, c.Gauge(j.Model))}
	for _, t := range j.Tools {
		if t.Name == c.cfg.ReadTool {
			in.Tools = []msg.ToolSpec{t}
		}
	}
	return in
}

// question returns a question about entries in the bare form.
func (j *Job) question(entries []msg.Entry, order string) sidequery.Question {
	said := make([]msg.Message, len(entries))
	for i, e := range entries {
		said[i] = e.Message
	}
	return sidequery.Question{
		Model: j.Model, System: j.System, Tools: j.Tools, Messages: sidequery.About(said, order),
		MaxTokens: answerLimit(j.Limits), UserID: j.UserID,
	}
}

// smallerSize returns the size to try after a request was too long: scaled by the ratio the provider
// reports, or reduced by a fifth.
func smallerSize(room, size int, err error) int {
	size = min(room, size)
	var e *model.Error
	if errors.As(err, &e) && e.Window > 0 && e.Input > e.Window {
		return int(float64(size) * float64(e.Window) / float64(e.Input) * 0.98)
	}
	return size * 4 / 5
}

// answerLimit returns the maximum length of a summary.
func answerLimit(l Limits) int {
	if l.MaxOutput <= 0 {
		return min(maxSummary, l.Usable()/4)
	}
	return min(maxSummary, l.MaxOutput)
}

// answer sends one request for a summary.
func (c *Compactor) answer(ctx context.Context, q sidequery.Question) (string, error) {
	q.Timeout, q.Interactive = maxTime, true
	answer, err := c.cfg.Asker.Ask(ctx, q)
	if err != nil {
		return "", fmt.Errorf("asking for a summary: %w", err)
	}
	text, err := answer.Words()
	if err != nil {
		return "", fmt.Errorf("asking for a summary: %w", err)
	}
	if text = extract(text); text == "" {
		return "", fmt.Errorf("asking for a summary: %w: it is empty", sidequery.ErrUnusable)
	}
	return text, nil
}

// extract returns the summary from an answer, without the draft before it.
func extract(answer string) string {
	if before, rest, ok := strings.Cut(answer, "<analysis>"); ok {
		_, after, closed := strings.Cut(rest, "</analysis>")
		if !closed { // an unclosed draft may still be followed by a summary
			_, after, closed = strings.Cut(rest, "<summary>")
			if !closed {
				return strings.TrimSpace(before)
			}
			after = "<summary>" + after
		}
		answer = before + after
	}
	if _, after, ok := strings.Cut(answer, "<summary>"); ok {
		answer, _, _ = strings.Cut(after, "</summary>")
	}
	// The summary must be a single element, so remove stray closing tags.
	answer = strings.ReplaceAll(answer, strings.TrimSpace(closeTag), "")
	return strings.TrimSpace(strings.ReplaceAll(answer, openTag, ""))
}

// bare returns entries in the form to summarize: without reasoning and old results, and with
// markers in place of media.
func (c *Compactor) bare(entries []msg.Entry, l Limits, g *tokens.Estimator) []msg.Entry {
	messages := make([]msg.Message, len(entries))
	for i, e := range entries {
		messages[i] = e.Message
	}
	clearer := Clearer{Clearable: c.cfg.Clearable}
	messages, _ = clearer.Clear(messages, ClearConditions{Usable: l.Usable(), Used: func() int { return g.Messages(messages...) }}, g)
	out := slices.Clone(entries)
	for i, e := range entries {
		parts := markMedia(messages[i].Parts, c.text)
		if e.Message.Role == msg.Assistant {
			parts = msg.WithoutThinking(parts)
		}
		if isSummary(e) && len(parts) > 1 {
			parts = parts[:1] // the rest is restored later
		}
		out[i].Message.Parts = parts
	}
	return out
}

func (c *Compactor) transcript() string {
	if c.cfg.Transcript == nil {
		return ""
	}
	return c.cfg.Transcript()
}
