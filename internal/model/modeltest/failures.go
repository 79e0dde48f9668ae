package modeltest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/model"
)

// errors covers every class of error a server can report.
func (s suite) errors(t *testing.T) {
	const invalid = "invalid_request_error"
	for _, c := range []struct {
		name          string
		status        int
		kind, message string
		want          model.Kind
	}{
		{"rate limit", 429, "rate_limit_error", "Slow down", model.RateLimited},
		{"overloaded", 529, "overloaded_error", "Overloaded", model.Overloaded},
		{"server fault", 500, "api_error", "Internal server error", model.ServerFault},
		{"gateway", 502, "", "", model.ServerFault},
		{"timeout", 408, "", "", model.ServerFault},
		{"conflict", 409, "", "", model.ServerFault},
		{"too long", 400, invalid, "prompt is too long: 210000 tokens > 200000 maximum", model.TooLong},
		{"too large", 413, "request_too_large", "Request exceeds the maximum size", model.TooLong},
		{"over the window", 400, invalid, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000", model.OverWindow},
		{"media", 400, invalid, "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum", model.MediaTooLarge},
		{"signature", 400, invalid, "messages.1.content.0: Invalid `signature` in `thinking` block", model.BadSignature},
		{"key", 401, "authentication_error", "invalid x-api-key", model.Auth},
		{"revoked", 403, "permission_error", "Token has been revoked", model.Auth},
		{"credit", 400, invalid, "Your credit balance is too low", model.Quota},
		{"model", 404, "not_found_error", "model: nonesuch", model.NoModel},
		{"policy", 400, invalid, "Output blocked by content filtering policy", model.Refused},
		{"invalid", 400, invalid, "messages: wrong", model.Invalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Request-Id", "req_1")
				w.WriteHeader(c.status)
				if c.kind == "" {
					io.WriteString(w, "<html><body>Proxy</body></html>")
					return
				}
				io.WriteString(w, `{"type":"error","error":{"type":"`+c.kind+`","message":"`+c.message+`"}}`)
			}
			s.bubble(t, h, func(t *testing.T, p model.Provider) {
				for _, noStream := range []bool{false, true} {
					req := ask("go")
					req.NoStream = noStream
					_, err := collect(t, t.Context(), p, req)
					var e *model.Error
					if !errors.As(err, &e) || e.Kind != c.want || e.Status != c.status || e.RequestID != "req_1" || e.Message != c.message {
						t.Errorf("error %#v, want kind %v, the status, the message and the request id", err, c.want)
					}
					if e != nil && e.Kind == model.OverWindow && (e.Input != 190000 || e.Output != 20000 || e.Window != 200000) {
						t.Errorf("numbers %d + %d > %d", e.Input, e.Output, e.Window)
					}
				}
			})
		})
	}
}

func (s suite) retryAfter(t *testing.T) {
	h := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.Header().Set("X-Should-Retry", "true")
		w.WriteHeader(429)
	}
	s.bubble(t, h, func(t *testing.T, p model.Provider) {
		_, err := collect(t, t.Context(), p, ask("go"))
		var e *model.Error
		if !errors.As(err, &e) || !e.HasRetryAfter || e.RetryAfter != 7*time.Second || e.ShouldRetry != 1 {
			t.Errorf("error %#v, want the server's wishes in it", err)
		}
	})
}

