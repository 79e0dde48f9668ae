package wire

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"

	"adze/internal/app/settings"
	"adze/internal/brief"
	"adze/internal/memory"
	"adze/internal/memory/recall"
	"adze/internal/model"
	"adze/internal/model/mute"
	"adze/internal/msg"
	"adze/internal/platform/fsys"
	"adze/internal/platform/paths"
	"adze/internal/session/store"
)

// A memoryView is the memory of a workspace as one conversation uses it.
type memoryView struct {
	folder memory.Folder
	// claim makes the folder this project's.
	claim func() error
	// never is why there is no memory in this conversation, whatever the user says; empty if there is.
	never string
	// used is how memory is used while it is on. It stays the same, as what the model is told does.
	used memory.Mode
	off  atomic.Bool
	// changed is called after the user has switched memory on or off.
	changed func()
	// home and dir are what paths in calls and results may be relative to.
	home, dir string
	recaller  *recall.Recaller // nil if no model is asked
}

// openMemory finds the memory of the workspace.
func (w *Workspace) openMemory(spec *Spec) *memoryView {
	m := &memoryView{never: MemoryOff(w.Project, spec.Bare), home: w.Project.User, dir: w.Dir}
	if m.never == "" && spec.unattended() && spec.Session.Ephemeral {
		m.never = "a run of one turn that is not saved has none"
	}
	if w.Project.Home == "" {
		return m
	}
	var refused []error
	m.folder, m.claim, refused = MemoryFolder(w.Project)
	if m.never != "" {
		return m
	}
	m.used = m.folder.Mode()
	for _, err := range refused {
		w.Say(err.Error())
	}
	if err := m.folder.Usable(); err != nil {
		m.never = err.Error()
		w.Say(fmt.Sprintf("memory is off in this session: %v", err))
	}
	return m
}

// MemoryOff returns the reason memory is disabled, or "".
func MemoryOff(p *settings.Project, bare bool) string {
	v := p.Values()
	switch {
	case v.Simple:
		return "simple mode has no memory"
	case bare:
		return "--bare turns it off"
	case v.Memory.Disabled:
		return "ADZE_DISABLE_MEMORY is set"
	case !v.Memory.Enabled:
		return "autoMemoryEnabled is false"
	case p.Home == "":
		return "there is no state home"
	}
	return ""
}

// MemoryFolder returns the folder of a project's memories, what makes it this project's, and what is wrong
// with the places that settings name.
func MemoryFolder(p *settings.Project) (f memory.Folder, claim func() error, refused []error) {
	m, root := p.Values().Memory, ProjectRoot(p)
	standard := filepath.Join(store.ProjectDir(p.Home, root), "memory")
	f, refused = memory.Locate(p.User, standard,
		memory.Wish{Path: m.Override.Text, By: m.Override.Origin},
		memory.Wish{Path: m.Directory.Text, By: m.Directory.Origin})
	if f.Dir != standard {
		return f, func() error { return fsys.MkdirPrivate(f.Dir) }, refused
	}
	return f, func() error {
		if _, err := store.ClaimProject(p.Home, root); err != nil {
			return err
		}
		return fsys.MkdirPrivate(f.Dir)
	}, refused
}

// ProjectRoot returns what the working directory belongs to; see [settings.Project.Main].
func ProjectRoot(p *settings.Project) string { return p.Main() }

// on reports whether memory is used.
func (m *memoryView) on() bool { return m.never == "" && !m.off.Load() }

// mode returns how memory is used.
func (m *memoryView) mode() memory.Mode {
	if !m.on() {
		return memory.Off
	}
	return m.used
}

// told returns the memory as the model is told of it.
func (m *memoryView) told() brief.Memory { return brief.Memory{Folder: m.folder, Mode: m.mode} }

// dirs returns the folder in all its spellings, if it is used.
func (m *memoryView) dirs() []string {
	if !m.on() {
		return nil
	}
	return slices.Compact([]string{m.folder.Dir, memory.Real(m.folder.Dir)})
}

// muted returns how the folder is written in calls and results, while memory is switched off: requests must
// not hold these names.
func (m *memoryView) muted() []string {
	if !m.off.Load() {
		return nil
	}
	names := slices.Compact([]string{m.folder.Dir, memory.Real(m.folder.Dir)})
	for _, base := range []struct{ dir, prefix string }{{m.home, "~/"}, {m.dir, ""}} {
		if rel := paths.Relative(base.dir, m.folder.Dir); base.dir != "" && rel != m.folder.Dir {
			names = append(names, base.prefix+filepath.ToSlash(rel))
		}
	}
	return names
}

// guard returns what watches over what the model writes to memory, or nil if there is none.
func (m *memoryView) guard() *memory.Gate {
	if m.never != "" {
		return nil
	}
	return &memory.Gate{Claim: m.claim, Folder: func() (memory.Folder, bool) { return m.folder, m.on() }}
}

// set switches memory on or off for the rest of the conversation. What was said of it is no longer sent, so
// that requests begin with other bytes than before.
func (m *memoryView) set(off bool) error {
	if m.never != "" {
		return fmt.Errorf("memory is off in this session: %s", m.never)
	}
	if m.off.Swap(off) != off {
		m.changed()
	}
	return nil
}

// mute keeps memories from the provider while they are switched off.
func (m *memoryView) mute(p model.Provider) model.Provider {
	if m.never != "" {
		return p
	}
	return mute.New(p, "[left out: memory is switched off]", m.muted)
}

// remember lets the conversation recall memories.
func (c *Conversation) remember() {
	if c.told.memory.never != "" {
		return
	}
	c.told.memory.recaller = recall.New(recall.Config{
		Small: c.small, Folder: c.told.memory.folder, On: c.told.memory.on,
		Language: c.ws.language, Seen: c.files.seen, Now: c.ws.Now, Log: c.debug,
		Called: func(u *msg.ToolUse) *msg.ToolUse { return c.Session.Pool().Forwarded(u) },
	})
}
