package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"adze/internal/tool"
)

// A Question is a hook's question to the user.
type Question struct {
	By      string // the hook, as the subject of a sentence
	Message string
	Options []Option
}

// An Option is a choice for the user. The labels and keys of a question are distinct.
type Option struct{ Key, Label, Description string }

// Limits on a hook's questions.
const (
	maxAsked       = 20 // questions per run
	maxQuestion    = 64 << 10
	maxID          = 200 // characters, as below
	maxMessage     = 2_000
	maxOptions     = 20
	maxLabel       = 200
	maxDescription = 500
)

// Reasons for a missing answer. The hook reads them.
var (
	errNoUser     = errors.New("no user to answer questions here")
	errBackground = errors.New("a hook in the background cannot ask the user")
	errNoOneWaits = errors.New("hooks of this event cannot ask the user")
	errTooOften   = fmt.Errorf("it asked the user more than %d times", maxAsked)
)

// errEnded is the reason for withdrawing a question.
const errEnded tool.Withdrawal = "the hook has ended"

// A dialogue reads the output of a hook that may ask the user: question lines are answered on
// its standard input, sequentially, and all others are output.
type dialogue struct {
	job  *job
	user func(context.Context, Question) (key string, err error) // nil without a user
	out  io.Writer

	line  []byte // incomplete line
	long  bool   // too long for a question: the rest of the line is output
	asked int
	// queue has room for all of the hook's questions, so that the hook never blocks on output.
	queue   chan inquiry
	answers chan []byte
	served  sync.WaitGroup
}

// An inquiry is a question line, or the error in it.
type inquiry struct {
	id string
	Question
	err error
}

// begin returns a run's dialogue. It ends with ctx; after that, finish must be called.
func begin(ctx context.Context, j *job, user func(context.Context, Question) (string, error), out io.Writer) *dialogue {
	d := &dialogue{job: j, user: user, out: out, queue: make(chan inquiry, maxAsked), answers: make(chan []byte)}
	d.served.Go(func() { d.serve(ctx) })
	return d
}

// finish waits for the end of the dialogue and passes on the hook's last output.
func (d *dialogue) finish() {
	d.served.Wait()
	d.out.Write(d.line) // ok: an oversized text is not an answer
}

// Write handles the hook's output. It never waits for the user.
func (d *dialogue) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			i = len(rest) - 1
		}
		piece := rest[:i+1]
		rest = rest[i+1:]
		if err := d.take(piece, piece[i] == '\n'); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// take handles a piece of a line. Ended means that it is the last piece.
func (d *dialogue) take(piece []byte, ended bool) error {
	if !d.long {
		d.line = append(d.line, piece...)
		if !ended && len(d.line) <= maxQuestion {
			return nil
		}
		piece, d.line = d.line, nil
		if q, ok := d.read(piece); ok && ended {
			return d.put(q)
		}
	}
	d.long = !ended
	_, err := d.out.Write(piece)
	return err
}

// put queues a question.
func (d *dialogue) put(q inquiry) error {
	if d.asked++; d.asked > maxAsked {
		return errTooOften
	}
	d.queue <- q
	return nil
}

// read parses a question line, and reports whether line is one.
func (d *dialogue) read(line []byte) (inquiry, bool) {
	fields, ok := asks(line)
	if !ok {
		return inquiry{}, false
	}
	r := &reader{fields: fields}
	q := inquiry{id: r.text("prompt")}
	q.By = d.job.who()
	q.Message = r.within("message", maxMessage)
	q.Options = r.options()
	switch q.err = r.err; {
	case d.job.inBackground:
		q.err = errBackground
	case d.job.kind.alone:
		q.err = errNoOneWaits
	case d.user == nil:
		q.err = errNoUser
	}
	return q, true
}

// asks reports whether a line is a question, and returns its members.
func asks(line []byte) (map[string]json.RawMessage, bool) {
	if len(line) > maxQuestion || !bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) {
		return nil, false
	}
	fields, err := fieldsOf(line)
	if err != nil {
		return nil, false
	}
	var id string
	ok := json.Unmarshal(fields["prompt"], &id) == nil && id != "" && utf8.RuneCountInString(id) <= maxID
	return fields, ok
}

