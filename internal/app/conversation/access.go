package conversation

import (
	"fmt"
	"os"
	"runtime"

	"adze/internal/permission"
	"adze/internal/permission/rule"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/text/texts"
	"adze/internal/settings"
	"adze/internal/setup"
)

// A Spec holds the permission options of a conversation.
type AccessSpec struct {
	Allow, Deny []string // lists of rules
	Tools       []string // tools to offer if Chosen
	Chosen      bool
	Dirs        []string // additional working directories, absolute
	Mode        string   // permission mode; empty means the settings decide
	Skip        bool     // skip permissions: the mode is bypassPermissions
	MayBypass   bool     // bypassPermissions may be selected later
	Asks        bool     // the front end can prompt; otherwise prompts are denied
	AskTool     string   // server tool that answers prompts instead; may be empty
	// Lead holds the limits of the lead conversation in another process; nil without a lead.
	Lead *permission.Limits
}

// A Place is the workspace of a gate.
type AccessPlace struct {
	Project *settings.Project
	// Dir is the working directory.
	Dir      string
	Getenv   func(string) string
	Say      func(string)
	Language func() texts.Language
	// Obeyed returns the paths from which git reads hooks and settings in a directory.
	Obeyed func(dir string) []string
}

// NewGate returns the permission gate for the rules in flags and settings. An invalid rule in a
// flag is an error; one in the settings is reported and fails safe. confined reports whether
// commands run in a sandbox.
func NewGate(at AccessPlace, a AccessSpec, confined func() bool) (*permission.Gate, error) {
	c, err := AccessPolicy(at, a)
	if err != nil {
		return nil, err
	}
	p := at.Project.Values().Permissions
	if c.Mode == permission.Bypass {
		if err := MayBypass(os.Geteuid(), p, confined); err != nil {
			return nil, err
		}
	}
	g := permission.NewGate(permission.GateConfig{
		Config:      c,
		MayBypass:   (a.MayBypass || c.Mode == permission.Bypass) && !p.BypassDisabled,
		NoAuto:      p.AutoDisabled,
		DefaultMode: permission.Mode(p.Mode.Text),
		Lead:        a.Lead,
		Say:         at.Say,
		Language:    at.Language,
	})
	for _, problem := range g.Policy().Problems() {
		at.Say(problem.Error())
	}
	return g, nil
}

// Policy returns a new conversation's permission policy.
func AccessPolicy(at AccessPlace, a AccessSpec) (permission.Config, error) {
	p := at.Project.Values().Permissions
	rules, err := flagRules(a)
	if err != nil {
		return permission.Config{}, err
	}
	mode, err := startMode(at.Say, a, p)
	if err != nil {
		return permission.Config{}, err
	}
	c := permission.Config{
		Rules: append(rules, p.Rules...),
		Dir:   at.Dir, Dirs: append(append([]string{at.Dir}, a.Dirs...), p.Directories...), Home: at.Getenv("HOME"),
		ManagedOnly: p.ManagedOnly, Mode: mode, UserDir: at.Project.Config, Protected: at.Project.Protected(), Obeyed: at.Obeyed,
		Fold: runtime.GOOS == "windows" || runtime.GOOS == "darwin",
	}
	if dir := at.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		c.Protected = append(c.Protected, dir)
	}
	return c, nil
}

// startMode returns the permission mode selected by flags or settings.
func startMode(say func(string), a AccessSpec, p settings.Permissions) (permission.Mode, error) {
	if a.Skip {
		return permission.Bypass, nil
	}
	if a.Mode != "" {
		mode, err := permission.ParseMode(a.Mode)
		if err != nil {
			return "", setup.Errorf("--permission-mode: %v", err)
		}
		if mode == permission.Auto && p.AutoDisabled {
			return "", setup.Errorf("--permission-mode: %v", permission.ErrAuto)
		}
		return mode, nil
	}
	if p.Mode.Text == "" {
		return permission.Default, nil
	}
	mode, err := permission.ParseMode(p.Mode.Text)
	if err != nil {
		say(fmt.Sprintf("%s: %v; using the default mode", p.Mode.Origin, err))
		return permission.Default, nil
	}
	if mode == permission.Auto && p.AutoDisabled {
		say(fmt.Sprintf("%s: %v; using the default mode", p.Mode.Origin, permission.ErrAuto))
		return permission.Default, nil
	}
	return mode, nil
}

// MayBypass returns the reason why permissions cannot be skipped, or nil.
func MayBypass(uid int, p settings.Permissions, confined func() bool) error {
	switch {
	case p.BypassDisabled:
		return setup.Errorf("the administrator's settings do not allow skipping permissions")
	case uid == 0 && !p.InSandbox && !confined():
		return setup.Errorf("root cannot skip permissions, because the model's commands could change the whole system; enable the sandbox (sandbox.enabled), or set IS_SANDBOX=1 if this already is one")
	}
	return nil
}

// flagRules parses the rules in flags. An invalid rule is an error.
func flagRules(a AccessSpec) ([]rule.Rule, error) {
	var rules []rule.Rule
	for _, list := range []struct {
		flag     string
		values   []string
		behavior permission.Behavior
	}{{"--allowed-tools", a.Allow, permission.Allow}, {"--disallowed-tools", a.Deny, permission.Deny}} {
		for _, value := range list.values {
			for _, text := range rule.Split(value) {
				r, err := rule.Parse(text)
				if err != nil {
					return nil, setup.Errorf("%s: rule %q: %v", list.flag, text, err)
				}
				r.Behavior, r.Scope, r.File = list.behavior, scope.CLI, list.flag
				rules = append(rules, r)
			}
		}
	}
	return rules, nil
}
