package filehistory

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adze/internal/platform/fs/reverse"
)

// A LaterChange names a file that was not restored because others changed it later.
type LaterChange struct {
	Path string
	// By are the agents that changed it, the last one last; the main conversation has no ID.
	// Outside is true if the user or another program changed it.
	By      []Author
	Outside bool
}

// Agents returns the agents that have changed files, in order of their first change, and their
// files.
func Agents(h *History) (agents []Author, paths map[string][]string) {
	if h == nil {
		return nil, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	first := map[string]int64{}
	paths = map[string][]string{}
	for _, s := range h.snapshots {
		for _, path := range slices.Sorted(maps.Keys(s.files)) {
			for _, b := range s.files[path] {
				if b.by.ID == "" || b.by.ID == userID || b.left == nil {
					continue
				}
				id := b.by.ID
				if at, ok := first[id]; !ok || b.at < at {
					first[id] = b.at
				}
				if !slices.Contains(agents, b.by) {
					agents = append(agents, b.by)
				}
				if !slices.Contains(paths[id], path) {
					paths[id] = append(paths[id], path)
				}
			}
		}
	}
	slices.SortStableFunc(agents, func(a, b Author) int { return cmp.Compare(first[a.ID], first[b.ID]) })
	return slices.CompactFunc(agents, func(a, b Author) bool { return a.ID == b.ID }), paths
}

// authored returns the index of the first snapshot in which an agent changed a file, or -1.
func (t *timeline) authored(agent string) int {
	return slices.IndexFunc(t.snapshots, func(s *snapshot) bool {
		for _, backups := range s.files {
			if slices.ContainsFunc(backups, func(b *backup) bool { return agent != "" && agent != userID && b.by.ID == agent }) {
				return true
			}
		}
		return false
	})
}

// since is like find, but also accepts an agent's ID, which means the message at which it
// started to change files.
func (t *timeline) since(id string, later []string) (from int, before int64, err error) {
	if at := t.authored(id); at >= 0 {
		return at, t.snapshots[at].number, nil
	}
	return t.find(id, later)
}

// An appliedChange is a change that is still part of a file's current state.
type appliedChange struct {
	prev          *appliedChange
	by            Author
	outside       bool // made by the user or another program
	before, after version
	// raced is true if another change was made after the previous content was saved: the file's
	// state before this change is uncertain.
	raced bool
}

// history returns the changes that led to the current state of the file at path, the last one
// first. Changes undone by a rewind are not included.
func (t *timeline) history(path string, now version) *appliedChange {
	type state struct {
		hash string
		head *appliedChange
	}
	var states []state // file states, oldest first
	var head, last *appliedChange
	for _, b := range t.written(path, now) {
		c := &appliedChange{prev: head, by: b.by, before: b.version, after: *b.left}
		if last == nil {
			states = append(states, state{b.hash, nil})
		} else if b.hash != last.after.hash {
			if c.raced = b.at < last.after.at; !c.raced {
				c.prev = &appliedChange{prev: head, outside: true, before: last.after, after: b.version}
				states = append(states, state{b.hash, c.prev})
			}
		}
		last, head = c, c
		if b.by.ID == userID {
			c.outside = true
			for _, s := range slices.Backward(states) {
				if s.hash == b.left.hash {
					head = s.head
					break
				}
			}
		}
		states = append(states, state{b.left.hash, head})
	}
	if last != nil && last.after.hash != now.hash {
		head = &appliedChange{prev: head, outside: true, before: last.after, after: now}
	}
	return head
}

// written returns a file's backups that were followed by a write, in order. The last one may be
// for a change made just before the process was killed.
func (t *timeline) written(path string, now version) []*backup {
	var list []*backup
	for _, s := range t.snapshots {
		for _, b := range s.files[path] {
			if next := t.next[path]; b.left == nil && next.change == b.change && next.change > 0 && next.hash == now.hash {
				killed := *b
				killed.left = &next
				b = &killed
			}
			if b.left != nil {
				list = append(list, b)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *backup) int {
		return cmp.Compare(cmp.Or(a.began, a.left.at), cmp.Or(b.began, b.left.at))
	})
	return list
}

// planUndo returns the steps to undo an agent's changes, and the files in which that is
// impossible.
func planUndo(h *History, agent string, except []string) (steps []step, later []LaterChange, err error) {
	for _, path := range h.paths(func(b *backup) bool { return b.by.ID == agent }) {
		if slices.Contains(except, path) {
			continue
		}
		now, data, err := currentVersion(path)
		if err != nil {
			return nil, nil, fmt.Errorf("looking at %s: %w; nothing was changed", path, err)
		}
		s := step{path: path, now: now, then: now, data: data}
		if l := s.without(h.store, h.history(path, now), agent); l != nil {
			l.Path = path
			later = append(later, *l)
			continue
		}
		if s.then.hash != now.hash {
			steps = append(steps, s)
		}
	}
	return steps, later, nil
}

// paths returns the files with matching backups.
func (t *timeline) paths(of func(*backup) bool) []string {
	found := map[string]bool{}
	for _, s := range t.snapshots {
		for path, backups := range s.files {
			found[path] = found[path] || slices.ContainsFunc(backups, of)
		}
	}
	maps.DeleteFunc(found, func(_ string, ok bool) bool { return !ok })
	return slices.Sorted(maps.Keys(found))
}

// without makes the step restore the file without an agent's changes, given the last change in
// head. If that is impossible, it returns the changes that prevent it.
func (s *step) without(st *store, head *appliedChange, agent string) *LaterChange {
	var since LaterChange
	content := s.data
	for at := head; at != nil; at = at.prev {
		if at.by.ID != agent {
			since.add(at)
			continue
		}
		run := *at // consecutive changes by the agent count as one
		for run.prev != nil && run.prev.by.ID == agent {
			run.prev, run.before, run.raced, at = run.prev.prev, run.prev.before, run.prev.raced, run.prev
		}
		var ok bool
		if s.then, content, ok = revertChange(st, &run, s.then, content); !ok {
			if run.raced && run.prev != nil {
				since.add(run.prev)
			}
			return &since
		}
	}
	if !s.then.absent() && !holds(st, s.then.hash) {
		s.fresh = content
	}
	return nil
}

// add adds a change; changes are added from last to first.
func (l *LaterChange) add(c *appliedChange) {
	switch {
	case c.outside:
		l.Outside = true
	case !slices.ContainsFunc(l.By, func(a Author) bool { return a.ID == c.by.ID }):
		l.By = slices.Insert(l.By, 0, c.by)
	}
}

// revertChange returns a file without a change, if that is possible without loss.
func revertChange(st *store, c *appliedChange, now version, content []byte) (version, []byte, bool) {
	if c.raced {
		return now, nil, false
	}
	if now.hash == c.before.hash { // already undone
		return now, content, true
	}
	before, err := st.content(c.before)
	if err != nil {
		return now, nil, false
	}
	if now.hash == c.after.hash {
		then := c.before
		if !now.absent() && !then.absent() {
			then.mode = now.mode
		}
		return then, before, true
	}
	after, err := st.content(c.after)
	if err != nil || now.absent() || c.before.absent() || !mergeable(before, after, content) {
		return now, nil, false
	}
	text, ok := reverse.Revert(string(content), string(before), string(after))
	if !ok {
		return now, nil, false
	}
	sum := sha256.Sum256([]byte(text))
	return version{hash: hex.EncodeToString(sum[:]), mode: now.mode}, []byte(text), true
}

// mergeable reports whether contents are texts small enough for line comparison.
func mergeable(contents ...[]byte) bool {
	return !slices.ContainsFunc(contents, func(data []byte) bool { return len(data) > maxCounted || isBinary(data) })
}

// planRewindUndo returns the steps to undo a rewind, and the files that were changed since.
func planRewindUndo(h *History, at int, except []string) (steps []step, later []LaterChange, err error) {
	if at >= len(h.snapshots) || !strings.HasPrefix(h.snapshots[at].id, rewindPrefix) {
		return nil, nil, errors.New("no such rewind to undo")
	}
	files := h.snapshots[at].files // includes files that tools changed before the next message
	for _, path := range slices.Sorted(maps.Keys(files)) {
		b := files[path][0]
		if b.by.ID != userID || slices.Contains(except, path) {
			continue
		}
		now, data, err := currentVersion(path)
		if err != nil {
			return nil, nil, fmt.Errorf("looking at %s: %w; nothing was changed", path, err)
		}
		if now.hash == b.hash && (now.absent() || now.mode == b.mode) {
			continue
		}
		if _, err := h.store.content(b.version); err != nil {
			return nil, nil, fmt.Errorf("the earlier version of %s is missing (%w); nothing was changed", path, err)
		}
		if b.left == nil || now.hash != b.left.hash {
			later = append(later, changedAfter(h.history(path, now), path, b))
			continue
		}
		steps = append(steps, step{path: path, now: now, then: b.version, data: data})
	}
	return steps, later, nil
}

// changedAfter returns who changed a file after a rewind.
func changedAfter(head *appliedChange, path string, rewound *backup) LaterChange {
	l := LaterChange{Path: path}
	done := rewound.at
	if rewound.left != nil {
		done = rewound.left.at
	}
	for c := head; c != nil && (c.after.at == 0 || c.after.at > done); c = c.prev {
		l.add(c)
	}
	return l
}
