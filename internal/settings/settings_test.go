package settings

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"adze/internal/app/apptest"
	"adze/internal/permission/confine"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/fs/trust"
	"adze/internal/settings/config"
	"adze/internal/tool/command"
)

// A place is a user's machine.
type place struct{ *apptest.Place }

func newPlace(t *testing.T) *place {
	t.Helper()
	return &place{apptest.New(t)}
}

// open reads the place's settings with the flags in src.
func (p *place) open(src Source) *Project {
	src.Dir, src.Managed, src.Getenv = p.Path("work"), p.Path("etc"), p.Getenv
	project, _ := Open(src) // ok: the tests check the resulting settings
	return project
}

// TestApprovedByContent checks that trust covers the content shown: a hook changed or added
// later is not approved.
//
// Proves PERM-70.
func TestApprovedByContent(t *testing.T) {
	const hook = `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"make %"}]}]}}`
	item := func(command string) trust.Item {
		return trust.Hook("Stop", "", []byte(`{"type":"command","command":"`+command+`"}`))
	}
	p := newPlace(t)
	p.Write("work/.adze/settings.json", strings.Replace(hook, "%", "test", 1))
	approved := func(src Source, command string) bool {
		return p.open(src).Trust.Approved(item(command))
	}
	if approved(Source{}, "make test") {
		t.Error("approved before trust")
	}
	if project := p.open(Source{}); project.Trust.Add(t.Context(), project.Trust.Offer()) != nil {
		t.Fatal("it cannot be trusted")
	}
	for name, tt := range map[string]struct {
		src     Source
		command string
		want    bool
	}{
		"shown":                {Source{}, "make test", true},
		"changed":              {Source{}, "make evil", false},
		"shown, for one run":   {Source{Trust: true}, "make test", true},
		"changed during a run": {Source{Trust: true}, "make evil", false},
	} {
		if got := approved(tt.src, tt.command); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestSave(t *testing.T) {
	p := newPlace(t)
	p.Write("work/.git/HEAD", "ref: refs/heads/main")
	project := p.open(Source{Trust: true})
	var said []string
	say := func(text string) { said = append(said, text) }
	for range 2 {
		if err := project.Save(t.Context(), say, scope.Local, config.Update{Type: "addRules", Behavior: "allow", Rules: []string{"Bash(ls)"}}); err != nil {
			t.Fatal(err)
		}
	}
	if rules := project.Settings().Rules(); len(rules) != 1 || rules[0].Scope != scope.Local {
		t.Errorf("%v", rules)
	}
	exclude, err := os.ReadFile(p.Path("work/.git/info/exclude"))
	if err != nil || string(exclude) != "/.adze/settings.local.json\n" || len(said) != 1 {
		t.Errorf("%q, %v, %q", exclude, err, said)
	}
}

// TestSandboxSettings checks that every sandbox setting reaches the sandbox.
func TestSandboxSettings(t *testing.T) {
	p := newPlace(t)
	got := p.open(Source{Inline: `{"sandbox":{
		"enabled":true,"failIfUnavailable":true,"autoAllowBashIfSandboxed":true,"allowUnsandboxedCommands":true,"excludedCommands":["a *"],
		"filesystem":{"allowWrite":["b"],"denyWrite":["c"],"denyRead":["d"]},
		"network":{"allowedDomains":["e.org"],"deniedDomains":["f.org"]}},
		"shell":{"passEnv":["G"]}}`}).Values().Sandbox
	want := confine.Settings{
		Enabled: true, Required: true, AutoAllow: true, AllowUnsandboxed: true, Excluded: []string{"a *"},
		AllowWrite: []string{"b"}, DenyWrite: []string{"c"}, DenyRead: []string{"d"},
		AllowedDomains: []string{"e.org"}, DeniedDomains: []string{"f.org"}, PassEnv: []string{"G"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Proves WFT-04.
func TestWebSettings(t *testing.T) {
	for text, want := range map[string]Web{
		`{}`: {},
		`{"webFetch":{"domainCheckUrl":"https://check.example.org/","allowedPrivateHosts":["localhost:3000","box"]}}`: {DomainCheck: "https://check.example.org/", PrivateHosts: []string{"localhost:3000", "box"}},
		`{"webFetch":{"domainCheckUrl":"https://check.example.org/","skipDomainCheck":true}}`:                         {},
		`{"webFetch":{"domainCheckUrl":"https://check.example.org/"},"skipWebFetchPreflight":true}`:                   {},
	} {
		if diff := cmp.Diff(want, newPlace(t).open(Source{Inline: text}).Values().Web, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s:\n%s", text, diff)
		}
	}
}

// TestProjectsOnlyTighten checks that a project can only enable and tighten the sandbox, and
// cannot open private hosts.
//
// Proves PERM-60, WFT-02.
func TestProjectsOnlyTighten(t *testing.T) {
	for key, values := range map[string]struct{ loose, tight string }{
		"sandbox.enabled":                  {"false", "true"},
		"sandbox.failIfUnavailable":        {"false", "true"},
		"sandbox.autoAllowBashIfSandboxed": {"true", "false"},
		"sandbox.excludedCommands":         {`["x"]`, ""},
		"sandbox.allowUnsandboxedCommands": {"true", ""},
		"sandbox.filesystem.allowWrite":    {`["/"]`, ""},
		"sandbox.filesystem.denyWrite":     {"", `["x"]`},
		"sandbox.filesystem.denyRead":      {"", `["x"]`},
		"sandbox.network.allowedDomains":   {`["example.org"]`, ""},
		"sandbox.network.deniedDomains":    {"", `["example.org"]`},
		"webFetch.allowedPrivateHosts":     {`["localhost"]`, ""},
		"webFetch.domainCheckUrl":          {`"https://example.org"`, ""},
		"webFetch.skipDomainCheck":         {"true", ""},
	} {
		for value, taken := range map[string]bool{values.loose: false, values.tight: true} {
			if value == "" {
				continue
			}
			parts := strings.Split(key, ".")
			text := value
			for i := len(parts) - 1; i >= 0; i-- {
				text = `{"` + parts[i] + `":` + text + `}`
			}
			p := newPlace(t)
			p.Write("work/.adze/settings.json", text)
			s := p.open(Source{Trust: true}).Settings()
			if got := s.Origin(key) != ""; got != taken {
				t.Errorf("%s set to %s by a project: taken %v", key, value, got)
			}
		}
	}
}

// TestAttribution checks that attribution is bounded, and that one switch disables it.
//
// Proves X-132.
func TestAttribution(t *testing.T) {
	long := strings.Repeat("ä", 600)
	for text, want := range map[string]command.Attribution{
		`{}`: {},
		`{"attribution":{"commit":" By: a\r\u0007\nb ","pr":"c"}}`:             {Commit: "By: a\nb", PullRequest: "c"},
		`{"attribution":{"commit":"a","pr":"b"},"includeCoAuthoredBy":false}`:  {},
		`{"attribution":{"commit":"` + long + `"},"includeCoAuthoredBy":true}`: {Commit: long[:2*500]},
		`{"attribution":{"commit":"\u202ea\u200b"}}`:                           {Commit: "a"},
	} {
		if diff := cmp.Diff(want, newPlace(t).open(Source{Inline: text}).Values().Shell.Attribution); diff != "" {
			t.Errorf("%s:\n%s", text, diff)
		}
	}
}
