package toolbox

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"adze/internal/agent/sidequery"
	"adze/internal/app/models"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/platform/net/contacts"
	"adze/internal/platform/net/transport"
	"adze/internal/platform/net/web"
	"adze/internal/settings"
	"adze/internal/tools/webfetch"
)

// A Place is the workspace from which the web is accessed.
type WebPlace struct {
	Project *settings.Project
	Getenv  func(string) string
	Version string
	Say     func(string)
}

// network returns the transport configuration for web servers.
func (p WebPlace) network() transport.Config {
	return models.PlainNetwork(p.Project.Settings(), p.Getenv, p.Say, contacts.Web)
}

// A Reader is the conversation for which pages are fetched and the web is searched.
type PageReader struct {
	Gate  *permission.Gate
	Model *models.Choice
	// Current returns the name of the model in use, and Small the model for side queries. They
	// are called only once there is a session.
	Current func() string
	Small   func() *sidequery.SmallModel
	// Save stores a file with the conversation's results; may be nil.
	Save func(name, ext string, r io.Reader) (string, error)
}

// Pages returns the fetch configuration of a workspace. Nothing is read before the first page
// is fetched.
func Pages(p WebPlace) webfetch.Config {
	v := p.Project.Values().Web
	hosts, err := web.ParseHosts(v.PrivateHosts)
	if err != nil {
		p.Say("webFetch.allowedPrivateHosts: " + err.Error())
	}
	proxies := sync.OnceValues(func() (func(*http.Request) (*url.URL, error), error) { return p.network().Proxies() })
	f := webfetch.Config{
		Client: web.New(web.Config{
			Hosts: hosts, Agent: fmt.Sprintf("adze/%s (coding agent; fetches pages for its user)", p.Version), Resolve: resolver(p.Getenv),
			Roots: func() (*x509.CertPool, error) { return p.network().Roots() },
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
		f.Transport = transport.New(p.network())
	}
	return f
}

// PagesFor returns the fetch configuration of a conversation: files are stored with its
// results, and its small model answers.
func PagesFor(p WebPlace, r PageReader) webfetch.Config {
	f := Pages(p)
	f.Denied = func(url string) bool { return r.Gate.Policy().Host(url) == permission.Deny }
	f.Save = r.Save
	if r.Model.Backend != nil {
		f.Ask = r.askPage
	}
	return f
}

// Limits of the answer to a question about a page.
const (
	pageTokens  = 8000
	pageTimeout = 2 * time.Minute
)

// askPage asks the small model about a page's text, which cannot escape its quotation.
func (r PageReader) askPage(ctx context.Context, system, text, prompt string) (string, error) {
	answer, err := r.Small().Ask(ctx, sidequery.Question{
		Purpose: "web pages", System: []msg.Part{&msg.Text{Text: system}}, MaxTokens: pageTokens, Timeout: pageTimeout, Interactive: true,
		Messages: []msg.Message{msg.UserText(sidequery.NewNonce().Quote("page", text) + "\n\n" + prompt)},
	})
	if err != nil {
		return "", err
	}
	return answer.Words()
}
