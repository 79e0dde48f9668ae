package wire_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"adze/internal/model"
	"adze/internal/model/modeltest"
	"adze/internal/model/wire"
)

// tickets is an authorizer that numbers its credentials.
type tickets struct {
	made, asked int
	fails       error
	final       bool // credentials can't be renewed
}

func (a *tickets) Authorize(req *http.Request, body wire.Body) error {
	a.made++
	req.Header.Set("Authorization", fmt.Sprintf("ticket-number-%d of %d bytes", a.made, body.Len()))
	return a.fails
}

func (a *tickets) Renew(req *http.Request, e *model.Error, answer http.Header) bool {
	a.asked++
	return !a.final && e.Status >= 400 && answer.Get("Date") == "today" && req.Header.Get("Authorization") != ""
}

func (a *tickets) Secrets() []string { return []string{"ticket-number-1", "ticket-number-2"} }

// Proves PROV-53.
func TestAuthorizer(t *testing.T) {
	for name, c := range map[string]struct {
		a        tickets
		statuses []int // first response statuses; later ones succeed
		tries    int
		renewals int
		kind     model.Kind // Unknown on success
	}{
		"accepted":               {tries: 1},
		"renewed after 401":      {statuses: []int{401}, tries: 2, renewals: 1},
		"renewed after 403":      {statuses: []int{403}, tries: 2, renewals: 1},
		"renewed once":           {statuses: []int{401, 401, 401}, tries: 2, renewals: 1, kind: model.Auth},
		"not to be renewed":      {a: tickets{final: true}, statuses: []int{401}, tries: 1, renewals: 1, kind: model.Auth},
		"not after other errors": {statuses: []int{500}, tries: 1, kind: model.ServerFault},
		"without a proof":        {a: tickets{fails: errors.New("no ticket-number-1")}, kind: model.Auth},
		"with its own error":     {a: tickets{fails: &model.Error{Kind: model.Network, Message: "no way"}}, kind: model.Network},
	} {
		t.Run(name, func(t *testing.T) {
			tries := 0
			h := func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				tries++
				proof := r.Header.Get("Authorization")
				if want := fmt.Sprintf("ticket-number-%d of %d bytes", tries, len(body)); proof != want {
					t.Errorf("proof %q, want %q", proof, want)
				}
				if tries <= len(c.statuses) {
					w.Header().Set("Date", "today")
					w.WriteHeader(c.statuses[tries-1])
					fmt.Fprintf(w, "%s is not good; nor is custom-header-secret", proof)
					return
				}
				answering(w, r)
			}
			conf := wire.Config{Version: "1", Transport: modeltest.Transport(http.HandlerFunc(h)), Headers: http.Header{"Cookie": {"custom-header-secret"}}}
			s := service
			s.NewAuthorizer = func(got wire.Config) (wire.Authorizer, error) {
				if got.AuthTransport == nil || got.AuthTransport == conf.Transport {
					t.Error("the authorizer's requests would be recorded")
				}
				return &c.a, nil
			}
			p, err := wire.New(s, conf)
			if err != nil {
				t.Fatal(err)
			}
			_, err = text(t.Context(), p, ask())
			if model.KindOf(err) != c.kind || err != nil && (strings.Contains(err.Error(), "ticket-number") || strings.Contains(err.Error(), "custom-header")) {
				t.Errorf("error %v, want kind %v without a secret", err, c.kind)
			}
			if tries != c.tries || c.a.asked != c.renewals {
				t.Errorf("%d tries and %d renewals, want %d and %d", tries, c.a.asked, c.tries, c.renewals)
			}
		})
	}
	s := service
	s.NewAuthorizer = func(wire.Config) (wire.Authorizer, error) { return nil, errors.New("no region") }
	if _, err := wire.New(s, wire.Config{}); err == nil || err.Error() != "no region" {
		t.Errorf("error %v", err)
	}
}

// TestBaseQuery checks that a base URL's query is kept.
func TestBaseQuery(t *testing.T) {
	c := config()
	c.BaseURL = "https://gateway.example/models?api-version=7"
	got := ""
	c.Transport = modeltest.Transport(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.URL.String()
		answering(w, r)
	}))
	p, err := wire.New(service, c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := text(t.Context(), p, ask()); err != nil || got != "https://gateway.example/models/v1/messages?api-version=7" {
		t.Errorf("posted to %s, error %v", got, err)
	}
}

// TestRefresh checks that one run of the command renews the credentials of all waiting
// requests, and that it is not run again soon.
func TestRefresh(t *testing.T) {
	ran, begun := 0, make(chan struct{})
	problem := errors.New("expired; sign in")
	waiting := make(chan error, 1)
	r := &wire.Refresh{Setting: "refresh", Command: "sign in"}
	r.Run = func(ctx context.Context, _ string) error {
		ran++
		go func() {
			close(begun)
			waiting <- r.Mend(ctx, problem)
		}()
		<-begun
		for stacks := make([]byte, 1<<20); !bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte("[sync.Mutex.Lock")); { // wait until the other one blocks
			time.Sleep(time.Millisecond)
		}
		return nil
	}
	if err := r.Mend(t.Context(), problem); err != nil {
		t.Error(err)
	}
	if err := <-waiting; err != nil || ran != 1 {
		t.Errorf("error %v for the waiting request, after %d runs", err, ran)
	}
	if err := r.Mend(t.Context(), problem); err != problem || ran != 1 {
		t.Errorf("error %v after %d runs, want the problem after one", err, ran)
	}
	failing := &wire.Refresh{Setting: "refresh", Command: "sign in", Run: func(context.Context, string) error { return errors.New("no browser") }}
	if err := failing.Mend(t.Context(), problem); err == nil || err.Error() != "refresh: no browser" {
		t.Errorf("error %v", err)
	}
	if err := (*wire.Refresh)(nil).Mend(t.Context(), problem); err != problem {
		t.Errorf("error %v without a command", err)
	}
}
