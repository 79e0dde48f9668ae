package cli

import (
	"context"
	"os"
	"strings"
	"testing"

	"adze/internal/ui/controller"
)

// Proves PERM-60.
func TestSandboxOffer(t *testing.T) {
	p := newPlace(t)
	protects, enabled := true, false
	offer := func() *controller.Suggestion {
		enable := func(context.Context) error { enabled = true; return nil }
		if look := sandboxOffer(&p.env, p.project(), func() bool { return protects }, enable); look != nil {
			return look(t.Context())
		}
		return nil
	}
	if offer() != nil {
		t.Error("it is offered without a terminal")
	}
	p.env.StdinTerminal, p.env.StdoutTerminal = true, true
	for _, setting := range []string{"false", "true"} {
		p.Write("home/.adze/settings.json", `{"sandbox":{"enabled":`+setting+`}}`)
		if offer() != nil {
			t.Errorf("it is offered although the settings say %s", setting)
		}
	}
	if err := os.RemoveAll(p.Path("home/.adze")); err != nil { // simulates the first start
		t.Fatal(err)
	}
	if protects = false; offer() != nil {
		t.Error("it is offered where it does not work")
	}
	protects = true
	s := offer()
	if s == nil {
		t.Fatal("it is not offered")
	}
	if said, err := s.Answer(t.Context(), sandboxLater); said != "" || err != nil || offer() == nil || enabled {
		t.Error("not now decides:", said, err)
	}
	if said, err := s.Answer(t.Context(), noSandbox); err != nil || !strings.Contains(said, "adze config set sandbox.enabled true") {
		t.Error(said, err)
	}
	if offer() != nil {
		t.Error("it is offered again")
	}
	if said, err := s.Answer(t.Context(), useSandbox); err != nil || !strings.Contains(said, "The sandbox is on.") {
		t.Error(said, err)
	}
	if !enabled {
		t.Error("it is not on")
	}
}
