package plain

import (
	"fmt"
	"time"

	"adze/internal/platform/text/amount"
	"adze/internal/tool"
	"adze/internal/ui/draw"
)

// A status is the current activity that has not produced a line yet.
type status struct {
	calls        []*call
	doing        string // the model's activity; empty if idle
	since        time.Time
	chars        int    // characters of the response received
	lastReported string // name of the last reported activity
	crew         agentList
}

// A call is a running call, shown if it takes long.
type call struct {
	id, title string
	began     time.Time
	output    tool.Output
	news      string // its progress message, on one line
}

const (
	// patience is the idle time before the user is shown the current wait.
	patience = 2 * time.Second
	// callPatience is the same for a call, which has a name.
	callPatience = time.Second
	// silence is the longest time without output while something is running.
	silence = 9 * time.Second
)

// phase starts waiting for an activity.
func (s *status) phase(doing string) {
	s.doing, s.since, s.chars = doing, time.Now(), 0
}

// arrived records that part of a response has arrived.
func (s *status) arrived(doing string, chars int) {
	if s.doing != doing {
		s.doing, s.since = doing, time.Now()
	}
	if s.chars += chars; doing == "writing" {
		s.since = time.Now() // the text itself is visible
	}
}

// idle clears the current activity.
func (s *status) idle() { s.doing, s.calls, s.lastReported = "", nil, "" }

// progress records a call's output.
func (s *status) progress(id string, d tool.Display) {
	for _, c := range s.calls {
		if c.id == id {
			c.display(d)
		}
	}
}

// display records the call's output.
func (c *call) display(d tool.Display) {
	switch d := d.(type) {
	case tool.Output:
		c.output = d
	case tool.Plain:
		c.news = tool.OneLine(d.Text, maxNews)
	}
}

// forget removes a finished call and returns it, or nil if it is unknown.
func (s *status) forget(id string) *call {
	for i, c := range s.calls {
		if c.id == id {
			s.calls = append(s.calls[:i:i], s.calls[i+1:]...)
			return c
		}
	}
	return nil
}

// currentWait returns the current wait, its start and a name for it, or empty strings if there is
// nothing to report yet.
func (s *status) currentWait() (text string, since time.Time, name string) {
	for _, c := range s.calls {
		if time.Since(c.began) >= callPatience && !s.crew.launched(c.id) {
			if text = c.title; c.news != "" {
				text += ": " + c.news
			}
			return text, c.began, c.id
		}
	}
	if len(s.crew) > 0 && time.Since(s.crew[0].began) >= callPatience {
		if text = s.crew.list(); len(s.crew) > 1 {
			text = fmt.Sprintf("%d agents at work: %s", len(s.crew), text)
		}
		return text, s.crew[0].began, "agents"
	}
	return s.responding()
}

// responding returns the model's activity in the same form.
func (s *status) responding() (text string, since time.Time, name string) {
	if len(s.calls) == 0 && s.doing != "" && time.Since(s.since) >= patience {
		return s.doing, s.since, s.doing
	}
	return "", time.Time{}, ""
}

// tokens returns how much of the response has arrived.
func (s *status) tokens() string {
	const charsPerToken = 4
	if len(s.calls) > 0 || s.chars < charsPerToken {
		return ""
	}
	return ", about " + amount.Grouped(s.chars/charsPerToken) + " tokens"
}

// maxNews is the maximum length of a call's progress message, in characters.
const maxNews = 200

// waiting writes the current wait: once, and again after a period of silence.
func (p *printer) waiting() {
	text, since, name := p.currentWait()
	if text == "" || p.lastReported == name && time.Since(p.last) < silence {
		return
	}
	p.lastReported = name
	p.line(draw.Span{Role: draw.Faint, Text: p.cfg.Glyphs.More + " " + draw.Clean(text) + " (" + clock(since) + p.tokens() + ")"})
}

// clock returns the elapsed time in whole seconds.
func clock(since time.Time) string { return time.Since(since).Truncate(time.Second).String() }
