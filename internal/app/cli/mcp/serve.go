package mcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"strings"

	"adze/internal/app/wire"
	"adze/internal/mcp/serve"
	"adze/internal/platform/fs/fsys"
	"adze/internal/setup"
	"adze/internal/ui/console"
)

// maxToken is the maximum size of a token file, in bytes.
const maxToken = 4096

// Options are the flags of adze mcp serve.
type ServeOptions struct {
	HTTP string // address; empty means standard streams
	// TokenFile holds the bearer token of clients. It is not a flag because command lines are
	// visible to others.
	TokenFile string
	Access    wire.AccessSpec
	Session   wire.SessionSpec
}

// instructions is the text for the clients' models.
const instructions = "Tools of adze, which work in %s under the permission rules of its user: calls that need approval are refused, " +
	"with the rule that would allow it. Read a file before you change it."

// token checks the flags and returns the bearer token required of clients.
func (o *ServeOptions) token() (string, error) {
	if o.HTTP == "" {
		if o.TokenFile != "" {
			return "", setup.Errorf("--token-file is for --http: standard streams need none")
		}
		return "", nil
	}
	var token string
	if o.TokenFile != "" {
		data, err := fsys.ReadSmall(o.TokenFile, maxToken)
		if err != nil {
			return "", setup.Errorf("--token-file: %v", err)
		}
		if token = strings.TrimSpace(string(data)); token == "" {
			return "", setup.Errorf("--token-file: %s holds no token", o.TokenFile)
		}
	}
	if err := serve.CheckAddress(o.HTTP, token); err != nil {
		return "", setup.Errorf("--http: %v", err)
	}
	return cmp.Or(token, rand.Text()), nil
}

// Run serves clients until the input ends or ctx is done.
func Serve(ctx context.Context, c *console.Console, w *wire.Workspace, o ServeOptions) error {
	token, err := o.token()
	if err != nil {
		return err
	}
	conv, err := w.Converse(ctx, wire.Spec{Calls: wire.FromClient, Access: o.Access, Session: o.Session})
	if err != nil {
		return err
	}
	defer conv.Close()
	s := serve.New(serve.Config{
		Version: w.Version, Instructions: fmt.Sprintf(instructions, w.Dir),
		Executor: conv.Session.Executor(), Pool: conv.Session.Pool,
	})
	defer s.Close()
	if o.HTTP == "" {
		if c.StdinTerminal {
			c.Say("waiting for a client on standard input; programs start adze mcp serve themselves, ctrl+c ends it")
		}
		return s.Stdio(ctx, c.Stdin, c.Stdout)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", o.HTTP)
	if err != nil {
		return setup.Errorf("--http: %v", err)
	}
	c.Say(fmt.Sprintf("serving %d tools at http://%s%s", s.Tools(), l.Addr(), serve.Path))
	if o.TokenFile == "" {
		c.Say("clients must send: Authorization: Bearer " + token + " (--token-file keeps one across restarts)")
	}
	return s.HTTP(ctx, l, token)
}
