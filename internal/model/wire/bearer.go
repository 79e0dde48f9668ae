package wire

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/model"
)

// A Bearer authorizes requests with expiring tokens. It implements [Authorizer]. Its exported
// fields must not change after first use.
type Bearer struct {
	// Get returns a token and its expiry; the zero time means never.
	Get func(ctx context.Context) (token string, expires time.Time, err error)
	// Refresh, if non-nil, is tried once if no token is available, and once if a token is
	// rejected.
	Refresh *Refresh
	// Header is the header for the token; empty means Authorization, as a bearer token.
	Header string

	mu      sync.Mutex
	token   string
	expires time.Time
	past    []string
}

// early is how long before its expiry a token is replaced.
const early = 2 * time.Minute

// Authorize implements [Authorizer].
func (b *Bearer) Authorize(req *http.Request, _ Body) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.token == "" || !b.expires.IsZero() && time.Until(b.expires) < early {
		if err := b.fetch(req.Context()); err != nil {
			return err
		}
	}
	if b.Header != "" {
		req.Header.Set(b.Header, b.token)
	} else {
		req.Header.Set("Authorization", "Bearer "+b.token)
	}
	return nil
}

func (b *Bearer) fetch(ctx context.Context) error {
	token, expires, err := b.Get(ctx)
	if err != nil && ctx.Err() == nil {
		if err = b.Refresh.Mend(ctx, err); err == nil {
			token, expires, err = b.Get(ctx)
		}
	}
	token = strings.TrimSpace(token)
	switch {
	case err != nil:
		return err
	case token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return fmt.Errorf("the access token is empty or contains blanks or control characters")
	}
	if b.token != "" {
		b.past = append(b.past, b.token)
	}
	b.token, b.expires = token, expires
	return nil
}

// Renew implements [Authorizer]: a token that expires may have been revoked.
func (b *Bearer) Renew(req *http.Request, e *model.Error, _ http.Header) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e.Status != http.StatusUnauthorized || b.expires.IsZero() && !b.Refresh.set() {
		return false
	}
	used := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
	if b.Header != "" {
		used = req.Header.Get(b.Header)
	}
	if used == b.token {
		b.past, b.token = append(b.past, b.token), ""
		if b.Refresh.set() && b.Refresh.Mend(req.Context(), e) != nil {
			return false // the server's own error is more informative
		}
	}
	return true
}

// Secrets implements [Authorizer].
func (b *Bearer) Secrets() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append(slices.Clone(b.past), b.token)
}

// NoAuth is an [Authorizer] that adds nothing, because a gateway has the credentials.
type NoAuth struct{}

// Authorize implements [Authorizer].
func (NoAuth) Authorize(*http.Request, Body) error { return nil }

// Renew implements [Authorizer].
func (NoAuth) Renew(*http.Request, *model.Error, http.Header) bool { return false }

// Secrets implements [Authorizer].
func (NoAuth) Secrets() []string { return nil }

// A Refresh is a user command that renews credentials, for example by signing in.
type Refresh struct {
	// Setting is the name of the setting that contains Command.
	Setting, Command string
	// Run runs a shell command and shows the user its output.
	Run func(ctx context.Context, command string) error
	// Note, if non-nil, is called when the command runs.
	Note func(string)

	mu   sync.Mutex
	last time.Time // time of the last run
	err  error     // result of the last run
}

// set reports whether there is a command.
func (r *Refresh) set() bool { return r != nil && r.Command != "" }

// pause is the minimum interval between runs, since an immediate second run won't help.
const pause = time.Minute

// Mend runs the command and returns its error. If no command is set, or it has just run, it
// returns problem. r may be nil.
func (r *Refresh) Mend(ctx context.Context, problem error) error {
	if !r.set() {
		return problem
	}
	began := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.last.After(began): // run for another request with the same problem
		return r.err
	case !r.last.IsZero() && time.Since(r.last) < pause:
		return problem
	}
	if r.Note != nil {
		why, _, _ := strings.Cut(problem.Error(), "; ") // drops the advice, which is being followed
		r.Note(fmt.Sprintf("%s; running %s: %s", why, r.Setting, r.Command))
	}
	if r.err = r.Run(ctx, r.Command); r.err != nil {
		r.err = fmt.Errorf("%s: %w", r.Setting, r.err)
	}
	r.last = time.Now()
	return r.err
}
