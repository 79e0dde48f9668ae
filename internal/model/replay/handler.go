package replay

import (
	"io"
	"net/http"

	"adze/internal/model"
)

// Handler returns the script as a server of its dialect, under any path prefix. It validates
// requests against the protocol.
func (p *Player) Handler() http.Handler { return http.HandlerFunc(p.serve) }

// maxBody is the maximum request size.
const maxBody = 32 << 20

func (p *Player) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		p.refuse(w, &model.Error{Kind: model.Invalid, Status: http.StatusMethodNotAllowed, Message: r.Method + " is not allowed here, only POST is"})
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		p.complain(w, &model.Error{Kind: model.Invalid, Message: "reading the request: " + err.Error()})
		return
	}
	asked, refused := p.server.Admit(r.URL.Path, r.Header, body)
	switch {
	case refused != nil && refused.Status == http.StatusNotFound:
		p.refuse(w, refused)
	case refused != nil:
		p.complain(w, refused)
	case asked.Count:
		w.Header().Set("Content-Type", "application/json")
		w.Write(p.server.EncodeTokenCount(countTokens(body))) // ok: the client may have disconnected
	default:
		play(w, r, p.admit(&query{RequestInfo: asked, server: p.server, header: r.Header, body: body}))
	}
}

// complain records and rejects a request that violates the protocol.
func (p *Player) complain(w http.ResponseWriter, e *model.Error) {
	p.mu.Lock()
	p.problems = append(p.problems, e)
	p.mu.Unlock()
	p.refuse(w, e)
}

// refuse answers with an error.
func (p *Player) refuse(w http.ResponseWriter, e *model.Error) {
	status, body := p.server.EncodeError(e.Kind, e.Message)
	if e.Status != 0 {
		status = e.Status
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(body) // ok: the client may have disconnected
}

// play sends the answer a in pieces until the client disconnects. A message's headers are sent
// immediately; an error's are delayed with it.
func play(w http.ResponseWriter, r *http.Request, a *answer) {
	ctx, c := r.Context(), http.NewResponseController(w)
	for name, values := range a.header {
		w.Header()[name] = values
	}
	if a.drop == 0 && !a.failed() {
		w.WriteHeader(a.status)
		c.Flush() // ok: unflushed data arrives later
	}
	pos := 0
	for _, p := range a.pieces {
		if sleep(ctx, nil, p.wait) != nil {
			return
		}
		if a.drop != 0 {
			panic(http.ErrAbortHandler)
		}
		if a.failed() {
			w.WriteHeader(a.status)
		}
		if _, err := w.Write(a.body[pos:p.end]); err != nil {
			return
		}
		c.Flush() // ok: unflushed data arrives later
		pos = p.end
	}
	switch a.end {
	case endReset:
		panic(http.ErrAbortHandler)
	case endHang:
		<-ctx.Done()
	}
}
