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

// A question is an unsettled question sent to the host as request.
type question struct {
	session.Asked
	request []byte
}

// A reply is the host's answer to a request.
type reply struct {
	body json.RawMessage
	err  error
}

var errHostGone = errors.New("the host is gone")

// pendingRequests holds the requests the host has not answered. It is safe for concurrent use.
type pendingRequests struct {
	mu        sync.Mutex
	gone      bool // no more answers will arrive
	questions []question
	calls     map[string]chan reply // hook and server calls, by request ID
}

// ask adds a question, unless the host has disconnected.
func (p *pendingRequests) ask(q question) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		return false
	}
	p.questions = append(p.questions, q)
	return true
}

// drop removes a question and returns it, and whether it existed.
func (p *pendingRequests) drop(id string) (question, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.questions, func(q question) bool { return q.ID == id })
	if i < 0 {
		return question{}, false
	}
	q := p.questions[i]
	p.questions = slices.Delete(p.questions, i, i+1)
	return q, true
}

// asks reports whether there are open questions; requests returns their lines.
func (p *pendingRequests) asks() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.questions) > 0
}

func (p *pendingRequests) requests() (permissions, elicitations []json.RawMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, q := range p.questions {
		line := bytes.TrimSuffix(q.request, []byte("\n"))
		switch q.Question.(type) {
		case session.Permission, session.Choices:
			permissions = append(permissions, line)
		default:
			elicitations = append(elicitations, line)
		}
	}
	return permissions, elicitations
}

// call returns the channel for the reply to a request, and a function that stops waiting for
// it.
func (p *pendingRequests) call(id string) (<-chan reply, func(), error) {
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

// replied passes the host's answer to the waiting call, and reports whether there is one.
func (p *pendingRequests) replied(id, subtype string, body json.RawMessage, text string) bool {
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

// hangUp records that the host has disconnected: calls fail, and the open questions are
// returned.
func (p *pendingRequests) hangUp() []question {
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
