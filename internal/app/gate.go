package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"adze/internal/confine"
	"adze/internal/permission"
	"adze/internal/permission/rule"
	"adze/internal/platform/config"
	"adze/internal/platform/fsys"
	"adze/internal/platform/scope"
	"adze/internal/tool"
	"adze/internal/ui/hostapi"
)

// A gate is the permission gate of a session, as flags and settings make it.
type gate struct {
	*permission.Gate
	sandbox *confine.Confinement // may be nil
}

// Before judges a call. What confines commands is found out when the first one does more than read.
func (g *gate) Before(ctx context.Context, u *tool.Use) error {
	if u.Tool.Traits().Shell && !tool.FactsOf(u.Call).ReadOnly {
		g.sandbox.Ready()
	}
	return g.Gate.Before(ctx, u)
}

// newGate returns the gate for the rules of flags and settings. A rule of a flag that cannot be read
// stops the program, one of the settings is reported and fails safe.
func newGate(o *options, s *config.Settings, env *Env, sandbox *confine.Confinement) (*gate, error) {
	mode, err := startMode(o, s, env, sandbox.InForce)
	if err != nil {
		return nil, err
	}
	c, err := policyConfig(o, s, env)
	if err != nil {
		return nil, err
	}
	c.Mode = mode
	g := &gate{sandbox: sandbox, Gate: permission.NewGate(permission.GateConfig{
		Config:      c,
		MayBypass:   (o.bypassAllowed || c.Mode == permission.Bypass) && !bypassDisabled(s),
		DefaultMode: permission.Mode(s.Text("permissions.defaultMode")),
		Say:         env.say,
	})}
	for _, problem := range g.Policy().Problems() {
		env.say(problem.Error())
	}
	return g, nil
}

// policyConfig returns what calls are judged by, before anything happens in the session, in the default
// mode.
func policyConfig(o *options, s *config.Settings, env *Env) (permission.Config, error) {
	rules, err := flagRules(o)
	if err != nil {
		return permission.Config{}, err
	}
	c := permission.Config{
		Rules: append(rules, settingRules(s)...),
		Dir:   env.Dir, Dirs: append([]string{env.Dir}, o.dirs...), Home: env.Getenv("HOME"),
		ManagedOnly: s.Bool("allowManagedPermissionRulesOnly"),
		Fold:        runtime.GOOS == "windows" || runtime.GOOS == "darwin",
	}
	for _, d := range s.Directories() {
		c.Dirs = append(c.Dirs, d.Path)
	}
	if home, err := fsys.StateHome(env.Getenv); err == nil {
		c.StateHome = home
	}
	if dir := env.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		c.Protected = append(c.Protected, dir)
	}
	return c, nil
}

func startMode(o *options, s *config.Settings, env *Env, confined func() bool) (permission.Mode, error) {
	mode, err := wantedMode(o, s, env)
	if err != nil || mode != permission.Bypass {
		return mode, err
	}
	if err := mayBypass(os.Geteuid(), s, confined); err != nil {
		env.say(err.Error())
		return "", &endedError{}
	}
	return mode, nil
}

// mayBypass reports why nobody may be left unasked.
func mayBypass(uid int, s *config.Settings, confined func() bool) error {
	switch {
	case bypassDisabled(s):
		return errors.New("the settings of the administrator do not allow permissions to be skipped")
	case uid == 0 && !s.Bool("IS_SANDBOX") && !confined():
		return errors.New("permissions are not skipped as root, since commands of the model could change the whole system; switch the sandbox on (sandbox.enabled), or say with IS_SANDBOX=1 that this is one")
	}
	return nil
}

func wantedMode(o *options, s *config.Settings, env *Env) (permission.Mode, error) {
	switch {
	case o.bypass:
		return permission.Bypass, nil
	case o.mode != "":
		mode, err := permission.ParseMode(o.mode)
		if err != nil {
			return "", setupErrorf("--permission-mode: %v", err)
		}
		return mode, nil
	}
	name := s.Text("permissions.defaultMode")
	if name == "" {
		return permission.Default, nil
	}
	mode, err := permission.ParseMode(name)
	if err != nil {
		env.say(fmt.Sprintf("%s: %v; the default mode is used", s.Origin("permissions.defaultMode"), err))
		return permission.Default, nil
	}
	return mode, nil
}

func bypassDisabled(s *config.Settings) bool {
	return s.Text("permissions.disableBypassPermissionsMode") == "disable"
}

// flagRules returns the rules of flags. One that cannot be read is an error.
func flagRules(o *options) ([]rule.Rule, error) {
	var rules []rule.Rule
	for _, list := range []struct {
		flag     string
		values   []string
		behavior permission.Behavior
	}{{"--allowed-tools", o.allow, permission.Allow}, {"--disallowed-tools", o.deny, permission.Deny}} {
		for _, value := range list.values {
			for _, text := range rule.Split(value) {
				r, err := rule.Parse(text)
				if err != nil {
					return nil, setupErrorf("%s: rule %q: %v", list.flag, text, err)
				}
				r.Behavior, r.Scope, r.File = list.behavior, scope.CLI, list.flag
				rules = append(rules, r)
			}
		}
	}
	return rules, nil
}

// settingRules returns the rules of the settings.
func settingRules(s *config.Settings) []rule.Rule {
	var rules []rule.Rule
	for _, set := range s.Rules() {
		r := rule.Unreadable(set.Text)
		if !set.Broken {
			r, _ = rule.Parse(set.Text) // ok: the rule itself knows what is wrong with it
		}
		r.Behavior, r.Scope = permission.Behavior(set.Behavior), set.Scope
		r.File, r.Line, r.Base = set.File, set.Line, set.Dir
		rules = append(rules, r)
	}
	return rules
}

// Mode returns the mode in force.
func (g *gate) Mode() string { return string(g.Gate.Mode()) }

// SetMode changes the mode of the calls to come.
func (g *gate) SetMode(name string) (string, error) {
	mode, err := permission.ParseMode(name)
	if err != nil {
		return "", err
	}
	err = g.Gate.SetMode(mode)
	if errors.Is(err, permission.ErrBypass) {
		return "", &hostapi.Refusal{Code: "bypass_not_launched", Text: err.Error()}
	}
	return string(mode), err
}

// allow lets a person who names a tool use it.
func (g *gate) allow(name string) {
	g.AddRule(rule.Rule{Tool: name, Behavior: permission.Allow, Scope: scope.CLI})
}

// denies reports whether a rule removes the tool altogether.
func (g *gate) denies(name string) bool {
	_, ok := g.Policy().DeniesTool(name)
	return ok
}

// denyRule returns the rule that removes the tool, or nothing.
func (g *gate) denyRule(name string) string {
	r, ok := g.Policy().DeniesTool(name)
	if !ok {
		return ""
	}
	return fmt.Sprintf("rule %s from %s", r, r.Where())
}
