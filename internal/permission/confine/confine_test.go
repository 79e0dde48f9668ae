package confine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/permission"
	"adze/internal/permission/rule"
	"adze/internal/platform/sandbox"
	"adze/internal/platform/shell"
)

// confined returns a confinement whose sandbox passes its test with tier, or fails it with
// problem, and its messages.
func confined(t *testing.T, s Settings, tier sandbox.Tier, problem error) (*Confinement, *strings.Builder) {
	t.Helper()
	said := new(strings.Builder)
	f := New(Config{Settings: s, Dir: t.TempDir(), Home: t.TempDir(), Say: func(text string) { said.WriteString(text + "\n") }})
	t.Cleanup(f.Close)
	f.probe = func() (sandbox.Tier, error) { return tier, problem }
	return f, said
}

// Proves PERM-62, PERM-63, SHSB-03.
func TestInForce(t *testing.T) {
	missing := errors.New("no sandbox works here")
	for _, tt := range []struct {
		name     string
		settings Settings
		tier     sandbox.Tier
		problem  error
		want     permission.Sandbox
		confines bool
		says     string
	}{
		{"namespaces", Settings{AutoAllow: true}, sandbox.Bubblewrap, nil, permission.Sandbox{On: true, AutoAllow: true}, true, ""},
		{"asking", Settings{}, sandbox.Bubblewrap, nil, permission.Sandbox{On: true}, true, ""},
		{"a tier that does not protect", Settings{AutoAllow: true}, sandbox.Landlock, nil, permission.Sandbox{On: true}, true, ""},
		{"macOS", Settings{AutoAllow: true}, sandbox.Seatbelt, nil, permission.Sandbox{On: true, AutoAllow: true}, true, ""},
		{"excluded", Settings{Excluded: []string{"docker *", ":*"}}, sandbox.Bubblewrap, nil, permission.Sandbox{On: true, Excluded: []string{"docker *"}}, true, `ignoring ":*", which is not a command pattern`},
		{"bad host", Settings{AllowedDomains: []string{"https://x"}}, sandbox.Bubblewrap, nil, permission.Sandbox{On: true}, true, `sandbox.network.allowedDomains: ignoring "https://x"`},
		{"missing", Settings{}, sandbox.None, missing, permission.Sandbox{Missing: true}, false, "enabled, but no sandbox works here. Commands run without it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.settings.Enabled = true
			f, said := confined(t, tt.settings, tt.tier, tt.problem)
			g := permission.NewGate(permission.GateConfig{})
			f.Attach(g)
			if got := g.Policy().Config().Sandbox; got.On || got.Missing {
				t.Errorf("before the test: %+v", got)
			}
			f.Ready()
			if diff := cmp.Diff(tt.want, g.Policy().Config().Sandbox); diff != "" {
				t.Error(diff)
			}
			if got := !f.Outside()(shell.Parse("make", shell.Vars{})); got != tt.confines || f.InForce() != tt.confines {
				t.Errorf("confines %v, in force %v", got, f.InForce())
			}
			if !strings.Contains(said.String(), tt.says) || tt.says == "" && said.Len() > 0 {
				t.Errorf("said %q", said)
			}
		})
	}
}

// TestCheck checks that a missing sandbox stops the program if it is required, and only then.
//
// Proves PERM-63.
func TestCheck(t *testing.T) {
	missing := errors.New("no sandbox works here")
	f, said := confined(t, Settings{Enabled: true, Required: true}, sandbox.None, missing)
	if err := f.Check(); !errors.Is(err, missing) || said.Len() > 0 {
		t.Errorf("required: %v, said %q", err, said)
	}
	f, _ = confined(t, Settings{Enabled: true, Required: true}, sandbox.Landlock, nil)
	if err := f.Check(); err != nil {
		t.Errorf("it works: %v", err)
	}
	for _, s := range []Settings{{Enabled: true}, {Required: true}, {}} {
		f, _ = confined(t, s, sandbox.None, missing)
		if err := f.Check(); err != nil || f.tested.Load() != nil {
			t.Errorf("%+v: %v, tested %v", s, err, f.tested.Load())
		}
	}
	if f.Ready(); f.On() || f.InForce() || f.State().On || f.tested.Load() != nil {
		t.Error("it is switched off, and in force or tested")
	}
	var none *Confinement
	if none.Ready(); none.On() || none.InForce() {
		t.Error("there is none, and it is in force")
	}
}

