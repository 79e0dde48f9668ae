package wire

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"adze/internal/app/conversation"
	"adze/internal/app/models"
	"adze/internal/feature/teams"
	"adze/internal/permission"
	"adze/internal/permission/confine"
	"adze/internal/permission/rule"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/scope"
	"adze/internal/session/store"
	"adze/internal/settings/config"
	"adze/internal/setup"
	"adze/internal/tools/plan"
)

// openGate creates the conversation's sandbox, permission gate and working directory.
func (c *Conversation) openGate(ctx context.Context) (err error) {
	start, dir := c.ws.Dir, ""
	if c.Gate = c.spec.worker.gate; c.Gate != nil {
		start = c.Gate.Standing().Config().Start()
	} else if t := c.spec.Team; t.Team != "" {
		if c.spec.Access.Lead, dir, err = teams.Limits(c.ws.Project.Home, t); err != nil {
			return setup.Wrap(err)
		}
		start = c.spec.Access.Lead.Dirs[0]
	}
	if c.sandbox, err = c.ws.newConfinement(start); err != nil {
		return err
	}
	c.closers.add(c.sandbox.Close)
	if c.Gate == nil {
		if c.Gate, err = conversation.NewGate(c.ws.place(), c.spec.Access, c.sandbox.InForce); err != nil {
			return err
		}
	}
	c.sandbox.Attach(c.Gate)
	c.sandbox.Begin(ctx)
	c.dir.Workdir = conversation.NewWorkdir(c.Gate.Standing().Config().Dir, c.Gate)
	if dir != "" {
		c.dir.Move(dir)
	}
	c.closers.add(func() { c.dir.trees.Close() }) // closed after all commands have ended
	return nil
}

// newConfinement returns the sandbox configured by the settings. It fails if they require one
// and none works.
func (w *Workspace) newConfinement(dir string) (*confine.Confinement, error) {
	f := confine.New(confine.Config{
		Settings: w.values().Sandbox, Dir: dir, Home: w.Getenv("HOME"), Say: w.Say, Probe: &w.probe,
		Quarantine: w.quarantine(), Own: w.Project.All(), Keys: models.KeysFile(w.Project.Home), Git: w.git.judge.Obeyed,
	})
	if err := f.Check(); err != nil {
		f.Close()
		return nil, setup.Errorf("%v", err)
	}
	return f, nil
}

// quarantine returns the directory that receives files created under protected names, or "" for
// a temporary one.
func (w *Workspace) quarantine() string {
	if w.Project.Home == "" {
		return ""
	}
	return filepath.Join(w.Project.Home, "quarantine")
}

// SandboxProtects reports whether the sandbox works here and is strong enough to run commands
// without prompting. It tests the sandbox and caches the result for conversations.
func (w *Workspace) SandboxProtects() bool {
	f := confine.New(confine.Config{Dir: w.Dir, Home: w.Getenv("HOME"), Say: w.Say, Probe: &w.probe})
	defer f.Close()
	return f.Protects()
}

// SandboxSetting is the setting that switches the sandbox on.
const SandboxSetting = "sandbox.enabled"

// EnableSandbox enables the sandbox in the user's settings, starting with the next command of
// every conversation.
func (w *Workspace) EnableSandbox(ctx context.Context) error {
	file, err := w.Project.Set(ctx, w.Say, scope.User, SandboxSetting, []byte("true"))
	if err == nil {
		w.tell(config.Change{Files: []config.ChangedFile{{Scope: scope.User, Path: file}}})
	}
	return err
}

// SandboxStatus tests the sandbox that a conversation would use.
func (w *Workspace) SandboxStatus(ctx context.Context, a AccessSpec) (confine.Status, error) {
	c := &Conversation{base: base{ws: w, spec: Spec{Access: a}}}
	defer c.Close()
	if err := c.openGate(ctx); err != nil {
		return confine.Status{}, err
	}
	return c.sandbox.Status(ctx), nil
}

// setMode sets the permission mode for subsequent calls.
func (c *Conversation) setMode(name string) (string, error) {
	mode, err := permission.ParseMode(name)
	if err != nil {
		return "", err
	}
	return string(mode), c.Gate.SetMode(mode)
}

// restore restores the model, mode and directories of a resumed session, unless the spec sets
// them, and reports anything it could not restore.
func (c *Conversation) restore(ctx context.Context) {
	state := c.record.State()
	if state.Model == "" && c.record.Earlier != nil {
		state.Model = c.ws.otherProvider(c.spec.Model, c.record.Earlier.Entries)
	}
	if state.Model != "" && c.spec.Model.Name == "" && !strings.HasPrefix(state.Model, models.ReplayPrefix) {
		if _, err := c.ws.Models.Table.Resolve(state.Model); err == nil {
			c.spec.Model.Name, c.spec.Model.Earlier = state.Model, state.Model
		} else {
			c.ws.Say(fmt.Sprintf("the session's model %s no longer exists; using the default", state.Model))
		}
	}
	a := c.spec.Access
	mode, added := state.Rights()
	if state.Foreign() {
		c.ws.Say("the session's permission mode and additional directories are not restored: its transcript is not signed with the key of this state home; set them with --permission-mode and --add-dir")
	}
	if mode != "" && a.Mode == "" && !a.Skip && mode != string(permission.Bypass) {
		if _, err := c.setMode(mode); err != nil {
			c.ws.Say(fmt.Sprintf("the session's permission mode cannot be restored: %v", err))
		}
	}
	if c.record.Log != nil && len(a.Dirs) > 0 {
		if err := c.record.Log.Note(store.Dirs(a.Dirs)); err != nil {
			c.ws.Say(err.Error())
		}
	}
	var dirs []string
	for _, dir := range added {
		if !fsys.IsDir(dir) {
			c.ws.Say(fmt.Sprintf("the session's directory %s no longer exists", dir))
			continue
		}
		dirs = append(dirs, dir)
	}
	if len(dirs) == 0 {
		return
	}
	add := permission.Update{Type: permission.AddDirectories, Directories: dirs, Destination: scope.Session}
	if err := c.Gate.Apply(ctx, []permission.Update{add}); err != nil {
		c.ws.Say(fmt.Sprintf("the session's directories cannot be restored: %v", err))
	}
}

// Allow adds an allow rule for a tool named on the command line.
func (c *Conversation) Allow(name string) {
	c.Gate.AddRule(rule.Rule{Tool: name, Behavior: permission.Allow, Scope: scope.CLI})
}

// keepFiles tells the gate which of adze's own files the model may read or write.
func (c *Conversation) keepFiles() {
	kept := permission.InternalPaths{Scratch: c.scratch.Made()}
	if c.ws.Project.Home == "" {
		c.Gate.SetKept(kept)
		return
	}
	file := c.PlanFile()
	kept.Readable, kept.Editable, kept.PlanFile = []string{filepath.Dir(file)}, []string{file}, file
	kept.Readable = append(kept.Readable, c.record.Readable()...)
	if k := c.spec.worker.MemoryTask; k != nil {
		kept.Readable = append(kept.Readable, k.Reads...)
	}
	if w := c.spec.worker; w.ForHook { // it may read what the hook is about
		kept.Readable = append(kept.Readable, w.lead.transcripts()...)
	}
	for _, dir := range c.prompt.memory.Dirs() {
		kept.Readable, kept.Editable = append(kept.Readable, dir), append(kept.Editable, dir)
	}
	c.Gate.SetKept(kept)
}

// PlanFile returns the path of the conversation's plan file.
func (c *Conversation) PlanFile() string { return plan.File(c.ws.plansDir(), c.record.ID, "") }
