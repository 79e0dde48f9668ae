package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
)

const (
	// maxWaiting is the size of the waiting messages from which on updates wait for the client,
	// in bytes, and maxUnread the size from which on the client counts as gone.
	maxWaiting = 16 << 20
	maxUnread  = 64 << 20
)

var errUnread = errors.New("the client does not read what it is sent")

// An outbox holds the messages that the client has not received yet. While the client is slow,
// pieces of the same text are joined, and a call's progress replaces the previous one, so that
// sessions need not wait. It is safe for concurrent use.
type outbox struct {
	w       io.Writer
	mu      sync.Mutex
	changed sync.Cond
	waiting []*parcel
	size    int
	last    map[string]*parcel // last waiting update of a session
	latest  map[progressKey]*parcel
	closed  bool
	err     error         // why nothing more is written
	broken  chan struct{} // closed with err
	done    chan struct{} // closed when nothing more is written
}

// A parcel is a waiting message: data, or an update that may still change.
type parcel struct {
	data  []byte
	size  int
	text  *textParcel
	state func() frame
}

// A textParcel is a piece of a message.
type textParcel struct {
	session, update, message string
	text                     bytes.Buffer
}

type progressKey struct{ session, call string }

func (o *outbox) init(w io.Writer) {
	o.w, o.broken, o.done = w, make(chan struct{}), make(chan struct{})
	o.changed.L = &o.mu
	o.last, o.latest = map[string]*parcel{}, map[progressKey]*parcel{}
	go o.write()
}

// encode returns a message as a line.
func encode(f frame) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(f); err != nil {
		b.Reset()
		enc.Encode(frame{Version: "2.0", ID: f.ID, Error: asError(err)}) // ok: it holds texts only
	}
	return b.Bytes()
}

// add adds a message. It never waits.
func (o *outbox) add(f frame) {
	data := encode(f)
	o.mu.Lock()
	defer o.mu.Unlock()
	session := ""
	if n, ok := f.Params.(notification); ok {
		session = n.SessionID
		if call, ok := n.Update.(toolCall); ok { // a later progress must follow it
			delete(o.latest, progressKey{session, call.ToolCallID})
		}
	}
	o.push(session, &parcel{data: data, size: len(data)})
}

// text adds a piece of a message to a session's updates. The pieces of a waiting message are
// joined.
func (o *outbox) text(session, update, message, text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if p := o.last[session]; p != nil && p.text != nil && p.text.update == update && p.text.message == message {
		p.text.text.WriteString(text)
		p.size += len(text)
		o.size += len(text)
		return
	}
	p := &parcel{text: &textParcel{session: session, update: update, message: message}, size: len(text) + 200}
	p.text.text.WriteString(text)
	o.push(session, p)
}

// progress adds the progress of a call. It replaces a waiting one.
func (o *outbox) progress(session, call string, size int, state func() frame) {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := progressKey{session, call}
	if p := o.latest[key]; p != nil {
		o.size += size - p.size
		p.state, p.size = state, size
		return
	}
	p := &parcel{state: state, size: size}
	o.latest[key] = p
	o.push(session, p)
}

// push adds a parcel. The lock is held.
func (o *outbox) push(session string, p *parcel) {
	if o.closed || o.err != nil {
		return
	}
	if o.size > maxUnread {
		o.fail(errUnread)
		return
	}
	o.waiting = append(o.waiting, p)
	o.size += p.size
	if session != "" {
		o.last[session] = p
	}
	o.changed.Broadcast()
}

// fail stops the outbox. The lock is held.
func (o *outbox) fail(err error) {
	if o.err == nil {
		o.err, o.waiting = err, nil
		close(o.broken)
		o.changed.Broadcast()
	}
}

// room waits until the client has read enough for another update, or until ctx is done.
func (o *outbox) room(ctx context.Context) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.size <= maxWaiting {
		return
	}
	defer context.AfterFunc(ctx, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.changed.Broadcast()
	})()
	for o.size > maxWaiting && o.err == nil && !o.closed && ctx.Err() == nil {
		o.changed.Wait()
	}
}

// write writes the messages until the outbox is closed and empty, or a write fails.
func (o *outbox) write() {
	defer close(o.done)
	for {
		o.mu.Lock()
		for len(o.waiting) == 0 && !o.closed && o.err == nil {
			o.changed.Wait()
		}
		batch, size := o.waiting, o.size
		o.waiting = nil
		clear(o.last)
		clear(o.latest)
		over := len(batch) == 0
		o.mu.Unlock()
		if over {
			return
		}
		var data []byte
		for _, p := range batch {
			data = append(data, p.encode()...)
		}
		_, err := o.w.Write(data)
		o.mu.Lock()
		o.size -= size
		if err != nil {
			o.fail(err)
		}
		failed := o.err != nil
		o.changed.Broadcast()
		o.mu.Unlock()
		if failed {
			return
		}
	}
}

func (p *parcel) encode() []byte {
	switch {
	case p.text != nil:
		text := p.text.text.String()
		return encode(update(p.text.session, chunk{p.text.update, contentBlock{Type: "text", Text: &text}, p.text.message}))
	case p.state != nil:
		return encode(p.state())
	}
	return p.data
}

// close accepts no more messages; the waiting ones are written.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.changed.Broadcast()
}

// failure returns why nothing more is written, or nil.
func (o *outbox) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// update returns the message with an update of a session.
func update(session string, u any) frame {
	return frame{Version: "2.0", Method: "session/update", Params: notification{session, u}}
}