// within reads a required text of at most the given number of characters.
func (r *reader) within(name string, most int) string {
	s := r.text(name)
	if strings.TrimSpace(s) == "" || utf8.RuneCountInString(s) > most {
		r.wrong(name, fmt.Sprintf("a text of 1 to %d characters", most))
	}
	return s
}

// options reads the choices.
func (r *reader) options() []Option {
	var list []map[string]json.RawMessage
	want := fmt.Sprintf("a list of 1 to %d objects", maxOptions)
	if !r.into("options", want, &list) || len(list) == 0 || len(list) > maxOptions {
		r.wrong("options", want)
		return nil
	}
	seen := map[string]bool{}
	all := make([]Option, len(list))
	for i, fields := range list {
		one := &reader{path: fmt.Sprintf("%soptions[%d].", r.path, i), fields: fields}
		o := Option{Key: one.within("key", maxLabel), Description: one.text("description")}
		if o.Label = o.Key; one.raw("label") != nil {
			o.Label = one.within("label", maxLabel)
		}
		switch {
		case utf8.RuneCountInString(o.Description) > maxDescription:
			one.wrong("description", fmt.Sprintf("a text of at most %d characters", maxDescription))
		case seen["key "+o.Key], seen["label "+o.Label]:
			one.wrong("key", "a key and a label that no other option has")
		}
		seen["key "+o.Key], seen["label "+o.Label] = true, true
		if all[i] = o; r.err == nil {
			r.err = one.err
		}
	}
	return all
}

// serve asks the user the questions and writes the answers, until ctx is done.
func (d *dialogue) serve(ctx context.Context) {
	for {
		select {
		case q := <-d.queue:
			select {
			case d.answers <- d.answer(ctx, q):
			case <-ctx.Done():
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// answer returns the line that answers a question. The hook's clock stops while the user
// decides.
func (d *dialogue) answer(ctx context.Context, q inquiry) []byte {
	a := struct {
		ID       string  `json:"prompt_response"`
		Selected *string `json:"selected"`
		Declined string  `json:"declined,omitempty"`
	}{ID: q.id}
	if q.err == nil {
		d.job.time.hold()
		var key string
		key, q.err = d.user(ctx, q.Question)
		d.job.time.run()
		a.Selected = &key
	}
	if q.err != nil {
		a.Selected, a.Declined = nil, q.err.Error()
	}
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	enc.Encode(a) // ok: texts can be encoded
	return line.Bytes()
}

// unheard returns the reason a hook's question did not reach the user, or "".
func (c capture) unheard(s *spec) string {
	line, _, _ := bytes.Cut(c.Head(maxQuestion+1), []byte("\n"))
	fields, ok := asks(line)
	switch {
	case !ok || fields["options"] == nil:
		return ""
	case s.asks:
		return "it asked the user and ended before the line did"
	}
	return `it asks the user, which takes "asksUser": true in its definition`
}

// A pausableTimer is a hook's time limit. It can be paused.
type pausableTimer struct {
	up <-chan time.Time // fires when the time is up

	mu    sync.Mutex
	timer *time.Timer
	left  time.Duration
	since time.Time     // start of the current run or pause
	held  time.Duration // total time paused
}

func newAllowance(limit time.Duration) *pausableTimer {
	t := time.NewTimer(limit)
	return &pausableTimer{up: t.C, timer: t, left: limit, since: time.Now()}
}

func (a *pausableTimer) hold() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.timer.Stop()
	a.left -= a.lap()
}

func (a *pausableTimer) run() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.held += a.lap()
	a.timer.Reset(max(0, a.left))
}

// lap returns the time since the current run or pause began.
func (a *pausableTimer) lap() time.Duration {
	now := time.Now()
	defer func() { a.since = now }()
	return now.Sub(a.since)
}

// waited returns the total time paused.
func (a *pausableTimer) waited() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.held
}
