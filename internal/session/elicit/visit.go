package elicit

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/idna"

	"adze/internal/mcp"
	"adze/internal/session"
	"adze/internal/tool"
)

// maxURL is the maximum length of a URL shown to the user, in bytes.
const maxURL = 4096

// pageOf returns the question whether to open a page. The URL opened is exactly the URL shown:
// printable ASCII, with the host as it is resolved.
func pageOf(e mcp.Elicitation) (session.Visit, error) {
	v := session.Visit{From: e.Server, Message: e.Message, ID: e.ID}
	u, err := url.Parse(e.URL)
	switch {
	case len(e.URL) > maxURL:
		return v, fmt.Errorf("the address of the page is longer than %d bytes", maxURL)
	case err != nil:
		return v, errors.New("the address of the page cannot be read")
	case u.Opaque != "" || u.Hostname() == "":
		return v, errors.New("the address of the page names no host")
	case u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())):
		return v, errors.New("the page is neither at https nor on this machine")
	case u.User != nil:
		return v, errors.New("the address of the page contains a user name")
	}
	host, err := idna.ToASCII(u.Host)
	if err != nil || escaped(host) != host {
		return v, errors.New("the host of the page is not a name")
	}
	u.Host = host
	v.URL, v.Host = escaped(u.String()), host
	return v, nil
}

func loopback(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.IsLoopback()
	}
	return strings.EqualFold(host, "localhost")
}

// escaped percent-encodes everything except printable ASCII.
func escaped(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte("\"'<>\\^`{|}", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// errComplete ends the wait for a completed visit.
const errComplete tool.Withdrawal = "the server reports that the page is complete"

// patience is how long to wait for the server before retrying a call, if a host has opened the
// page.
const patience = 10 * time.Second

// visit asks the user to open a page. If the server waits for the user to finish there, visit
// also waits, until the server or the user reports completion. If a host opened the page
// itself, the user is not prompted again.
func (a *Asker) visit(ctx context.Context, v session.Visit, e mcp.Elicitation) (session.Action, error) {
	complete := a.begin(page{v.From, v.ID})
	r, err := a.cfg.Ask(ctx, v)
	if err != nil {
		return session.Cancel, err
	}
	visited := r.(session.Visited)
	if visited.Action != session.Accept {
		return visited.Action, nil
	}
	if visited.Open {
		if err := a.cfg.Open(v.URL); err != nil {
			a.cfg.Say(fmt.Sprintf("the browser could not be opened (%v); open the page yourself: %s", err, v.URL))
		}
	}
	if !e.Await {
		return session.Accept, nil
	}
	if !visited.Open {
		t := time.NewTimer(patience)
		defer t.Stop()
		select {
		case <-complete:
		case <-t.C:
		case <-ctx.Done():
			return session.Cancel, context.Cause(ctx)
		}
		return session.Accept, nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-complete:
			cancel(errComplete)
		case <-ctx.Done():
		}
	}()
	v.Opened = true
	r, err = a.cfg.Ask(ctx, v)
	switch {
	case errors.Is(context.Cause(ctx), errComplete):
		return session.Accept, nil
	case err != nil:
		return session.Cancel, err
	}
	return r.(session.Visited).Action, nil
}

// A page identifies a page that a server asks the user to visit.
type page struct{ server, id string }

// maxPages is the maximum number of pages remembered.
const maxPages = 100

// begin registers a visit and returns a channel that receives a value when the visit is
// complete.
func (a *Asker) begin(p page) <-chan bool {
	done := make(chan bool, 1)
	if p.id == "" {
		return done
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.pages) >= maxPages { // servers may never report completion
		clear(a.pages)
	}
	a.pages[p] = done
	return done
}

// completed handles the completion of a registered visit.
func (a *Asker) completed(e mcp.Elicitation) {
	p := page{e.Server, e.ID}
	a.mu.Lock()
	done, tell := a.pages[p], a.complete
	delete(a.pages, p)
	a.mu.Unlock()
	if done == nil {
		return
	}
	done <- true
	if tell != nil {
		tell(p.server, p.id)
	}
}

// OnComplete sets a function to call when a server reports that a requested visit is complete.
func (a *Asker) OnComplete(tell func(server, id string)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.complete = tell
}
