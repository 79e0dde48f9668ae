package mcptest

import (
	"fmt"
	"io"
	"net/http"
	"sync"
)

// A Handler is the server over streamable HTTP. It answers each request with one message, and
// drops unsolicited messages. Its behavior may be changed while it runs.
type Handler struct {
	Server *Server

	mu       sync.Mutex
	session  int
	requests []*http.Request
	// Intercept, if not nil, may answer a request itself and then returns true.
	Intercept func(w http.ResponseWriter, r *http.Request, body []byte) bool
}

// NewHandler returns a handler with the behavior given by args.
func NewHandler(args ...string) *Handler { return &Handler{Server: New(func(any) {}, args...)} }

// Expire ends all sessions: the next request in one gets a 404.
func (h *Handler) Expire() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.session++
}

// Requests returns the requests so far, without their bodies.
func (h *Handler) Requests() []*http.Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]*http.Request(nil), h.requests...)
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	h.mu.Lock()
	h.requests = append(h.requests, r)
	session := fmt.Sprint("s", h.session)
	intercept := h.Intercept
	h.mu.Unlock()
	if intercept != nil && intercept(w, r, body) {
		return
	}
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	if have := r.Header.Get("Mcp-Session-Id"); have != "" && have != session {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`) // ok: a client that is gone needs nothing
		return
	}
	w.Header().Set("Mcp-Session-Id", session)
	answer := h.Server.Answer(body)
	if answer == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(answer) // ok: a client that is gone needs nothing
}
