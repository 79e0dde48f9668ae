package plain

import (
	"fmt"
	"time"

	"adze/internal/platform/amount"
	"adze/internal/tool"
	"adze/internal/ui/draw"
)

// A status is what goes on that has not led to a line yet.
type status struct {
	calls []*call
	doing string // what the model does; empty if nothing is waited for
	since time.Time
	chars int    // of the response, that arrived
	told  string // what was said last about it
	crew  crew
}

// A call is running, and shown if it takes long.
type call struct {
	id, title string
	began     time.Time
	output    tool.Output
	news      string // what it says of its progress, in a line
}

const (
	// patience is how long nothing has to happen before the user is told what is waited for.
	patience = 2 * time.Second
	// callPatience is the same for a call, which has a name.
	callPatience = time.Second
	// silence is how long nothing is written; a little more is too long.
	silence = 9 * time.Second
)

// phase begins to wait for something.
func (s *status) phase(doing string) {
	s.doing, s.since, s.chars = doing, time.Now(), 0
}

// arrived notes that something of a response has arrived.
func (s *status) arrived(doing string, chars int) {
	if s.doing != doing {
		s.doing, s.since = doing, time.Now()
	}
	if s.chars += chars; doing == "writing" {
		s.since = time.Now() // the text itself is seen
	}
}

// idle says that nothing is waited for any more.
func (s *status) idle() { s.doing, s.calls, s.told = "", nil, "" }

// progress notes what a call prints.
func (s *status) progress(id string, d tool.Display) {
	for _, c := range s.calls {
		if c.id == id {
			c.display(d)
		}
	}
}

// display notes what the call prints.
func (c *call) display(d tool.Display) {
	switch d := d.(type) {
	case tool.Output:
		c.output = d
	case tool.Plain:
		c.news = tool.OneLine(d.Text, maxNews)
	}
}

// forget removes a call that has ended, and returns it; nil if it was not known.
func (s *status) forget(id string) *call {
	for i, c := range s.calls {
		if c.id == id {
			s.calls = append(s.calls[:i:i], s.calls[i+1:]...)
			return c
		}
	}
	return nil
}

// what returns what is waited for, for how long, and a name for it; empty if there is nothing to tell yet.
func (s *status) what() (text string, since time.Time, name string) {
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

// responding returns what the model does, in the same way.
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

// maxNews is how many characters are shown of what a call says of its progress.
const maxNews = 200

// waiting writes what is waited for: once, and again when nothing was written for a while.
func (p *printer) waiting() {
	text, since, name := p.what()
	if text == "" || p.told == name && time.Since(p.last) < silence {
		return
	}
	p.told = name
	p.line(draw.Span{Role: draw.Faint, Text: p.cfg.Glyphs.More + " " + draw.Clean(text) + " (" + clock(since) + p.tokens() + ")"})
}

// clock returns how long something takes, in whole seconds.
func clock(since time.Time) string { return time.Since(since).Truncate(time.Second).String() }
