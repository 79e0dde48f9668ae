package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"adze/internal/model"
	"adze/internal/model/messages"
)

// Handler returns the script as a server of the Messages protocol. It answers POST requests to
// /v1/messages and /v1/messages/count_tokens, after any prefix, and holds them to the protocol.
func (p *Player) Handler() http.Handler { return http.HandlerFunc(p.serve) }

func (p *Player) serve(w http.ResponseWriter, r *http.Request) {
	counts := strings.HasSuffix(r.URL.Path, "/v1/messages/count_tokens")
	if !counts && !strings.HasSuffix(r.URL.Path, "/v1/messages") {
		refuse(w, http.StatusNotFound, "not_found_error", "there is nothing at "+r.URL.Path)
		return
	}
	if r.Method != http.MethodPost {
		refuse(w, http.StatusMethodNotAllowed, "invalid_request_error", r.Method+" is not allowed here, only POST is")
		return
	}
	if !p.welcome(w, r) {
		return
	}
	q, err := readQuery(w, r)
	switch {
	case err != nil:
		p.complain(w, err)
	case counts:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"input_tokens":%d}`, countTokens(q.body))
	default:
		play(w, r, p.admit(q))
	}
}

// welcome checks the headers that every request needs, and answers the request when one is wrong.
func (p *Player) welcome(w http.ResponseWriter, r *http.Request) bool {
	h := r.Header
	if h.Get("X-Api-Key") == "" && h.Get("Authorization") == "" {
		p.note(errors.New("a request has neither x-api-key nor authorization"))
		refuse(w, http.StatusUnauthorized, "authentication_error", "x-api-key header is required")
		return false
	}
	if h.Get("Anthropic-Version") == "" {
		p.complain(w, errors.New("anthropic-version: header is required"))
		return false
	}
	if t, _, err := mime.ParseMediaType(h.Get("Content-Type")); err != nil || t != "application/json" {
		p.complain(w, fmt.Errorf("content-type: expected application/json, found %q", h.Get("Content-Type")))
		return false
	}
	return true
}

// complain records err and answers that the request is invalid.
func (p *Player) complain(w http.ResponseWriter, err error) {
	p.note(err)
	status, body := messages.ErrorBody(model.Invalid, err.Error())
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(body) // ok: a client that has gone does not matter
}

func (p *Player) note(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problems = append(p.problems, err)
}

func refuse(w http.ResponseWriter, status int, kind, message string) {
	body, _ := json.Marshal(map[string]any{ // ok: strings always encode
		"type": "error", "error": map[string]string{"type": kind, "message": message},
	})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(body) // ok: a client that has gone does not matter
}

// maxBody is the size limit of the protocol.
const maxBody = 32 << 20

func readQuery(w http.ResponseWriter, r *http.Request) (*query, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return nil, fmt.Errorf("reading the request: %w", err)
	}
	var head struct {
		Model  string `json:"model"`
		Stream bool   `json:"stream"`
	}
	if err := json.Unmarshal(body, &head); err != nil {
		return nil, fmt.Errorf("the body is not a JSON object: %w", err)
	}
	return &query{body: body, model: head.Model, stream: head.Stream}, nil
}

// play sends a, piece by piece, for as long as the client listens. The headers of a message go out at
// once; an error has none before its time has come.
func play(w http.ResponseWriter, r *http.Request, a *answer) {
	ctx, c := r.Context(), http.NewResponseController(w)
	for name, values := range a.header {
		w.Header()[name] = values
	}
	if a.drop == 0 && !a.failed() {
		w.WriteHeader(a.status)
		c.Flush() // ok: what cannot be flushed arrives later
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
		c.Flush() // ok: what cannot be flushed arrives later
		pos = p.end
	}
	switch a.end {
	case endReset:
		panic(http.ErrAbortHandler)
	case endHang:
		<-ctx.Done()
	}
}
