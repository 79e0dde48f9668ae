package modeltest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// errors covers every kind of error that a server can report.
func (s suite) errors(t *testing.T) {
	for kind := model.RateLimited; kind <= model.Invalid; kind++ {
		if slices.Contains(s.Cannot, kind.String()) {
			continue
		}
		t.Run(kind.String(), func(t *testing.T) {
			status, body := s.EncodeError(kind, "")
			h := func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Request-Id", "req_1")
				w.WriteHeader(status)
				w.Write(body)
			}
			s.bubble(t, h, func(t *testing.T, p model.Provider) {
				for _, noStream := range []bool{false, true} {
					req := ask("go")
					req.NoStream = noStream
					_, err := collect(t, t.Context(), p, req)
					var e *model.Error
					if !errors.As(err, &e) || e.Kind != kind || e.Status != status || e.RequestID != "req_1" || e.Message == "" {
						t.Fatalf("error %#v, want kind %v, the status, a message and the request id", err, kind)
					}
					if kind == model.OverWindow && (e.Window == 0 || e.Input+e.Output <= e.Window) {
						t.Errorf("numbers %d + %d > %d", e.Input, e.Output, e.Window)
					}
				}
			})
		})
	}
}

// proxyErrors covers errors that are not the server's own and come as an HTML page.
func (s suite) proxyErrors(t *testing.T) {
	for status, want := range map[int]model.Kind{
		401: model.Auth, 403: model.Refused, 408: model.ServerFault, 409: model.ServerFault, 413: model.TooLong,
		429: model.RateLimited, 500: model.ServerFault, 502: model.ServerFault, 503: model.ServerFault,
	} {
		h := func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			io.WriteString(w, "<html><body>Proxy</body></html>")
		}
		s.bubble(t, h, func(t *testing.T, p model.Provider) {
			_, err := collect(t, t.Context(), p, ask("go"))
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != want || e.Status != status || e.Message != "" {
				t.Errorf("status %d: error %#v, want kind %v without the page", status, err, want)
			}
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

// broken covers incomplete answers.
func (s suite) broken(t *testing.T) {
	for name, c := range map[string]struct {
		h    http.HandlerFunc
		says string
	}{
		"cut":     {func(w http.ResponseWriter, r *http.Request) { s.half(w) }, "before its end"},
		"reset":   {func(w http.ResponseWriter, r *http.Request) { s.half(w); panic(http.ErrAbortHandler) }, "connection"},
		"garbled": {func(w http.ResponseWriter, r *http.Request) { w.Write(s.half(w).Garble()) }, ""},
		"error":   {func(w http.ResponseWriter, r *http.Request) { w.Write(s.half(w).Fail(model.Overloaded, "No room")) }, "No room"},
		"page":    {func(w http.ResponseWriter, r *http.Request) { begin(w, "text/html"); io.WriteString(w, "<html>") }, "web page"},
		"empty":   {func(w http.ResponseWriter, r *http.Request) { begin(w, wire.MediaType(s.Server)) }, "no event stream"},
		"long line": {func(w http.ResponseWriter, r *http.Request) {
			s.half(w)
			io.WriteString(w, "data: "+strings.Repeat("x", 17<<20))
		}, "16 MB"},
	} {
		t.Run(name, func(t *testing.T) {
			s.bubble(t, c.h, func(t *testing.T, p model.Provider) {
				_, err := collect(t, t.Context(), p, ask("go"))
				if model.KindOf(err) != model.Broken || !strings.Contains(err.Error(), c.says) {
					t.Errorf("error %v, want a broken stream that says %q", err, c.says)
				}
				saidOnce(t, err)
			})
		})
	}
	t.Run("something else", func(t *testing.T) {
		h := func(w http.ResponseWriter, r *http.Request) {
			begin(w, "application/json")
			io.WriteString(w, `{"ok":true}`)
		}
		s.bubble(t, h, func(t *testing.T, p model.Provider) {
			_, err := collect(t, t.Context(), p, ask("go"))
			if model.KindOf(err) != model.Broken {
				t.Errorf("error %v, want a broken answer", err)
			}
			saidOnce(t, err)
		})
	})
	t.Run("error before content", func(t *testing.T) {
		h := func(w http.ResponseWriter, r *http.Request) {
			begin(w, wire.MediaType(s.Server))
			sp := s.NewResponseEncoder(true)
			w.Write(open(sp))
			w.Write(sp.Fail(model.Overloaded, ""))
		}
		s.bubble(t, h, func(t *testing.T, p model.Provider) {
			got, err := collect(t, t.Context(), p, ask("go"))
			if model.KindOf(err) != model.Overloaded || got.Start.ID != "" {
				t.Errorf("error %v after %v, want overload before the first event", err, got.Start)
			}
		})
	})
}

// saidOnce fails if the user reads the same advice twice.
func saidOnce(t *testing.T, err error) {
	t.Helper()
	text := strings.ToLower(model.Explain(err, "model-1", true))
	for _, words := range []string{"base url", "proxy", "send it again"} {
		if strings.Count(text, words) > 1 && !strings.Contains(text, "https_proxy") {
			t.Errorf("repeated: %s", text)
		}
	}
}

// quirks covers different encodings of the same event stream.
func (s suite) quirks(t *testing.T) {
	if _, framed := s.Server.(wire.FramedDialect); framed {
		return // only one encoding exists
	}
	sp := s.NewResponseEncoder(true)
	stream := string(slices.Concat(open(sp), sp.Event(model.TextDelta{Text: "Hel"}), sp.Event(model.TextDelta{Text: "lo"}),
		sp.Event(model.BlockDone{Part: &msg.Text{Text: "Hello"}}), sp.Close(model.StopEnd, wire.Counts{wire.InputTokens: 10, wire.OutputTokens: 5})))
	plain := strings.ReplaceAll(stream, "\r\n", "\n")
	for name, pieces := range map[string][]string{
		"line feeds":            {plain},
		"carriage returns":      {strings.ReplaceAll(plain, "\n", "\r")},
		"both":                  {strings.ReplaceAll(plain, "\n", "\r\n")},
		"comments":              {": first\n\n", strings.ReplaceAll(plain, "\n\n", "\n: more\n\n: again\n\n")},
		"no blank":              {strings.ReplaceAll(plain, "data: ", "data:")},
		"other fields":          {strings.ReplaceAll(plain, "data: ", "id: 7\nretry: 10\nweather\ndata: ")},
		"byte order mark":       {"\ufeff" + plain},
		"blank lines":           {"\n\n\n" + strings.ReplaceAll(plain, "\n\n", "\n\n\n\n")},
		"no blank line at last": {strings.TrimRight(plain, "\n")},
		"byte by byte":          strings.Split(stream, ""),
	} {
		t.Run(name, func(t *testing.T) {
			h := func(w http.ResponseWriter, r *http.Request) {
				begin(w, "text/event-stream")
				for _, piece := range pieces {
					io.WriteString(w, piece) // ok: an error shows on the other side
				}
			}
			s.bubble(t, h, func(t *testing.T, p model.Provider) {
				got, err := collect(t, t.Context(), p, ask("go"))
				if err != nil || got.Message.Text() != "Hello" || got.Stop != model.StopEnd || got.Usage != (msg.Usage{Input: 10, Output: 5}) {
					t.Errorf("reply %+v, error %v", got, err)
				}
			})
		})
	}
}

// stalled checks that requests to a silent server time out, before and during its answer.
func (s suite) stalled(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"before the answer": func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"in the answer": func(w http.ResponseWriter, r *http.Request) {
			s.half(w)
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

// cancel checks that a done context ends the answer immediately, closes the connection, and is
// the error.
func (s suite) cancel(t *testing.T) {
	hungUp := make(chan time.Time, 1)
	h := func(w http.ResponseWriter, r *http.Request) {
		s.half(w)
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
			t.Errorf("usage %+v, want an estimate", got.Usage)
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

// breakOff checks that a caller that breaks off anywhere closes the connection.
func (s suite) breakOff(t *testing.T) {
	for leave := range 3 {
		hungUp := make(chan struct{}, 1)
		h := func(w http.ResponseWriter, r *http.Request) {
			w.Write(s.half(w).Event(model.TextDelta{Text: "more"}))
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
