package app

import (
	"context"
	"fmt"
	"os"
	"sync"

	"adze/internal/permission"
	"adze/internal/platform/config"
	"adze/internal/tool"
	"adze/internal/ui/headless"
)

// A gate is the permission gate of a session whose mode a host may change.
type gate struct {
	// mayBypass says that the session was started by someone who accepted that nothing is asked.
	mayBypass bool
	whole     func(name string) bool

	mu  sync.Mutex
	cfg permission.Config
	now *permission.Gate
}

// newGate returns the gate for the rules of flags and settings. A rule of a flag that cannot be read
// stops the program, one of the settings is reported and fails safe.
func newGate(o *options, s *config.Settings, env *Env) (*gate, error) {
	allow, err := flagRules("--allowed-tools", o.allow)
	if err != nil {
		return nil, err
	}
	deny, err := flagRules("--disallowed-tools", o.deny)
	if err != nil {
		return nil, err
	}
	g := &gate{}
	if g.cfg.Mode, err = startMode(o, s, env); err != nil {
		return nil, err
	}
	if g.cfg.Mode == permission.Bypass && os.Geteuid() == 0 && !s.Bool("IS_SANDBOX") {
		env.say("permissions are skipped as root: commands of the model can change the whole system; IS_SANDBOX=1 says that this is meant")
	}
	g.mayBypass = o.bypassAllowed || g.cfg.Mode == permission.Bypass
	g.cfg.Allow, g.cfg.AllowSource = joinRules(allow, "--allowed-tools", s, "permissions.allow")
	g.cfg.Deny, g.cfg.DenySource = joinRules(deny, "--disallowed-tools", s, "permissions.deny")
	g.whole = permission.WholeTool(g.cfg.Deny)
	g.now = permission.New(g.cfg)
	for _, problem := range g.now.Problems() {
		env.say(problem.Error())
	}
	return g, nil
}

func startMode(o *options, s *config.Settings, env *Env) (permission.Mode, error) {
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

// flagRules splits the values of a flag into rules.
func flagRules(flag string, values []string) ([]string, error) {
	var rules []string
	for _, v := range values {
		for _, rule := range permission.SplitRules(v) {
			if _, err := permission.ParseRule(rule); err != nil {
				return nil, setupErrorf("%s: rule %q: %v", flag, rule, err)
			}
			rules = append(rules, rule)
		}
	}
	return rules, nil
}

// joinRules adds the rules of a setting to those of a flag, and says where they come from.
func joinRules(rules []string, flag string, s *config.Settings, key string) (all []string, source string) {
	set := s.Strings(key)
	switch {
	case len(set) == 0:
		return rules, flag
	case len(rules) == 0:
		return set, s.Origin(key)
	}
	return append(rules, set...), flag + " or " + s.Origin(key)
}

// Before implements [tool.Gate].
func (g *gate) Before(ctx context.Context, u *tool.Use) error {
	g.mu.Lock()
	now := g.now
	g.mu.Unlock()
	return now.Before(ctx, u)
}

// Mode returns the mode in force.
func (g *gate) Mode() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return string(g.cfg.Mode)
}

// SetMode changes the mode of the calls to come.
func (g *gate) SetMode(name string) (string, error) {
	mode, err := permission.ParseMode(name)
	if err != nil {
		return "", err
	}
	if mode == permission.Bypass && !g.mayBypass {
		return "", &headless.Refusal{
			Code: "bypass_not_launched",
			Text: "the session was not started with --dangerously-skip-permissions or --allow-dangerously-skip-permissions",
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cfg.Mode = mode
	g.now = permission.New(g.cfg)
	return string(mode), nil
}

// allow adds a rule that allows a tool.
func (g *gate) allow(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cfg.Allow = append(g.cfg.Allow, name)
	g.now = permission.New(g.cfg)
}

// denies reports whether a rule removes the tool altogether.
func (g *gate) denies(name string) bool { return g.whole(name) }

// denyRule returns the rule that removes the tool, or nothing.
func (g *gate) denyRule(name string) string {
	for _, rule := range g.cfg.Deny {
		if permission.WholeTool([]string{rule})(name) {
			return fmt.Sprintf("rule %s from %s", rule, g.cfg.DenySource)
		}
	}
	return ""
}
