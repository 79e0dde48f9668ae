package agent_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/agent"
	"adze/internal/model"
	"adze/internal/model/messages"
	"adze/internal/model/retry"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// newRetrying returns a bench whose provider retries without jitter.
func newRetrying(t testing.TB, script string, max int) *bench {
	b := newBench(t, script)
	b.Provider = retry.New(b.Provider, retry.Config{Max: max, Jitter: func() float64 { return 0 }})
	return b
}

// overHTTP returns a provider that runs the bench's script over in-memory connections.
func overHTTP(t testing.TB, b *bench) model.Provider {
	l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: b.player.Handler()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		server.Serve(l)
	}()
	t.Cleanup(func() {
		server.Close()
		<-done
	})
	p, err := wire.New(wire.Service{
		Dialect: messages.Server{}, Address: "http://127.0.0.1", KeyHeader: "Authorization", Header: http.Header{"Anthropic-Version": {"2023-06-01"}},
	}, wire.Config{AuthToken: "key", Transport: &http.Transport{DialContext: l.dial, DisableKeepAlives: true}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// pipes is an in-memory listener.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *pipes) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	l.conns <- server
	return client, nil
}

func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipes) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// waits returns how long the turn waited before each attempt, marking attempts without
// streaming.
func waits(events []agent.Event) (all []string) {
	for _, e := range events {
		if r, ok := e.(agent.Retrying); ok {
			text := fmt.Sprint(r.After)
			if r.Whole {
				text += " whole"
			}
			all = append(all, text)
		}
	}
	return all
}

// TestBrokenAnswersBackOff checks that an answer that breaks off, in any way and any dialect,
// is requested again by the retry rules: after a pause, alternating between streamed and whole.
//
// Proves LOOP-19, PROV-50.
func TestBrokenAnswersBackOff(t *testing.T) {
	for _, dialect := range []string{"", "dialect chat\n", "dialect responses\n", "dialect gemini\n"} {
		for name, fault := range map[string]string{
			"cut": "say Half\ncut", "cut at once": "cut", "garbled": "say Half\ngarble", "reset": "say Half\nreset", "empty": "status 200",
			"failed inside": "say Half\nerror-event overloaded",
		} {
			t.Run(strings.TrimSpace(dialect)+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					stream, whole := "expect stream\n"+fault+"\n---\n", "expect nostream\n"+fault+"\n---\n"
					if name == "failed inside" || name == "reset" { // whole answers can't fail this way; it is a different error
						whole = "expect nostream\ncut\n---\n"
					}
					b := newRetrying(t, dialect+stream+stream+whole+stream+whole+"expect stream\nsay Whole.", 0)
					began := time.Now()
					events := b.run(ctx())
					if got := reason(events); got != agent.Completed {
						t.Errorf("ended with %s: %v", got, failures(events))
					}
					if diff := cmp.Diff([]string{"500ms", "1s whole", "2s", "4s whole", "8s"}, waits(events)); diff != "" {
						t.Error(diff)
					}
					if took := time.Since(began); took != 15500*time.Millisecond {
						t.Errorf("took %v", took)
					}
					if h := b.history.String(); strings.Contains(h, "Half") || !strings.Contains(h, "Whole.") {
						t.Errorf("history:\n%s", h)
					}
					b.played()
				})
			})
		}
	}
}

// TestBrokenAnswersAreGivenUp checks that an answer that always breaks off is given up after as
// many attempts as a failing connection, and an answer that stalls, or that the server ended on
// purpose, after three. Without retries, nothing waits.
//
// Proves LOOP-19, PROV-21, PROV-50.
func TestBrokenAnswersAreGivenUp(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		max          int
		waits        []string
		took         time.Duration
	}{
		{"cut", "forever\nsay Half\ncut", 0, []string{"500ms", "1s whole", "2s", "4s whole", "8s", "16s whole", "32s", "32s whole", "32s", "32s whole"}, 159500 * time.Millisecond},
		{"cut, few retries", "forever\nsay Half\ncut", 4, []string{"500ms", "1s whole", "2s", "4s whole"}, 7500 * time.Millisecond},
		{"cut, one retry", "forever\nsay Half\ncut", 1, []string{"500ms", "1s whole"}, 1500 * time.Millisecond},
		{"cut, no retries", "forever\nsay Half\ncut", -1, nil, 0},
		{"stalled", "forever\nsay Half\nhang", 0, []string{"500ms", "1s whole"}, 90*time.Second + 90*time.Second + 5*time.Minute + 1500*time.Millisecond},
		{"no answer", "forever\nhang", 0, []string{"500ms", "1s whole"}, 90*time.Second + 90*time.Second + 5*time.Minute + 1500*time.Millisecond},
		{"a web page", "forever\nhtml", 0, []string{"500ms", "1s whole"}, 1500 * time.Millisecond},
		{"connection and cut", "repeat 2\nerror network\n---\nsay Half\ncut\n---\nrepeat 2\nerror network\n---\nforever\nsay Half\ncut", 6,
			[]string{"500ms", "1s", "2s", "500ms", "1s", "16s whole"}, 21 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newRetrying(t, tt.script, tt.max)
				if tt.name != "connection and cut" { // the script's own provider breaks connections
					b.Provider = retry.New(overHTTP(t, b), retry.Config{Max: tt.max, Jitter: func() float64 { return 0 }})
				}
				began := time.Now()
				events := b.run(ctx())
				if got := reason(events); got != agent.ModelError || len(failures(events)) != 1 || model.KindOf(failures(events)[0]) != model.Broken {
					t.Errorf("ended with %s: %v", got, failures(events))
				}
				if diff := cmp.Diff(tt.waits, waits(events)); diff != "" {
					t.Error(diff)
				}
				if took := time.Since(began); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
			})
		})
	}
}

// TestAbortBetweenBrokenAnswers checks that an abort ends the wait for the next attempt
// immediately.
//
// Proves LOOP-40, PROV-50.
func TestAbortBetweenBrokenAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newRetrying(t, "forever\nsay Half\ncut", 0)
		turn, cancel := context.WithCancel(ctx())
		time.AfterFunc(20*time.Second, cancel)
		began := time.Now()
		events := b.run(turn)
		if got, took := reason(events), time.Since(began); got != agent.AbortedStreaming || took != 20*time.Second {
			t.Errorf("ended with %s after %v", got, took)
		}
	})
}

// spending is a meter whose budget is exhausted after limit answers.
type spending struct{ answers, limit int }

func (s *spending) Book(string, msg.Usage, time.Duration, time.Duration) { s.answers++ }
func (s *spending) Exhausted(float64) (float64, bool)                    { return 1, s.answers >= s.limit }

// TestBrokenAnswersWithinTheBudget checks that the budget also covers answers that break off,
// since they are paid for.
//
// Proves SESS-43.
func TestBrokenAnswersWithinTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newRetrying(t, "forever\nsay Half\ncut", 0)
		meter := &spending{limit: 4}
		b.Meter, b.MaxBudgetUSD = meter, 1
		if got := reason(b.run(ctx())); got != agent.BudgetExhausted || meter.answers != 4 {
			t.Errorf("ended with %s after %d answers", got, meter.answers)
		}
	})
}
