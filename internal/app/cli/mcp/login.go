package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"adze/internal/mcp/roster"
	"adze/internal/mcp/signin"
	"adze/internal/ui/console"
)

// login signs the user in to a server.
func login(ctx context.Context, t *Task) error {
	r, err := t.load()
	if err != nil {
		return err
	}
	e, err := find(r, t.Args[0])
	if err != nil {
		return err
	}
	f, done, err := t.Open([]*roster.Entry{e}, false)
	if err != nil {
		return err
	}
	defer done()
	return f.SignIn(ctx, e.Name, t.Console)
}

// logout deletes the token of a server, which need not be configured anymore.
func logout(ctx context.Context, t *Task) error {
	r, err := t.load()
	if err != nil {
		return err
	}
	f, done, err := t.Open(r.Entries, false)
	if err != nil {
		return err
	}
	defer done()
	name := t.Args[0]
	switch err := f.SignOut(ctx, name); {
	case errors.Is(err, signin.ErrNotSignedIn):
		return fmt.Errorf("not signed in to server %s; run adze auth status to list your sign-ins", roster.Shown(name))
	case err != nil:
		return err
	}
	return t.Print("Signed out of " + roster.Shown(name) + ".\n")
}

// tokenStored reports whether a token is stored for a server, if that can be determined.
func (t *Task) tokenStored(server string) bool {
	stored, err := signin.New(signin.Config{Home: t.Project.Home}).Stored(server)
	return err == nil && stored
}

// aside returns a console that writes messages through Say, reserving standard output for the
// result.
func (t *Task) aside() *console.Console {
	c := *t.Console
	c.Stdout = sayWriter(t.Say)
	return &c
}

// A sayWriter passes text written to it to the user.
type sayWriter func(string)

// Write implements [io.Writer].
func (s sayWriter) Write(p []byte) (int, error) {
	s(strings.TrimSpace(string(p)))
	return len(p), nil
}