// TestReload checks that changed settings apply to the next command: the gate and the shell
// tool are updated, and nothing runs if a required sandbox does not work.
//
// Proves PERM-62, PERM-63, SHSB-01.
func TestReload(t *testing.T) {
	f, said := confined(t, Settings{}, sandbox.Bubblewrap, nil)
	g := permission.NewGate(permission.GateConfig{})
	f.Attach(g)
	line := shell.Parse("make", shell.Vars{})
	outside := func() bool { return f.Outside()(line) }
	if !outside() || f.On() || f.tested.Load() != nil {
		t.Error("it is off, and confines or was tested")
	}
	bound := f.Outside()
	f.Reload(Settings{Enabled: true, AutoAllow: true, AllowedDomains: []string{"https://x"}})
	if outside() || !bound(line) || !g.Policy().Config().Sandbox.AutoAllow || !strings.Contains(said.String(), `ignoring "https://x"`) {
		t.Errorf("switched on: %+v, said %q", g.Policy().Config().Sandbox, said)
	}
	said.Reset()
	f.Reload(Settings{Enabled: true, Excluded: []string{"make"}, AllowedDomains: []string{"https://x"}})
	if got := g.Policy().Config().Sandbox; !outside() || got.AutoAllow || !got.On || said.Len() > 0 {
		t.Errorf("excluded: %+v, said again %q", got, said)
	}
	f.Reload(Settings{})
	if got := g.Policy().Config().Sandbox; !outside() || got.On {
		t.Errorf("switched off: %+v", got)
	}
	f.tested.Store(&finding{problem: errors.New("no sandbox works here")}) // the sandbox is lost
	for required, want := range map[bool]bool{false: true, true: false} {
		f.Reload(Settings{Enabled: true, Required: required})
		if got := g.Policy().Config().Sandbox; outside() != want || !got.Missing {
			t.Errorf("lost, required %v: outside %v, %+v", required, outside(), got)
		}
	}
}

// An asker is a gate whose user answers every question about a host.
type asker struct {
	*permission.Gate
	answer bool
	asked  []string
}

func (a *asker) Asks() bool { return true }

func (a *asker) Reach(_ context.Context, host string) bool {
	a.asked = append(a.asked, host)
	return a.answer
}

// Proves PERM-61.
func TestHosts(t *testing.T) {
	f, _ := confined(t, Settings{Enabled: true, DeniedDomains: []string{"x.org", "https://y"}}, sandbox.Bubblewrap, nil)
	h := &hosts{f.sources}
	if allow, deny := h.judge("a.org"); h.reachable() || allow || deny || h.ask(t.Context(), "a.org") {
		t.Error("a host can be reached before there are rules")
	}
	if got := len(h.denied()); got != 1 {
		t.Errorf("%d denied hosts", got)
	}
	rule := func(text string, b permission.Behavior) rule.Rule {
		r, err := rule.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		r.Behavior = b
		return r
	}
	g := permission.NewGate(permission.GateConfig{})
	f.Attach(g)
	if h.reachable() {
		t.Error("nothing is allowed and there is no user to ask, but there is a network")
	}
	f.Reload(Settings{Enabled: true, AllowedDomains: []string{"a.org"}})
	if !h.reachable() || len(h.allowed()) != 1 {
		t.Error("a host of the settings cannot be reached")
	}
	f.Reload(Settings{Enabled: true})
	g.AddRule(rule("WebFetch(domain:b.org)", permission.Allow))
	g.AddRule(rule("WebFetch(domain:c.org)", permission.Deny))
	if !h.reachable() {
		t.Error("a host of a rule cannot be reached")
	}
	for host, want := range map[string][2]bool{"b.org": {true, false}, "c.org": {false, true}, "d.org": {}} {
		if allow, deny := h.judge(host); [2]bool{allow, deny} != want {
			t.Errorf("%s: allow %v, deny %v", host, allow, deny)
		}
	}
	user := &asker{Gate: permission.NewGate(permission.GateConfig{}), answer: true}
	f.Attach(user)
	if !h.reachable() || !h.ask(t.Context(), "d.org") || !cmp.Equal(user.asked, []string{"d.org"}) {
		t.Errorf("asked about %q", user.asked)
	}
}

// TestStatus checks that Status tests a disabled sandbox too, and reports if none works.
func TestStatus(t *testing.T) {
	f, said := confined(t, Settings{AutoAllow: true, Excluded: []string{"docker *"}}, sandbox.None, errors.New("no sandbox works here"))
	s := f.Status(t.Context())
	want := Status{Tier: "none", Problem: "no sandbox works here", Excluded: []string{"docker *"}, Jail: s.Jail, JailProblem: s.JailProblem}
	if (s.Jail == "") == (s.JailProblem == "") {
		t.Errorf("a jail %q, and its problem %q", s.Jail, s.JailProblem)
	}
	if diff := cmp.Diff(want, s); diff != "" || s.Holds() || said.Len() > 0 {
		t.Errorf("holds %v, said %q, %s", s.Holds(), said, diff)
	}
	broken := Status{Attempts: []sandbox.Attempt{{Promised: true, Held: true}, {Promised: false}}}
	if !broken.Holds() {
		t.Error("what is not promised is missed")
	}
	broken.Attempts[1].Promised = true
	if broken.Holds() {
		t.Error("a broken promise is not noticed")
	}
}
