package mcp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/internal/mcp"
	"adze/internal/mcp/roster"
	"adze/internal/mcp/signin/signintest"
	"adze/internal/platform/net/transport"
	"adze/internal/settings"
	"adze/internal/tool"
)

// TestSignInFromAConversation checks that a server's placeholder tool exists exactly while a
// sign-in is needed, that the URL stays the same until completion, and that the server is then
// connected and the user notified.
//
// Proves MCP-27.
func TestSignInFromAConversation(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(t.TempDir(), "none")) // no keyring
	vault := signintest.New(false)
	defer vault.Close()
	p := newPlace(t)
	said := make(chan string, 10)
	f, err := Open(Config{
		Project: p.open(settings.Source{}), Environ: os.Environ, Version: "1", Say: func(text string) { said <- text },
		Network: func() transport.Config {
			return transport.Config{RootCAs: vault.PEM(), Getenv: func(string) string { return "" }}
		},
		Flags: Flags{Loaded: &roster.Roster{Entries: []*roster.Entry{
			{Name: "vault", Type: roster.HTTP, URL: vault.Address()},
			{Name: "theirs", Type: roster.HTTP, URL: vault.Address() + "2", Unapproved: true},
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var s signInTools
	base := []tool.Tool{}
	if got := s.with(f, base); len(got) != 0 {
		t.Errorf("%d tools before anything is known", len(got))
	}
	f.Start()
	f.Wait(t.Context())
	hear := func(want string) {
		t.Helper()
		select {
		case text := <-said:
			if !strings.Contains(text, want) {
				t.Errorf("said %q", text)
			}
		case <-time.After(time.Minute):
			t.Fatalf("no message about %s", want)
		}
	}
	hear("adze mcp login vault")
	await := func(n int) []tool.Tool {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			if got := s.with(f, base); len(got) == n || time.Now().After(end) {
				return got
			}
		}
	}
	got := await(1)
	if len(got) != 1 || got[0].Spec().Name != "mcp__vault__authenticate" || !same(got, s.with(f, base)) {
		t.Fatalf("the tools are %v", got)
	}
	address, err := f.BeginSignIn(t.Context(), "vault", false)
	if err != nil {
		t.Fatal(err)
	}
	hear(address)
	again, err := f.BeginSignIn(t.Context(), "vault", false)
	if err != nil || again != address {
		t.Errorf("another address: %s, %v", again, err)
	}
	hear(address)
	if err := vault.Consent(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	hear("you are signed in to vault")
	if got := s.with(f, base); len(got) != 0 { // immediately, because the user may use it now
		t.Errorf("still there: %v", got)
	}
	if state := f.List()[0].State; state != mcp.Connected {
		t.Errorf("it is %s", state)
	}
	for name, want := range map[string]string{"theirs": "not approved", "none": "no server"} {
		if _, err := f.BeginSignIn(t.Context(), name, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A sign-in in progress ends with the servers.
	if _, err := f.BeginSignIn(t.Context(), "vault", false); err != nil {
		t.Error(err)
	}
}

// TestOpens checks that a browser is opened if available: the user's choice, or a local
// desktop's.
func TestOpens(t *testing.T) {
	for _, tt := range []struct {
		env  map[string]string
		want bool
	}{
		{map[string]string{}, !unixDesktop},
		{map[string]string{"DISPLAY": ":0"}, true},
		{map[string]string{"WAYLAND_DISPLAY": "wayland-0"}, true},
		{map[string]string{"DISPLAY": ":0", "SSH_CONNECTION": "x"}, false},
		{map[string]string{"SSH_CONNECTION": "x", "BROWSER": "w3m"}, true},
	} {
		d := logins{getenv: func(name string) string { return tt.env[name] }}
		if got := d.opens(); got != tt.want {
			t.Errorf("%v: %v", tt.env, got)
		}
	}
}
