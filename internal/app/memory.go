package app

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"adze/internal/agent/aside"
	"adze/internal/brief"
	"adze/internal/memory"
	"adze/internal/memory/recall"
	"adze/internal/model/cost"
	"adze/internal/model/mute"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/platform/fsys"
	"adze/internal/platform/paths"
	"adze/internal/platform/trust"
	"adze/internal/session"
	"adze/internal/session/store"
)

// Remembering is the memory of a session: where it is, whether it is used, and what was recalled.
type remembering struct {
	b      *builder
	folder memory.Folder
	// claim makes the folder this project's; nil if it is one that somebody named.
	claim func() error
	// never says that there is no memory in this session, whatever the person says, and why.
	never string
	// used is how memory is used while it is on. It stays the same, as what the model is told does.
	used     memory.Mode
	off      atomic.Bool
	recaller *recall.Recaller // nil before there is a session
}

// openMemory finds the memory of the workspace.
func (b *builder) openMemory() {
	m := &remembering{b: b, never: b.prefs.forgets(b.o)}
	b.memory = m
	if b.home == "" {
		return
	}
	var refused []error
	m.folder, m.claim, refused = b.prefs.memoryFolder(b.env)
	if m.never != "" {
		return
	}
	m.used = m.folder.Mode()
	for _, err := range refused {
		b.env.say(err.Error())
	}
	if err := m.folder.Usable(); err != nil {
		m.never = err.Error()
		b.env.say(fmt.Sprintf("nothing is remembered in this session: %v", err))
	}
}

// forgets says why nothing is remembered, or nothing if something is.
func (p *preferences) forgets(o *options) string {
	s := p.live.Settings()
	switch {
	case s.Bool("ADZE_SIMPLE"):
		return "the simple mode has none"
	case o.bare:
		return "--bare leaves it out"
	case s.Bool("ADZE_DISABLE_MEMORY"):
		return "ADZE_DISABLE_MEMORY is set"
	case !s.Bool("autoMemoryEnabled"):
		return "autoMemoryEnabled is false"
	case p.home == "":
		return "there is no place for adze's files"
	}
	return ""
}

// memoryFolder returns the folder of the workspace's memories, what makes it this project's, and what was
// wrong with places that somebody named.
func (p *preferences) memoryFolder(env *Env) (memory.Folder, func() error, []error) {
	s, person := p.live.Settings(), fsys.UserHome(env.Getenv)
	root := p.projectRoot(env)
	standard := filepath.Join(store.ProjectDir(p.home, root), "memory")
	f, refused := memory.Locate(person, standard,
		memory.Wish{Path: s.Text("ADZE_MEMORY_PATH_OVERRIDE"), By: s.Origin("ADZE_MEMORY_PATH_OVERRIDE")},
		memory.Wish{Path: s.Text("autoMemoryDirectory"), By: s.Origin("autoMemoryDirectory")})
	claim := func() error { return fsys.MkdirPrivate(f.Dir) }
	if f.Dir == standard {
		claim = func() error {
			if _, err := store.ClaimProject(p.home, root); err != nil {
				return err
			}
			return fsys.MkdirPrivate(f.Dir)
		}
	}
	return f, claim, refused
}

// projectRoot returns what the working directory belongs to: the main working tree, for each worktree of a
// repository, or the directory itself outside of one.
func (p *preferences) projectRoot(env *Env) string {
	w := p.workspace.Workspace
	if found, err := trust.Find(env.Dir, fsys.UserHome(env.Getenv)); err == nil {
		w = found // that of the settings may be another
	}
	switch {
	case w.Main != "":
		return w.Main
	case w.Shared != "":
		return w.Shared
	}
	return w.Root
}

// on reports whether memory is used.
func (m *remembering) on() bool { return m != nil && m.never == "" && !m.off.Load() }

// mode returns how memory is used.
func (m *remembering) mode() memory.Mode {
	if !m.on() {
		return memory.Off
	}
	return m.used
}

// told returns the memory as the model is told of it.
func (m *remembering) told() brief.Memory { return brief.Memory{Folder: m.folder, Mode: m.mode} }

// wire lets a session remember, and returns what watches over what it writes: nil if there is no memory.
func (m *remembering) wire(cfg *session.Config) *memory.Guard {
	if m.never != "" {
		return nil
	}
	if cfg.Provider != nil {
		cfg.Provider = mute.New(cfg.Provider, "[left out: memory is switched off]", m.muted)
		m.recaller = recall.New(recall.Config{
			Asker: asker(cfg), Folder: m.folder, On: m.on, Model: m.b.smallModel, Language: m.b.promptLanguage,
			Seen: m.seen, Now: m.b.env.Now, Log: cfg.Debug,
		})
		cfg.Prefetch = func(p session.Prompt, before []msg.Entry) []func(context.Context) []msg.Part {
			if f := m.recaller.Prefetch(p.Parts, before); f != nil {
				return []func(context.Context) []msg.Part{f}
			}
			return nil
		}
	}
	return &memory.Guard{Claim: m.claim, Folder: func() (memory.Folder, bool) { return m.folder, m.on() }}
}

// asker returns what asks models beside the conversation of a session.
func asker(cfg *session.Config) aside.Asker {
	ledger := cfg.Records.Ledger
	return aside.Asker{Provider: cfg.Provider, Book: func(id string, u msg.Usage, took time.Duration) {
		ledger.Book(id, u, cost.Times{API: took})
	}}
}

// seen returns the files that the model has read or written itself.
func (m *remembering) seen() []string {
	if m.b.state == nil {
		return nil
	}
	var files []string
	for _, e := range m.b.state.Recent() {
		files = append(files, e.Path)
	}
	return files
}

// muted returns how the folder of memories is written in calls and results, while memory is switched off.
func (m *remembering) muted() []string {
	if !m.off.Load() {
		return nil
	}
	names := slices.Compact([]string{m.folder.Dir, memory.Real(m.folder.Dir)})
	for _, base := range []struct{ dir, prefix string }{{fsys.UserHome(m.b.env.Getenv), "~/"}, {m.b.env.Dir, ""}} {
		if base.dir == "" {
			continue
		}
		if rel := paths.Relative(base.dir, m.folder.Dir); rel != m.folder.Dir {
			names = append(names, base.prefix+filepath.ToSlash(rel))
		}
	}
	return names
}

// keep adds the folder to what the model may read and write by itself.
func (m *remembering) keep(k *permission.Kept) {
	if !m.on() {
		return
	}
	dirs := slices.Compact([]string{m.folder.Dir, memory.Real(m.folder.Dir)})
	k.Readable, k.Editable = append(k.Readable, dirs...), append(k.Editable, dirs...)
}

// set switches memory on or off for the rest of the session. What was said of it is no longer sent, so that
// the conversation begins with other bytes than before.
func (m *remembering) set(off bool) error {
	if m.never != "" {
		return fmt.Errorf("there is no memory in this session: %s", m.never)
	}
	if m.off.Swap(off) != off {
		m.b.keepFiles()
		if m.b.announcer != nil {
			m.b.announcer.Reset()
		}
	}
	return nil
}