// broken covers what is not a whole answer.
func (s suite) broken(t *testing.T) {
	half := func(w http.ResponseWriter) {
		begin(w, "text/event-stream")
		send(w, start(10), text("half"))
	}
	for name, c := range map[string]struct {
		h    http.HandlerFunc
		says string
	}{
		"cut":       {func(w http.ResponseWriter, r *http.Request) { half(w) }, "before its end"},
		"reset":     {func(w http.ResponseWriter, r *http.Request) { half(w); panic(http.ErrAbortHandler) }, "connection"},
		"garbled":   {func(w http.ResponseWriter, r *http.Request) { half(w); send(w, `{"type":`) }, "not JSON"},
		"error":     {func(w http.ResponseWriter, r *http.Request) { half(w); send(w, overloaded) }, "Overloaded"},
		"page":      {func(w http.ResponseWriter, r *http.Request) { begin(w, "text/html"); io.WriteString(w, "<html>") }, "web page"},
		"empty":     {func(w http.ResponseWriter, r *http.Request) { begin(w, "text/event-stream") }, "no event stream"},
		"long line": {func(w http.ResponseWriter, r *http.Request) { half(w); send(w, strings.Repeat("x", 17<<20)) }, "16 MB"},
	} {
		t.Run(name, func(t *testing.T) {
			s.bubble(t, c.h, func(t *testing.T, p model.Provider) {
				_, err := collect(t, t.Context(), p, ask("go"))
				if model.KindOf(err) != model.Broken || !strings.Contains(err.Error(), c.says) {
					t.Errorf("error %v, want a broken stream that says %q", err, c.says)
				}
			})
		})
	}
	t.Run("error before content", func(t *testing.T) {
		s.bubble(t, stream(start(10), overloaded), func(t *testing.T, p model.Provider) {
			got, err := collect(t, t.Context(), p, ask("go"))
			if model.KindOf(err) != model.Overloaded || got.Start.ID != "" {
				t.Errorf("error %v after %v, want overload before the first event", err, got.Start)
			}
		})
	})
}

const overloaded = `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`

// stalled holds that a silent server is given up, before its answer and in it.
func (s suite) stalled(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"before the answer": func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"in the answer": func(w http.ResponseWriter, r *http.Request) {
			begin(w, "text/event-stream")
			send(w, start(10), text("half"))
			<-r.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			s.bubble(t, h, func(t *testing.T, p model.Provider) {
				began := time.Now()
				_, err := collect(t, t.Context(), p, ask("go"))
				if took := time.Since(began); model.KindOf(err) != model.Broken || took != 90*time.Second {
					t.Errorf("error %v after %v, want a broken stream after 90s", err, took)
				}
			})
		})
	}
}

// cancel holds that a done context ends the answer at once, hangs up, and is the error.
func (s suite) cancel(t *testing.T) {
	hungUp := make(chan time.Time, 1)
	h := func(w http.ResponseWriter, r *http.Request) {
		begin(w, "text/event-stream")
		send(w, start(10), text("half"))
		<-r.Context().Done()
		hungUp <- time.Now()
	}
	s.bubble(t, h, func(t *testing.T, p model.Provider) {
		why := errors.New("esc")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		var cancelled time.Time
		time.AfterFunc(time.Second, func() { cancelled = time.Now(); cancel(why) })
		got, err := collect(t, ctx, p, ask("go"))
		if err != why {
			t.Errorf("error %v, want the cause", err)
		}
		if !got.Usage.Estimated {
			t.Errorf("usage %+v, want an estimate of what it cost so far", got.Usage)
		}
		synctest.Wait()
		if took := (<-hungUp).Sub(cancelled); took != 0 {
			t.Errorf("hung up %v later", took)
		}
	})
}

func (s suite) cancelBeforeAnswer(t *testing.T) {
	h := func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	s.bubble(t, h, func(t *testing.T, p model.Provider) {
		for _, noStream := range []bool{false, true} {
			why := errors.New("esc")
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(why) })
			req := ask("go")
			req.NoStream = noStream
			if _, err := collect(t, ctx, p, req); err != why {
				t.Errorf("error %v, want the cause", err)
			}
		}
	})
}

// breakOff holds that a caller who leaves hangs up, wherever that is.
func (s suite) breakOff(t *testing.T) {
	for leave := range 4 {
		hungUp := make(chan struct{}, 1)
		h := func(w http.ResponseWriter, r *http.Request) {
			begin(w, "text/event-stream")
			send(w, start(10), text("a"), delta(0, `{"type":"text_delta","text":"b"}`))
			<-r.Context().Done()
			hungUp <- struct{}{}
		}
		s.bubble(t, h, func(t *testing.T, p model.Provider) {
			n := 0
			for _, err := range p.Stream(t.Context(), ask("go")) {
				if err != nil {
					t.Fatal(err)
				}
				if n++; n > leave {
					break
				}
			}
			synctest.Wait()
			select {
			case <-hungUp:
			default:
				t.Errorf("still connected after leaving at event %d", leave)
			}
		})
	}
}
