package wire

import (
	"os"
	"strings"
	"testing"

	"adze/internal/permission"
	"adze/internal/platform/fs/scope"
)

// Proves PERM-46.
func TestSettingsAreFollowed(t *testing.T) {
	p := newPlace(t)
	c := p.following()
	if c.denies("Write") {
		t.Fatal("denied at first")
	}
	p.Write("home/.adze/settings.json", `{"permissions":{"deny":["Write"]}}`)
	c.poll(t)
	if !c.denies("Write") {
		t.Error("a rule that was added does not count")
	}
	p.Write("home/.adze/settings.json", `{"permissions":{"deny":[`)
	c.poll(t)
	if !c.denies("Write") || !strings.Contains(p.said.String(), "the previous settings stay active") {
		t.Errorf("the last good rules were lost: %s", p.said.String())
	}
	p.Write("home/.adze/settings.json", `{}`)
	c.poll(t)
	if c.denies("Write") {
		t.Error("a rule that was removed still counts")
	}
	p.Write("work/.adze/settings.json", `{"permissions":{"deny":["Bash"],"allow":["Edit"]}}`)
	c.poll(t)
	if rules := c.ws.Project.Settings().Rules(); !c.denies("Bash") || len(rules) != 1 {
		t.Errorf("of an untrusted project only rules that tighten count: %v", rules)
	}
}

func TestHookBlocksConfigChange(t *testing.T) {
	p := newPlace(t)
	p.Write("home/.adze/settings.json", `{"hooks":{"ConfigChange":[{"matcher":"user_settings","hooks":[{"type":"command","command":"echo stay >&2; exit 2"}]}]},"permissions":{"deny":["Write"]}}`)
	c := p.following()
	p.Write("home/.adze/settings.json", `{}`)
	c.poll(t)
	if !c.denies("Write") || !strings.Contains(p.said.String(), "stay") {
		t.Errorf("the hook's answer had no effect: %s", p.said.String())
	}
	p.Write("etc/managed-settings.json", `{"permissions":{"deny":["Bash"]}}`)
	c.poll(t)
	if !c.denies("Bash") {
		t.Error("the administrator's change does not count")
	}
}

// Proves PERM-45.
func TestUpdatesAreKept(t *testing.T) {
	p := newPlace(t)
	p.Write("home/.adze/settings.json", "{\n  // mine\n  \"zzz\": 1\n}\n")
	c := p.following()
	deny := func(tool string, to scope.Scope) permission.Update {
		return permission.Update{Type: permission.AddRules, Behavior: permission.Deny, Rules: []permission.RuleValue{{Tool: tool}}, Destination: to}
	}
	if err := c.Gate.Apply(t.Context(), []permission.Update{deny("Write", scope.User), deny("Edit", scope.Session)}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(p.Path("home/.adze/settings.json"))
	if err != nil || !strings.Contains(string(text), "// mine") || !strings.Contains(string(text), `"Write"`) || strings.Contains(string(text), "Edit") {
		t.Errorf("%s, %v", text, err)
	}
	if change, ok := c.ws.Project.Poll(); ok || !c.denies("Write") || !c.denies("Edit") {
		t.Errorf("an own change came back: %+v", change)
	}

	p.Write("home/.adze/settings.json", "{ broken")
	err = c.Gate.Apply(t.Context(), []permission.Update{deny("Bash", scope.User)})
	if err == nil || !strings.Contains(err.Error(), "it applies to this session only") || !c.denies("Bash") {
		t.Errorf("%v", err)
	}
	if text, _ := os.ReadFile(p.Path("home/.adze/settings.json")); string(text) != "{ broken" {
		t.Errorf("the broken file was overwritten: %s", text)
	}
}
