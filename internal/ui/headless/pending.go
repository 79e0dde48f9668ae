package headless

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"adze/internal/session"
)

// A question was put to the host and is not settled yet. The request is the line that puts it.
type question struct {
	session.Asked
	request []byte
}

// A reply is what the host answers to a request.
type reply struct {
	body json.RawMessage
	err  error
}

var errHostGone = errors.New("the host is gone")

// pending is what the host was asked and has not answered. It is safe for concurrent use.
type pending struct {
	mu        sync.Mutex
	gone      bool // the host answers nothing any more
	questions []question
	calls     map[string]chan reply // of hooks of the host, by request id
}

// ask keeps a question, unless the host is gone.
func (p *pending) ask(q question) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		return false
	}
	p.questions = append(p.questions, q)
	return true
}

// drop forgets a question and reports whether it was open.
func (p *pending) drop(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.questions, func(q question) bool { return q.ID == id })
	if i < 0 {
		return false
	}
	p.questions = slices.Delete(p.questions, i, i+1)
	return true
}

// asks reports whether a question is open, and requests returns the lines of all of them.
func (p *pending) asks() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.questions) > 0
}

func (p *pending) requests() []json.RawMessage {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []json.RawMessage
	for _, q := range p.questions {
		all = append(all, bytes.TrimSuffix(q.request, []byte("\n")))
	}
	return all
}

// call returns where the reply to a request will arrive, and what gives up on it.
func (p *pending) call(id string) (<-chan reply, func(), error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		return nil, nil, errHostGone
	}
	if p.calls == nil {
		p.calls = map[string]chan reply{}
	}
	answer := make(chan reply, 1)
	p.calls[id] = answer
	return answer, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.calls, id)
	}, nil
}

// replied hands the host's answer to the call that waits for it, and reports whether there is one.
func (p *pending) replied(id, subtype string, body json.RawMessage, text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	answer, ok := p.calls[id]
	if !ok {
		return false
	}
	delete(p.calls, id)
	r := reply{body: body}
	if subtype != "success" {
		r = reply{err: fmt.Errorf("the host answered with an error: %s", text)}
	}
	answer <- r
	return true
}

// hangUp says that the host is gone: calls fail, and the questions that were open are returned.
func (p *pending) hangUp() []question {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = true
	open := p.questions
	p.questions = nil
	for id, answer := range p.calls {
		delete(p.calls, id)
		answer <- reply{err: errHostGone}
	}
	return open
}
