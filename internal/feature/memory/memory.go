// Package memory provides a conversation's view of its project's memory: the directory,
// whether memory is on, and how it is turned off.
package memory

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"

	"adze/internal/domain/agentdef"
	"adze/internal/domain/memdir"
	"adze/internal/feature"
	"adze/internal/feature/memory/recall"
	"adze/internal/msg"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/paths"
	"adze/internal/prompt"
	"adze/internal/session"
	"adze/internal/session/store"
	"adze/internal/settings"
)

// A View is a conversation's view of its project's memory.
type View struct {
	Folder memdir.Folder
	// claim marks the directory as this project's.
	claim func() error
	// Never is the reason why memory is unavailable in this conversation regardless of the
	// user's choice; empty if it is available.
	Never string
	// used is how memory is used while it is on. It never changes, so that the system prompt
	// does not either.
	used memdir.Mode
	off  atomic.Bool
	// wrote is true if the model has changed a memory.
	wrote atomic.Bool
	// Changed is called after the user turns memory on or off.
	Changed func()
	// home and dir are the bases of relative paths in calls and results.
	home, dir string
	// Recaller finds relevant memories; nil without a model.
	Recaller *recall.Recaller
}

// Config selects the memory to open. Bare and Single disable it: the first at the user's
// request, the second because nothing of the conversation is stored.
type Config struct {
	Project      *settings.Project
	Dir          string
	Bare, Single bool
	Say          func(string)
	// Agent is the agent whose own memory is opened; nil means the project's.
	Agent *agentdef.Definition
}

// Open locates a project's memory.
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

// Off returns the reason why memory is disabled, or "".
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
		return "no state home"
	}
	return ""
}

// Folder returns a project's memory directory, a function that marks it as this project's, and
// errors for rejected settings.
func Folder(p *settings.Project) (f memdir.Folder, claim func() error, refused []error) {
	m, root := p.Values().Memory, p.Main()
	standard := filepath.Join(store.ProjectDir(p.Home, root), "memory")
	f, refused = memdir.Locate(p.User, standard,
		memdir.RequestedDir{Path: m.Override.Text, By: m.Override.Origin},
		memdir.RequestedDir{Path: m.Directory.Text, By: m.Directory.Origin})
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
func (m *View) Mode() memdir.Mode {
	if !m.On() {
		return memdir.Off
	}
	return m.used
}

// Told returns the memory configuration for the system prompt.
func (m *View) Told() prompt.Memory { return prompt.Memory{Folder: m.Folder, Mode: m.Mode} }

// Dirs returns all spellings of the directory, if it is used.
func (m *View) Dirs() []string {
	if !m.On() {
		return nil
	}
	return slices.Compact([]string{m.Folder.Dir, memdir.Real(m.Folder.Dir)})
}

// Switched reports whether the user has turned memory off.
func (m *View) Switched() bool { return m.off.Load() }

// Muted returns the spellings of the directory in calls and results while memory is off:
// requests must not contain them.
func (m *View) Muted() []string {
	if !m.off.Load() {
		return nil
	}
	names := slices.Compact([]string{m.Folder.Dir, memdir.Real(m.Folder.Dir)})
	for _, base := range []struct{ dir, prefix string }{{m.home, "~/"}, {m.dir, ""}} {
		if rel := paths.Relative(base.dir, m.Folder.Dir); base.dir != "" && rel != m.Folder.Dir {
			names = append(names, base.prefix+filepath.ToSlash(rel))
		}
	}
	return names
}

// Part returns the memory's contribution to a conversation.
func (m *View) Part() feature.Part {
	p := feature.Part{Name: "memory"}
	if m.Recaller != nil {
		p.Prefetch = func(p session.Prompt, before []msg.Entry) func(context.Context) []msg.Part {
			return m.Recaller.Prefetch(p.Parts, before)
		}
	}
	if guard := m.Guard(); guard != nil {
		p.Gate, p.After = guard, guard
	}
	return p
}

// Guard returns the gate for the model's memory writes, or nil if memory is unavailable.
func (m *View) Guard() *memdir.Gate {
	if m.Never != "" {
		return nil
	}
	return &memdir.Gate{Claim: m.claim, Folder: m.folder, Wrote: func() { m.wrote.Store(true) }}
}

// Only returns the gate for an agent that may change only memories.
func (m *View) Only() memdir.Only { return memdir.Only{Folder: m.folder} }

func (m *View) folder() (memdir.Folder, bool) { return m.Folder, m.On() }

// Wrote reports whether the model has changed a memory since the last call.
func (m *View) Wrote() bool { return m.wrote.Swap(false) }

// Set turns memory on or off for the rest of the conversation. Memory content is then withheld
// from requests, so they no longer share a prefix with earlier ones.
func (m *View) Set(off bool) error {
	if m.Never != "" {
		return fmt.Errorf("memory is off in this session: %s", m.Never)
	}
	if m.off.Swap(off) != off {
		m.Changed()
	}
	return nil
}
