package modeltest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

func roundTrip(ctx context.Context, t *testing.T, h http.HandlerFunc) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, "POST", "http://server/path?q=1", strings.NewReader("asked"))
	if err != nil {
		t.Fatal(err)
	}
	return Transport(h).RoundTrip(req)
}

func TestTransport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		more := make(chan bool)
		res, err := roundTrip(t.Context(), t, func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			w.Header().Set("X-Asked", string(b)+r.RequestURI)
			w.WriteHeader(201)
			io.WriteString(w, "one")
			<-more
			io.WriteString(w, "two")
		})
		if err != nil || res.StatusCode != 201 || res.Header.Get("X-Asked") != "asked/path?q=1" {
			t.Fatalf("got %v, %v", res, err)
		}
		first := make([]byte, 3)
		if _, err := io.ReadFull(res.Body, first); err != nil || string(first) != "one" {
			t.Errorf("read %q, %v before the handler is done", first, err)
		}
		close(more)
		rest, err := io.ReadAll(res.Body)
		if err != nil || string(rest) != "two" {
			t.Errorf("read %q, %v", rest, err)
		}
	})
}

func TestTransportEnds(t *testing.T) {
	wait := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(200)
		<-r.Context().Done()
	}
	synctest.Test(t, func(t *testing.T) { // closing the body ends the handler, or this would not return
		res, err := roundTrip(t.Context(), t, wait)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
	})
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("esc")
		ctx, cancel := context.WithCancelCause(t.Context())
		res, err := roundTrip(ctx, t, wait)
		if err != nil {
			t.Fatal(err)
		}
		cancel(why)
		if _, err := io.ReadAll(res.Body); err != why {
			t.Errorf("reading ends with %v", err)
		}
		if _, err := roundTrip(ctx, t, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }); err != why {
			t.Errorf("asking ends with %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		res, err := roundTrip(t.Context(), t, func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "half")
			panic(http.ErrAbortHandler)
		})
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(res.Body); string(b) != "half" || err != io.ErrUnexpectedEOF {
			t.Errorf("read %q, %v", b, err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		res, err := roundTrip(t.Context(), t, func(http.ResponseWriter, *http.Request) {})
		if err != nil || res.StatusCode != 200 {
			t.Fatalf("got %v, %v", res, err)
		}
		if b, err := io.ReadAll(res.Body); len(b) > 0 || err != nil {
			t.Errorf("read %q, %v", b, err)
		}
	})
}
