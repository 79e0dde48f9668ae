package permission

import (
	"context"
	"testing"

	"adze/internal/platform/fs/scope"
	"adze/internal/platform/shell"
)

// Proves PERM-62, PERM-63, SHSB-01, SHSB-03.
func TestSandboxDecides(t *testing.T) {
	w := newWorld(t)
	on := Sandbox{On: true, AutoAllow: true, Excluded: []string{"docker *", "git commit:*", "bad :* x"}}
	asking := on
	asking.AutoAllow = false
	for _, tt := range []struct {
		name    string
		sandbox Sandbox
		mode    Mode
		rule    string
		command string
		leave   bool
		want    Behavior
		reason  ReasonType
	}{
		{"off", Sandbox{}, Default, "", "make all", false, Ask, ByOther},
		{"off, automatic", Sandbox{AutoAllow: true}, Default, "", "make all", false, Ask, ByOther},
		{"on", on, Default, "", "make all", false, Allow, BySandbox},
		{"on, not simple", on, Default, "", "for f in a b; do make $f; done", false, Allow, BySandbox},
		{"on, not understood", on, Default, "", "make 'all", false, Ask, ""},
		{"on, not automatic", asking, Default, "", "make all", false, Ask, ByOther},
		{"excluded", on, Default, "", "docker ps -a", false, Ask, ByOther},
		{"every part excluded", on, Default, "", "docker ps -a && git commit -m x", false, Ask, ByOther},
		{"one part excluded", on, Default, "", "docker ps -a && make", false, Allow, BySandbox},
		{"excluded but allowed", on, Default, "allow Bash(docker:*)", "docker ps -a", false, Allow, ByRule},
		{"deny rule", on, Default, "deny Bash(make:*)", "make all", false, Deny, ByRule},
		{"deny rule for a part", on, Default, "deny Bash(rm:*)", "make all && rm x", false, Deny, ByRule},
		{"ask rule", on, Default, "ask Bash(make:*)", "make all", false, Ask, ByRule},
		{"ask rule for the tool", on, Default, "ask Bash", "make all", false, Ask, ByRule},
		{"protected path", on, Default, "", "echo x > .git/config", false, Ask, BySafety},
		{"leaves", on, Default, "", "make all", true, Ask, BySandbox},
		{"leaves in bypass mode", on, Bypass, "", "make all", true, Ask, BySandbox},
		{"leaves although allowed", on, Default, "allow Bash(make:*)", "make all", true, Ask, BySandbox},
		{"missing", Sandbox{Missing: true}, Default, "", "make all", false, Ask, BySandbox},
		{"missing, allowed", Sandbox{Missing: true}, Default, "allow Bash(make:*)", "make all", false, Ask, BySandbox},
		{"missing, only reads", Sandbox{Missing: true}, Default, "", "ls src", false, Allow, ByReadOnly},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var rules []string
			if tt.rule != "" {
				rules = append(rules, tt.rule)
			}
			c := w.config(tt.mode, rules...)
			c.Sandbox = tt.sandbox
			use := runs(tt.command)
			use.Outside = tt.leave
			d := decide(t, c, "Bash", use)
			if d.Behavior != tt.want || tt.reason != "" && d.Reason.Type() != tt.reason {
				t.Errorf("%s: %s by %s: %s", tt.command, d.Behavior, d.Reason.Type(), d.Reason.String())
			}
		})
	}
	p := Compile(Config{Sandbox: on})
	if !p.Excluded(shell.Parse("docker ps", shell.Vars{})) || p.Excluded(shell.Parse("docker ps; make", shell.Vars{})) {
		t.Error("what is excluded is not what runs outside")
	}
}

// Proves PERM-61.
func TestReach(t *testing.T) {
	w := newWorld(t)
	c := w.config(Default, "allow WebFetch(domain:yes.example.org)", "deny WebFetch(domain:*.no.example.org)", "ask WebFetch(domain:ask.example.org)")
	p := Compile(c)
	for host, want := range map[string]Behavior{"yes.example.org": Allow, "YES.example.org.": Allow, "a.no.example.org": Deny, "ask.example.org": Ask, "other.example.org": Ask, "evilyes.example.org": Ask,
		"yes.example.org:8080": Ask, "http://yes.example.org/": Allow, "a.no.example.org:8080": Deny} {
		if got := p.Host(host); got != want {
			t.Errorf("%s: %s", host, got)
		}
	}
	remember := []Update{{Type: AddRules, Behavior: Allow, Destination: scope.Session, Rules: []RuleValue{{Tool: "WebFetch", Content: "domain:new.example.org"}}}}
	var asked []Question
	yes := func(_ context.Context, q Question) (Answer, error) {
		asked = append(asked, q)
		return Answer{Behavior: Allow, Updates: remember}, nil
	}
	for _, tt := range []struct {
		name  string
		mode  Mode
		ask   Asker
		want  bool
		asked int
	}{
		{"nobody there", Default, nil, false, 0},
		{"yes", Default, yes, true, 1},
		{"no", Default, func(context.Context, Question) (Answer, error) { return Answer{Behavior: Deny}, nil }, false, 0},
		{"never asked", DontAsk, yes, false, 0},
		{"never asked either", Bypass, yes, true, 0},
	} {
		asked = nil
		c.Mode = tt.mode
		g := asking(GateConfig{Config: c, MayBypass: true}, tt.ask)
		if got := g.Reach(t.Context(), "new.example.org"); got != tt.want || len(asked) != tt.asked {
			t.Errorf("%s: %v after %d questions", tt.name, got, len(asked))
		}
		if tt.asked > 0 && g.Policy().Host("new.example.org") != Allow {
			t.Errorf("%s: the answer is not kept", tt.name)
		}
	}
}
