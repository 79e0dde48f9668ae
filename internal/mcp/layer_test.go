package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"adze/internal/mcp/roster"
)

func layerOf(t *testing.T, d *fakeDialer, base, own []*roster.Entry) (below, top *Servers) {
	t.Helper()
	below = New(Config{Dialer: d})
	t.Cleanup(below.Close)
	below.Start(base)
	top = below.Layer()
	top.Start(own)
	top.Wait(t.Context())
	below.Wait(t.Context())
	return below, top
}

func namesOf(s *Servers) (names []string) {
	for _, st := range s.List() {
		names = append(names, st.Name+" "+string(st.State))
	}
	return names
}

// TestLayer checks that a conversation with its own servers uses them and the ones below,
// hiding any with the same name, that others do not see them, and that they end with it. Proves
// AGENT-14.
func TestLayer(t *testing.T) {
	d := &fakeDialer{}
	local := func(name, command string) *roster.Entry {
		return &roster.Entry{Name: name, Given: name, Type: roster.Stdio, Command: command}
	}
	below, top := layerOf(t, d, []*roster.Entry{local("a", "x"), local("b", "x")}, []*roster.Entry{local("b", "y"), local("c", "y")})
	if got := namesOf(top); !slices.Equal(got, []string{"b connected", "c connected", "a connected"}) {
		t.Error(got)
	}
	if got := namesOf(below); !slices.Equal(got, []string{"a connected", "b connected"}) {
		t.Error(got)
	}
	once, again := top.Tools(), top.Tools()
	if len(once) != 3 || len(below.Tools()) != 2 || &once[0] != &again[0] {
		t.Error(top.Tools(), below.Tools())
	}
	share := top.Join(Client{Roots: func() []string { return []string{"/own"} }})
	below.Join(Client{Roots: func() []string { return []string{"/all"} }})
	if got := share.WithResources(); !slices.Equal(got, []string{"b", "c", "a"}) {
		t.Error(got)
	}
	for _, name := range []string{"a", "b", "c"} {
		if _, err := share.Call(t.Context(), name, "echo", json.RawMessage(`{}`), nil); err != nil {
			t.Error(name, err)
		}
	}
	if _, err := below.Call(t.Context(), "c", "echo", nil, nil); err == nil || !strings.Contains(err.Error(), "there are: a, b") {
		t.Error(err)
	}
	roots := map[string]string{}
	for _, sv := range slices.Concat(below.list, top.list) {
		roots[sv.entry.Name+sv.entry.Command] = strings.Join(sv.roots(), " ")
	}
	if roots["ax"] != "/own /all" || roots["cy"] != "/own" || roots["by"] != "/own" {
		t.Error(roots)
	}
	mine := []Conn{top.list[0].conn, top.list[1].conn}
	top.Close()
	for _, c := range mine {
		select {
		case <-c.Done():
		default:
			t.Error("a connection is left")
		}
	}
	if got := namesOf(top); !slices.Equal(got, []string{"a connected", "b connected"}) || len(top.Tools()) != 2 {
		t.Error(got, top.Tools())
	}
	if got := namesOf(below); !slices.Equal(got, []string{"a connected", "b connected"}) {
		t.Error(got)
	}
}

// TestLayerClosedEarly checks that closing a layer while it is connecting, or after a failure,
// leaves nothing behind.
func TestLayerClosedEarly(t *testing.T) {
	begun := make(chan struct{})
	d := &fakeDialer{dial: func(ctx context.Context, e *roster.Entry, _ int) error {
		if e.Name == "bad" {
			return errors.New("no")
		}
		close(begun)
		<-ctx.Done()
		return ctx.Err()
	}}
	below := New(Config{Dialer: d})
	top := below.Layer()
	top.Start([]*roster.Entry{{Name: "bad", Type: roster.Stdio}, {Name: "slow", Type: roster.Stdio}})
	<-begun
	top.Close()
	below.Close()
	below.work.Wait()
	if len(d.conns) != 0 || len(top.List()) != 0 {
		t.Error(d.conns, top.List())
	}
	top.Close()
}
