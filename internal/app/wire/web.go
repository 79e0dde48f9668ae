package wire

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"adze/internal/agent/aside"
	"adze/internal/app/providers"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/platform/contacts"
	"adze/internal/platform/transport"
	"adze/internal/platform/web"
	"adze/internal/tools/webfetch"
)

// webFetch returns how pages are fetched in a workspace. Nothing is read for it before the first page is fetched.
func webFetch(w *Workspace) webfetch.Config {
	v := w.values().Web
	hosts, err := web.ParseHosts(v.PrivateHosts)
	if err != nil {
		w.Say("webFetch.allowedPrivateHosts: " + err.Error())
	}
	network := func() transport.Config { return plainNetwork(w, contacts.Web) }
	proxies := sync.OnceValues(func() (func(*http.Request) (*url.URL, error), error) { return network().Proxies() })
	f := webfetch.Config{
		Client: web.New(web.Config{
			Hosts: hosts, Agent: fmt.Sprintf("adze/%s (coding agent; fetches pages for its user)", w.Version), Resolve: resolver(w.Getenv),
			Roots: func() (*x509.CertPool, error) { return network().Roots() },
			Proxy: func(r *http.Request) (*url.URL, error) {
				find, err := proxies()
				if err != nil {
					return nil, err
				}
				return find(r)
			},
		}),
		Offline: v.Offline, DomainCheck: v.DomainCheck,
	}
	if v.DomainCheck != "" {
		f.Transport = transport.New(network())
	}
	return f
}

// webFetch sets how pages are fetched in the conversation: files are kept with its results, and its small model
// answers.
func (d *toolDeps) webFetch(c *Conversation) {
	d.web = webFetch(c.ws)
	d.web.Denied = func(host string) bool { return c.Gate.Policy().Host(host) == permission.Deny }
	if log := c.record.Log; log != nil {
		d.web.Save = func(name, ext string, r io.Reader) (string, error) {
			path, _, err := log.SaveResult(name, ext, r)
			return path, err
		}
	}
	if c.model.Backend != nil {
		d.web.Ask = pageAsker(c)
	}
}

// Bounds of the answer to a question about a page.
const (
	pageTokens  = 8000
	pageTimeout = 2 * time.Minute
)

// pageAsker returns what asks the small model about the text of a page, which cannot end its quotation.
func pageAsker(c *Conversation) func(ctx context.Context, system, text, prompt string) (string, error) {
	return func(ctx context.Context, system, text, prompt string) (string, error) {
		answer, err := c.window.small.Ask(ctx, aside.Question{
			Purpose: "web pages", System: []msg.Part{&msg.Text{Text: system}}, MaxTokens: pageTokens, Timeout: pageTimeout, Awaited: true,
			Messages: []msg.Message{msg.UserText(aside.NewSeal().Quote("page", text) + "\n\n" + prompt)},
		})
		if err != nil {
			return "", err
		}
		return answer.Words()
	}
}

// plainNetwork returns how servers that are no providers are reached: with the user's proxies and certificates to trust, and
// without a certificate that says who the user is.
func plainNetwork(w *Workspace, purpose string) transport.Config {
	n, err := providers.Network(w.Project.Settings(), w.Say)
	if err != nil {
		w.Say(err.Error())
	}
	n.Getenv, n.Certificate, n.For = w.Getenv, nil, purpose
	return n
}
