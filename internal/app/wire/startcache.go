package wire

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"adze/internal/domain/skill"
	"adze/internal/feature/agents"
	"adze/internal/feature/skills"
	"adze/internal/feature/startcache"
	"adze/internal/platform/fs/fsys"
)

// A startCache holds the listing of skills, agents and plugins for a session's first request. It
// is reused from an earlier session if none of its inputs have changed.
type startCache struct {
	once  sync.Once
	added []string          // added directories
	cache *startcache.Cache // nil if nothing is stored
}

// fewKnown is the number of entries below which scanning is as fast as loading the cache.
const fewKnown = 50

// recall loads the listing of an earlier session.
func (b *startCache) recall(w *Workspace, added []string) {
	b.once.Do(func() {
		if w.Project.Home == "" || w.Env.Agents.Any() {
			return
		}
		b.added = added
		b.cache = startcache.Open(w.startConfig(added))
		w.closers.add(b.cache.Close)
		if s := b.cache.Start(); s != nil {
			w.Plugins.Recall(&s.Plugins)
			w.Agents.Recall(s.Agents)
		}
	})
}

// startConfig returns the inputs of the listing: the settings, the scanned directories, and the
// files that store the scan results.
func (w *Workspace) startConfig(added []string) startcache.Config {
	p := w.Project
	files, index := w.Plugins.Files()
	c := startcache.Config{
		Path:     filepath.Join(p.Cache, "start", fsys.HashedKey(w.Dir)),
		Key:      append(w.Plugins.Key(), w.Version, w.Dir, string(w.language()), fmt.Sprintf("%+v", w.values().Skills)),
		Files:    append(files, w.usageFile()),
		Replaced: []string{index, skills.Index(p, w.Dir), agents.Index(p)},
	}
	for _, root := range skills.Roots(p, w.Dir, added) {
		c.Key = append(c.Key, root.Dir, root.Origin.String())
		c.Files = append(c.Files, root.Dir)
	}
	for _, root := range agents.Folders(p) {
		c.Key = append(c.Key, root.Path, root.Source.String())
		c.Files = append(c.Files, root.Path)
	}
	return c
}

// keep stores the session's listing for later ones.
func (b *startCache) keep(w *Workspace, tell func() *startcache.Skills) {
	b.cache.Keep(func() (*startcache.Listing, []startcache.File) {
		told := tell()
		outline := w.Plugins.Outline()
		agents := w.Agents.Early().Definitions
		stamps, sure := w.Agents.Stamps()
		known := strings.Count(told.List.Names, "\n") + len(agents)
		if outline == nil || !sure || known < fewKnown || w.Env.Agents.Any() || !b.cache.Is(w.startConfig(b.added).Key) {
			return nil, nil
		}
		var files []startcache.File
		for path, stamp := range stamps {
			files = append(files, startcache.File{Path: path, Stamp: stamp})
		}
		return &startcache.Listing{Plugins: *outline, Agents: agents, Skills: *told}, files
	})
}

// cachedStart returns the cached skills for a conversation before the scan has finished. Resumed
// conversations keep their earlier listing, and sub-agents get theirs elsewhere.
func (c *base) cachedStart() *skills.Start {
	start := c.ws.start.cache.Start()
	if start == nil || c.record.Earlier != nil || !c.spec.worker.main() {
		return nil
	}
	return skills.NewStart(&start.Skills)
}

// startSaver returns a function that stores the conversation's listing, or nil if later
// sessions cannot reuse it.
func (c *base) startSaver(listed func() []*skill.Skill) func(tell func() *startcache.Skills) {
	if c.record.Earlier != nil || !c.spec.worker.main() || c.ws.start.cache == nil {
		return nil
	}
	return func(tell func() *startcache.Skills) {
		if !slices.ContainsFunc(listed(), func(k *skill.Skill) bool { return k.Origin.Kind == skill.Server }) {
			c.ws.start.keep(c.ws, tell)
		}
	}
}
