package permission

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/permission/rule"
	"adze/internal/platform/fs/scope"
)

// An UpdateType is the kind of an update.
type UpdateType string

// The update types. Their names and fields are part of the protocol with hosts.
const (
	AddRules          UpdateType = "addRules"
	ReplaceRules      UpdateType = "replaceRules"
	RemoveRules       UpdateType = "removeRules"
	SetMode           UpdateType = "setMode"
	AddDirectories    UpdateType = "addDirectories"
	RemoveDirectories UpdateType = "removeDirectories"
)

// An Update changes the permissions, for the session or permanently.
type Update struct {
	Type        UpdateType  `json:"type"`
	Rules       []RuleValue `json:"rules,omitempty"`
	Behavior    Behavior    `json:"behavior,omitempty"`
	Mode        Mode        `json:"mode,omitempty"`
	Directories []string    `json:"directories,omitempty"`
	Destination scope.Scope `json:"destination"`
	// Wider marks a suggestion that is a more permissive alternative to the previous one.
	Wider bool `json:"-"`
}

// A RuleValue is a rule in the host protocol.
type RuleValue struct {
	Tool    string `json:"toolName"`
	Content string `json:"ruleContent,omitempty"`
}

// String returns the rule as written in settings.
func (v RuleValue) String() string { return rule.Rule{Tool: v.Tool, Content: v.Content}.String() }

// Lasting reports whether the update is saved in a settings file.
func (u Update) Lasting() bool {
	return u.Destination.Writable()
}

// Check returns an error if the update cannot be applied.
func (u Update) Check() error {
	if !u.Lasting() && u.Destination != scope.Session && u.Destination != scope.CLI {
		return fmt.Errorf("unknown destination %q: choose session, cliArg, localSettings, projectSettings or userSettings", string(u.Destination))
	}
	switch u.Type {
	case AddRules, ReplaceRules, RemoveRules:
		if u.Behavior != Allow && u.Behavior != Ask && u.Behavior != Deny {
			return fmt.Errorf("unknown behavior %q: choose allow, ask or deny", string(u.Behavior))
		}
		if u.Type == RemoveRules {
			return nil // unreadable rules can be removed too
		}
		for _, v := range u.Rules {
			if _, err := rule.Parse(v.String()); err != nil {
				return fmt.Errorf("rule %q: %w", v, err)
			}
		}
		return nil
	case SetMode:
		_, err := ParseMode(string(u.Mode))
		return err
	case AddDirectories, RemoveDirectories:
		if slices.Contains(u.Directories, "") {
			return errors.New("a directory is empty")
		}
		return nil
	}
	return fmt.Errorf("unknown update type %q", string(u.Type))
}

// apply returns the configuration after an update that passed its check. The caller handles
// mode changes.
func (c Config) apply(u Update) Config {
	same := func(r rule.Rule) bool { return r.Behavior == u.Behavior && r.Scope == u.Destination }
	switch u.Type {
	case ReplaceRules:
		c.Rules = slices.DeleteFunc(slices.Clone(c.Rules), same)
		fallthrough
	case AddRules:
		c.Rules = slices.Clone(c.Rules)
		for _, v := range u.Rules {
			r, err := rule.Parse(v.String())
			if err != nil {
				continue
			}
			r.Behavior, r.Scope, r.Base = u.Behavior, u.Destination, c.baseOf(u.Destination)
			if !slices.ContainsFunc(c.Rules, func(o rule.Rule) bool { return same(o) && o.String() == r.String() }) {
				c.Rules = append(c.Rules, r)
			}
		}
	case RemoveRules:
		c.Rules = slices.DeleteFunc(slices.Clone(c.Rules), func(r rule.Rule) bool {
			return same(r) && slices.ContainsFunc(u.Rules, func(v RuleValue) bool { return v.String() == r.String() || v.String() == r.Text() })
		})
	case AddDirectories:
		c.Dirs = slices.Clone(c.workingDirs())
		for _, dir := range u.Directories {
			if dir = c.absolute(dir); !slices.Contains(c.Dirs, dir) {
				c.Dirs = append(c.Dirs, dir)
			}
			if !u.Lasting() {
				c.added = append(slices.Clip(c.added), dir)
			}
		}
	case RemoveDirectories:
		gone := func(dir string) bool {
			return dir != c.start() && slices.ContainsFunc(u.Directories, func(name string) bool { return c.absolute(name) == dir })
		}
		c.Dirs = slices.DeleteFunc(slices.Clone(c.workingDirs()), gone)
		c.added = slices.DeleteFunc(slices.Clone(c.added), gone)
	}
	return c
}

// baseOf returns the directory a leading slash refers to in rules saved at a destination.
func (c *Config) baseOf(s scope.Scope) string {
	if s == scope.User {
		return c.UserDir
	}
	return c.start()
}

func (c *Config) workingDirs() []string {
	if len(c.Dirs) == 0 && c.Dir != "" {
		return []string{c.Dir}
	}
	return c.Dirs
}

func (c *Config) absolute(dir string) string {
	if rest, ok := strings.CutPrefix(dir, "~/"); ok && c.Home != "" {
		dir = filepath.Join(c.Home, rest)
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(c.start(), dir)
	}
	return filepath.Clean(dir)
}
