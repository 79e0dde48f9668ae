package wire

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/app/settings"
	"adze/internal/desk"
	"adze/internal/model"
	"adze/internal/platform/config"
	"adze/internal/platform/scope"
	"adze/internal/tools/bash"
)

// deskPermission gives the desk access to what is allowed in a conversation.
func deskPermission(c *Conversation) desk.Permission {
	return desk.Permission{
		Mode: func() string { return string(c.Gate.Mode()) }, Policy: c.Gate.Policy, Apply: c.Gate.Apply, Judged: c.Gate.Judged,
		Dirs: func() []string {
			return slices.DeleteFunc(slices.Clone(c.dir.roots()), func(dir string) bool { return dir == c.ws.Dir })
		},
	}
}

// surroundings gives the desk access to what a conversation runs in. Settings that are changed are taken over by all
// conversations.
func surroundings(c *Conversation) desk.Surroundings {
	w := c.ws
	s := desk.Surroundings{
		Limits: func() []model.Limit {
			if c.model.backend == nil {
				return nil
			}
			return c.model.backend.Router.Limits(c.Session.Model())
		},
		Enabled: func(setting string) bool { return w.Project.Settings().Bool(setting) },
		Styles:  deskStyles(c),
		About:   func() desk.Fields { return aboutSession(c) },
		Examine: func(context.Context) []desk.Check { return examine(c) },
		Options: func(all bool) []desk.Option {
			s, keys := w.Project.Settings(), settings.Keys()
			var list []desk.Option
			for i := range keys {
				v := settings.Describe(s, &keys[i])
				if v.Origin != "" || all && keys[i].Name != "" {
					list = append(list, desk.Option{Key: v.Key, Value: v.Text(), Doc: keys[i].Doc, Origin: v.Origin})
				}
			}
			return list
		},
		Change: func(ctx context.Context, key string, value *string) (string, error) {
			file, idle, err := w.Project.Change(ctx, w.Say, scope.User, key, value)
			if err != nil {
				return "", err
			}
			w.tell(config.Change{Files: []config.ChangedFile{{Scope: scope.User, Path: file}}})
			switch {
			case idle != "":
				return idle, nil
			case value == nil:
				return fmt.Sprintf("%s is no longer set in %s.", key, file), nil
			}
			return fmt.Sprintf("%s is now %s in %s. Some settings take effect with the next conversation.", key, *value, file), nil
		},
	}
	c.Servers.Offer(&s)
	return s
}

// aboutSession returns what the desk shows about a conversation besides what it knows itself.
func aboutSession(c *Conversation) desk.Fields {
	var fields desk.Fields
	if b := c.model.backend; b != nil {
		fields = append(fields, desk.Field{Name: "Provider", Value: b.Name + ", selected by " + b.Why}, desk.Field{Name: "Credentials", Value: b.KeySource})
	}
	sandbox := "off; /config sandbox.enabled true switches it on"
	if c.ws.values().Sandbox.Enabled {
		sandbox = "on"
	}
	fields = append(fields, desk.Field{Name: "Sandbox", Value: sandbox})
	var files []string
	for _, f := range c.ws.Project.Files() {
		if _, err := os.Stat(f.Path); err == nil {
			files = append(files, shortPath(c.ws.Dir, c.ws.Project.User, f.Path))
		}
	}
	if len(files) == 0 {
		files = []string{"none"}
	}
	fields = append(fields, desk.Field{Name: "Settings", Value: strings.Join(files, ", ")})
	trusted := "not trusted; its settings, hooks and allow rules are not used (adze trust)"
	if c.ws.Project.Trust.Trusted() {
		trusted = "trusted"
	}
	return append(fields, desk.Field{Name: "Workspace", Value: trusted})
}

// examine looks at what a conversation needs.
func examine(c *Conversation) []desk.Check {
	checks := []desk.Check{{Name: "version", Fine: c.ws.Version}}
	if b := c.model.backend; b != nil {
		checks = append(checks, desk.Check{Name: "provider", Fine: b.Name + ", selected by " + b.Why})
	}
	return append(checks,
		examineSettings(c.ws),
		examineHome(c.ws.Project),
		examineProgram("shell", func() (string, error) { p, err := bash.Find(); return p.Path, err }),
		examineProgram("git", func() (string, error) { return exec.LookPath("git") }),
		examineSandbox(c),
	)
}

// examineSandbox tests the sandbox if it is to be used.
func examineSandbox(c *Conversation) desk.Check {
	check := desk.Check{Name: "sandbox", Fine: "off"}
	if !c.sandbox.On() {
		return check
	}
	check.Fine = "works"
	if !c.sandbox.InForce() {
		check.Problems = []string{"it is switched on, but does not work here; adze sandbox says why"}
	}
	return check
}

// examineSettings reads the settings files again.
func examineSettings(w *Workspace) desk.Check {
	p, warnings := settings.Open(w.Project.Source())
	check := desk.Check{Name: "settings", Fine: fmt.Sprintf("%d set", len(p.Written()))}
	for _, warning := range warnings {
		check.Problems = append(check.Problems, warning.String())
	}
	if err := p.Check(false); err != nil {
		check.Problems = append(check.Problems, err.Error())
	}
	return check
}

// examineHome finds out whether the state home can be written.
func examineHome(p *settings.Project) desk.Check {
	check := desk.Check{Name: "state home", Fine: p.Home}
	err := p.HomeErr
	if err == nil {
		err = os.MkdirAll(p.Home, 0o700)
	}
	if err == nil {
		var file *os.File
		if file, err = os.CreateTemp(p.Home, ".doctor-*"); err == nil {
			err = errors.Join(file.Close(), os.Remove(file.Name()))
		}
	}
	if err != nil {
		check.Problems = []string{fmt.Sprintf("sessions cannot be saved in %s: %v", filepath.Clean(p.Home), err)}
	}
	return check
}

// examineProgram looks for a program.
func examineProgram(name string, find func() (string, error)) desk.Check {
	path, err := find()
	check := desk.Check{Name: name, Fine: path}
	if err != nil {
		check.Problems = []string{err.Error()}
	}
	return check
}
