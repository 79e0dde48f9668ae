package skills

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"sync"

	"adze/internal/domain/skill"
	"adze/internal/domain/skill/library"
	"adze/internal/tool"
)

// activeKind is the kind of note that lists, under "names", the skills activated by files.
const activeKind = "active-skills"

// An activation tracks which file-triggered skills are active. It is safe for concurrent use.
type activation struct {
	cfg *Config

	mu      sync.Mutex
	names   map[string]bool
	changes int
}

// restore loads the state saved by an earlier process.
func (s *activation) restore() {
	var kept struct{ Names []string }
	json.Unmarshal(s.cfg.Last[activeKind], &kept) // ok: files activate them again
	s.names = map[string]bool{}
	for _, name := range kept.Names {
		s.names[name] = true
	}
}

// has reports whether a skill is active: it has no file patterns, or one matched.
func (s *activation) has(k *skill.Skill) bool {
	if len(k.Paths) == 0 {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.names[k.Name]
}

// count returns the number of activations so far.
func (s *activation) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changes
}

// After implements [tool.After]. Files touched by calls activate matching skills and reveal
// skill directories next to them.
func (s *Skills) After(ctx context.Context, u *tool.Use, r *tool.Result) error {
	about, ok := tool.As[tool.Pather](u.Call)
	if !ok || r.IsError {
		return nil
	}
	abs, err := s.cfg.Base().Expand(about.Path())
	if err != nil {
		return nil
	}
	rel, err := filepath.Rel(s.cfg.Vars(&skill.Skill{}).ProjectDir, abs)
	if err != nil || !filepath.IsLocal(rel) {
		return nil
	}
	if s.cfg.Trusted() {
		s.cfg.Library.Touched(abs)
	}
	s.activation.touch(s.cfg.Library.Set(ctx), filepath.ToSlash(rel))
	return nil
}

// touch activates the skills in a set that match a file.
func (s *activation) touch(set *library.Set, rel string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.changes
	for _, k := range set.Skills {
		if len(k.Paths) > 0 && !s.names[k.Name] && k.Matches(rel) {
			s.names[k.Name] = true
			s.changes++
		}
	}
	if s.changes == was {
		return
	}
	var names []string
	for name := range s.names {
		names = append(names, name)
	}
	slices.Sort(names)
	s.cfg.note(activeKind, map[string]any{"names": names})
}
