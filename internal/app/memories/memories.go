// Package memories is the memory of a project as a conversation uses it: where its folder is, whether it is used, and how
// it is switched off. What memories are, and which of them help, is left to the packages memory and recall.
package memories

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"

	"adze/internal/agentdef"
	"adze/internal/app/settings"
	"adze/internal/brief"
	"adze/internal/memory"
	"adze/internal/memory/recall"
	"adze/internal/platform/fsys"
	"adze/internal/platform/paths"
	"adze/internal/session/store"
)

// A View is the memory of a project as one conversation uses it.
type View struct {
	Folder memory.Folder
	// claim makes the folder this project's.
	claim func() error
	// Never is why there is no memory in this conversation, whatever the user says; empty if there is.
	Never string
	// used is how memory is used while it is on. It stays the same, as what the model is told does.
	used memory.Mode
	off  atomic.Bool
	// wrote says that the model has changed a memory.
	wrote atomic.Bool
	// Changed is called after the user has switched memory on or off.
	Changed func()
	// home and dir are what paths in calls and results may be relative to.
	home, dir string
	// Recaller finds memories that may help; nil if no model is asked.
	Recaller *recall.Recaller
}

// A Config says whose memory is opened. Bare and Single leave it out: the first because the user wants it, the second
// because nothing of the conversation is kept.
type Config struct {
	Project      *settings.Project
	Dir          string
	Bare, Single bool
	Say          func(string)
	// Agent is the agent whose own memory is opened instead; nil for that of the project.
	Agent *agentdef.Definition
}

// Open finds the memory of a project.
func Open(c Config) *View {
	m := &View{Never: Off(c.Project, c.Bare), home: c.Project.User, dir: c.Dir}
	if m.Never == "" && c.Single {
		m.Never = "a run of one turn that is not saved has none"
	}
	if c.Project.Home == "" {
		return m
	}
	var refused []error
	m.Folder, m.claim, refused = Folder(c.Project)
	if c.Agent != nil {
		var err error
		if m.Folder, m.claim, err = agentFolder(c.Project, c.Agent); err != nil && m.Never == "" {
			m.Never = err.Error()
			c.Say(m.Never + "; it has none in this session")
		}
	}
	if m.Never != "" {
		return m
	}
	m.used = m.Folder.Mode()
	for _, err := range refused {
		c.Say(err.Error())
	}
	if err := m.Folder.Usable(); err != nil {
		m.Never = err.Error()
		c.Say(fmt.Sprintf("memory is off in this session: %v", err))
	}
	return m
}

// Off returns the reason memory is disabled, or "".
func Off(p *settings.Project, bare bool) string {
	v := p.Values()
	switch {
	case v.Size.Reduced():
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

// Folder returns the folder of a project's memories, what makes it this project's, and what is wrong
// with the places that settings name.
func Folder(p *settings.Project) (f memory.Folder, claim func() error, refused []error) {
	m, root := p.Values().Memory, p.Main()
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

// On reports whether memory is used.
func (m *View) On() bool { return m.Never == "" && !m.off.Load() }

// Mode returns how memory is used.
func (m *View) Mode() memory.Mode {
	if !m.On() {
		return memory.Off
	}
	return m.used
}

// Told returns the memory as the model is told of it.
func (m *View) Told() brief.Memory { return brief.Memory{Folder: m.Folder, Mode: m.Mode} }

// Dirs returns the folder in all its spellings, if it is used.
func (m *View) Dirs() []string {
	if !m.On() {
		return nil
	}
	return slices.Compact([]string{m.Folder.Dir, memory.Real(m.Folder.Dir)})
}

// Switched reports whether the user has switched memory off.
func (m *View) Switched() bool { return m.off.Load() }

// Muted returns how the folder is written in calls and results, while memory is switched off: requests must
// not hold these names.
func (m *View) Muted() []string {
	if !m.off.Load() {
		return nil
	}
	names := slices.Compact([]string{m.Folder.Dir, memory.Real(m.Folder.Dir)})
	for _, base := range []struct{ dir, prefix string }{{m.home, "~/"}, {m.dir, ""}} {
		if rel := paths.Relative(base.dir, m.Folder.Dir); base.dir != "" && rel != m.Folder.Dir {
			names = append(names, base.prefix+filepath.ToSlash(rel))
		}
	}
	return names
}

// Guard returns what watches over what the model writes to memory, or nil if there is none.
func (m *View) Guard() *memory.Gate {
	if m.Never != "" {
		return nil
	}
	return &memory.Gate{Claim: m.claim, Folder: m.folder, Wrote: func() { m.wrote.Store(true) }}
}

// Only returns the gate of an agent that changes nothing but memories.
func (m *View) Only() memory.Only { return memory.Only{Folder: m.folder} }

func (m *View) folder() (memory.Folder, bool) { return m.Folder, m.On() }

// Wrote reports whether the model has changed a memory since it was last asked.
func (m *View) Wrote() bool { return m.wrote.Swap(false) }

// Set switches memory on or off for the rest of the conversation. What was said of it is no longer sent, so
// that requests begin with other bytes than before.
func (m *View) Set(off bool) error {
	if m.Never != "" {
		return fmt.Errorf("memory is off in this session: %s", m.Never)
	}
	if m.off.Swap(off) != off {
		m.Changed()
	}
	return nil
}
