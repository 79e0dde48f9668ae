package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"adze/internal/mcp/signin/signintest"
)

// vaultKey is the key for a scenario's server, a **signintest.Server.
type vaultKey struct{}

// vault is a tool server that requires signing in: vault start starts it at $VAULT, with a
// simulated browser that agrees; vault expire expires its tokens, vault revoke revokes the
// refresh tokens too, and vault scope NAME requires a further scope. vault secrets fails if any
// file of the scenario, other than the token store, contains a token.
func vault(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: vault start|expire|revoke|scope NAME|secrets")
	}
	place := ts.Value(vaultKey{}).(**signintest.Server)
	if args[0] == "start" {
		s := signintest.New(false)
		*place = s
		ts.Defer(func() {
			s.Close()
			if faults := s.Faults(); len(faults) > 0 {
				ts.Fatalf("the vault complains: %q", faults)
			}
		})
		file := ts.MkAbs("vault.pem")
		ts.Check(os.WriteFile(file, s.PEM(), 0o644))
		ts.Setenv("VAULT", s.Address())
		ts.Setenv("ADZE_EXTRA_CA_CERTS", file)
		ts.Setenv("BROWSER", "browse")
		ts.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+ts.MkAbs("none")) // no keyring
		return
	}
	s := *place
	if s == nil {
		ts.Fatalf("start the vault first")
	}
	switch args[0] {
	case "expire", "revoke":
		s.Expire(args[0] == "revoke")
	case "scope":
		s.Change(func(s *signintest.Server) { s.Scope = args[1] })
	case "secrets":
		access, refresh := s.Tokens()
		secrets := append(access, refresh...)
		if len(secrets) == 0 {
			ts.Fatalf("no token")
		}
		kept := 0
		ts.Check(filepath.WalkDir(ts.MkAbs("."), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(path)
			for _, secret := range secrets {
				switch {
				case !strings.Contains(string(data), secret):
				case d.Name() == "credentials.json":
					kept++
				default:
					ts.Fatalf("%s has a token:\n%s", path, data)
				}
			}
			return err
		}))
		if kept != len(secrets) {
			ts.Fatalf("%d of %d tokens are kept", kept, len(secrets))
		}
	default:
		ts.Fatalf("unknown: %s", args[0])
	}
}

// browse simulates the browser of a user who agrees to everything: browse ADDRESS.
func browse() {
	fail := func(err error) {
		fmt.Fprintln(os.Stderr, "browse:", err)
		os.Exit(1)
	}
	data, err := os.ReadFile(os.Getenv("ADZE_EXTRA_CA_CERTS"))
	if err != nil {
		fail(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(data)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	res, err := client.Get(os.Args[len(os.Args)-1])
	if err != nil {
		fail(err)
	}
	defer res.Body.Close()
	io.Copy(os.Stdout, res.Body)
}
