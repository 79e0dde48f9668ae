package app

import (
	"os"
	"strings"
	"testing"

	"adze/internal/permission"
	"adze/internal/platform/scope"
	"adze/internal/session"
)

// following returns the parts of a session that settings reach while it lasts.
func (p *place) following() *builder {
	p.t.Helper()
	b, err := newBuilder(&p.env, &options{})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(b.close)
	b.openHooks(&session.Config{})
	b.gate.SetSave(b.saveUpdate)
	return b
}

// poll takes over what changed, as the watch does.
func (b *builder) poll(t *testing.T) {
	t.Helper()
	c, ok := b.prefs.live.Poll()
	if !ok {
		t.Fatal("no change was noticed")
	}
	b.settingsChanged(t.Context(), c)
}

// Proves PERM-46.
func TestSettingsAreFollowed(t *testing.T) {
	p := newPlace(t)
	b := p.following()
	if b.gate.denies("Write") {
		t.Fatal("denied at first")
	}
	p.write("home/.adze/settings.json", `{"permissions":{"deny":["Write"]}}`)
	b.poll(t)
	if !b.gate.denies("Write") {
		t.Error("a rule that was added does not count")
	}
	p.write("home/.adze/settings.json", `{"permissions":{"deny":[`)
	b.poll(t)
	if !b.gate.denies("Write") || !strings.Contains(p.said.String(), "what the file said before stays in force") {
		t.Errorf("the last good rules were lost: %s", p.said.String())
	}
	p.write("home/.adze/settings.json", `{}`)
	b.poll(t)
	if b.gate.denies("Write") {
		t.Error("a rule that was removed still counts")
	}
	p.write("work/.adze/settings.json", `{"permissions":{"deny":["Bash"],"allow":["Edit"]}}`)
	b.poll(t)
	if rules := b.prefs.live.Settings().Rules(); !b.gate.denies("Bash") || len(rules) != 1 {
		t.Errorf("of an untrusted project only rules that tighten count: %v", rules)
	}
}

func TestHookBlocksConfigChange(t *testing.T) {
	p := newPlace(t)
	p.write("home/.adze/settings.json", `{"hooks":{"ConfigChange":[{"matcher":"user_settings","hooks":[{"type":"command","command":"echo stay >&2; exit 2"}]}]},"permissions":{"deny":["Write"]}}`)
	b := p.following()
	p.write("home/.adze/settings.json", `{}`)
	b.poll(t)
	if !b.gate.denies("Write") || !strings.Contains(p.said.String(), "stay") {
		t.Errorf("the hook was not heard: %s", p.said.String())
	}
	p.write("etc/managed-settings.json", `{"permissions":{"deny":["Bash"]}}`)
	b.poll(t)
	if !b.gate.denies("Bash") {
		t.Error("the administrator's change does not count")
	}
}

// Proves PERM-45.
func TestUpdatesAreKept(t *testing.T) {
	p := newPlace(t)
	p.write("home/.adze/settings.json", "{\n  // mine\n  \"zzz\": 1\n}\n")
	b := p.following()
	deny := func(tool string, to scope.Scope) permission.Update {
		return permission.Update{Type: permission.AddRules, Behavior: permission.Deny, Rules: []permission.RuleValue{{Tool: tool}}, Destination: to}
	}
	if err := b.gate.Apply(t.Context(), []permission.Update{deny("Write", scope.User), deny("Edit", scope.Session)}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(p.path("home/.adze/settings.json"))
	if err != nil || !strings.Contains(string(text), "// mine") || !strings.Contains(string(text), `"Write"`) || strings.Contains(string(text), "Edit") {
		t.Errorf("%s, %v", text, err)
	}
	if c, ok := b.prefs.live.Poll(); ok || !b.gate.denies("Write") || !b.gate.denies("Edit") {
		t.Errorf("an own change came back: %+v", c)
	}

	p.write("home/.adze/settings.json", "{ broken")
	err = b.gate.Apply(t.Context(), []permission.Update{deny("Bash", scope.User)})
	if err == nil || !strings.Contains(err.Error(), "it holds for this session") || !b.gate.denies("Bash") {
		t.Errorf("%v", err)
	}
	if text, _ := os.ReadFile(p.path("home/.adze/settings.json")); string(text) != "{ broken" {
		t.Errorf("the broken file was overwritten: %s", text)
	}
}
