// Package worktrees manages a conversation's worktree: it enters and leaves worktrees, finds
// the worktree of a resumed session, and creates worktrees for agents. Package
// platform/worktree creates and removes the worktrees themselves.
package worktrees

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"adze/internal/platform/git/worktree"
)

// NoteKind is the kind of note that records a session's worktree.
const NoteKind = "worktree-state"

// Config configures a Place.
type Config struct {
	Trees *worktree.Manager
	// Dir is the conversation's directory outside worktrees.
	Dir string
	// Content returns the additional content of new worktrees.
	Content func() Content
	// Move makes dir the working directory. left is the repository copy that must not be
	// written to in the meantime, or "".
	Move func(dir, left string)
	// Note saves a note with the session; may be nil.
	Note func(kind string, fields map[string]any)
	// Say shows the user a message.
	Say func(string)
}

// Content is the content of a worktree in addition to the files of a commit; see
// [worktree.Options].
type Content struct{ Links, Sparse, Copies []string }

// A Place tracks where a conversation works. It is safe for concurrent use. A nil place has no
// worktrees.
type Place struct {
	cfg Config

	mu    sync.Mutex
	tree  *worktree.Tree // nil outside worktrees
	dir   string         // directory in tree
	guard *Guard         // guard for tree; may be nil
}

// New returns the place of a conversation that is not in a worktree yet.
func New(c Config) *Place { return &Place{cfg: c} }

// Current returns the conversation's worktree, or nil.
func (p *Place) Current() *worktree.Tree {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tree
}

// Here returns the directory of the conversation's worktree, or "".
func (p *Place) Here() string {
	if p == nil {
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dir
}

// Dir returns the directory in the worktree at path that corresponds to dir; see
// [worktree.Manager.Dir].
func (p *Place) Dir(path, dir string) (string, error) {
	if p == nil {
		return "", worktree.ErrNone
	}
	return p.cfg.Trees.Dir(path, dir)
}

// options returns the options for creating a worktree.
func (p *Place) options(name string, purpose worktree.Purpose) worktree.Options {
	c := p.cfg.Content()
	return worktree.Options{Dir: p.cfg.Dir, Name: name, For: purpose, Links: c.Links, Sparse: c.Sparse, Copies: c.Copies}
}

// errInside reports that the conversation is already in a worktree.
var errInside = errors.New("the session works in a worktree already")

// Enter creates a worktree and moves the conversation there.
func (p *Place) Enter(ctx context.Context, name string) (*worktree.Tree, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tree != nil {
		return nil, errInside
	}
	t, err := p.cfg.Trees.Create(ctx, p.options(name, worktree.Session))
	if err != nil {
		return nil, err
	}
	if err := p.move(t); err != nil {
		return nil, errors.Join(err, t.Release(ctx))
	}
	return t, nil
}

// Begin moves a starting conversation into the named worktree, creating it if necessary.
func (p *Place) Begin(ctx context.Context, name string) error {
	if name != "" {
		t, err := p.cfg.Trees.Open(ctx, p.cfg.Dir, name)
		if err == nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			if err := p.move(t); err != nil {
				return errors.Join(err, t.Release(ctx))
			}
			p.cfg.Say(fmt.Sprintf("working in the worktree %s, which was there before", t.Path))
			return nil
		}
		if !errors.Is(err, worktree.ErrNone) {
			return err
		}
	}
	t, err := p.Enter(ctx, name)
	if err != nil {
		return err
	}
	p.cfg.Say(fmt.Sprintf("working in the new worktree %s%s", t.Path, onBranch(t)))
	for _, note := range t.Notes {
		p.cfg.Say(note)
	}
	return nil
}

func onBranch(t *worktree.Tree) string {
	if t.Branch == "" {
		return ""
	}
	return ", on the branch " + t.Branch
}

// state is the recorded worktree of a session.
type state struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

// move moves the conversation to the corresponding directory in a worktree.
func (p *Place) move(t *worktree.Tree) error {
	dir, err := p.cfg.Trees.Dir(t.Path, p.cfg.Dir)
	if err != nil {
		return err
	}
	p.tree, p.dir, p.guard = t, dir, NewGuard(t.Path)
	p.cfg.Move(dir, p.cfg.Dir)
	p.note(t.Name, t.Path)
	return nil
}

// back moves the conversation to its initial directory.
func (p *Place) back() {
	p.tree, p.dir, p.guard = nil, "", nil
	p.cfg.Move(p.cfg.Dir, "")
	p.note("", "")
}

// note records the session's worktree.
func (p *Place) note(name, path string) {
	if p.cfg.Note != nil {
		p.cfg.Note(NoteKind, map[string]any{"name": name, "path": path})
	}
}

// Leave moves the conversation back to its previous directory, which it returns. The worktree
// stays.
func (p *Place) Leave(ctx context.Context) (back string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tree == nil {
		return "", errOutside
	}
	err = p.tree.Release(ctx)
	if errors.Is(err, worktree.ErrNone) {
		err = nil
	}
	p.back()
	return p.cfg.Dir, err
}

// errOutside reports that the conversation is not in a worktree.
var errOutside = errors.New("the session does not work in a worktree")

// Remove removes the worktree and moves the conversation back to its previous directory. note
// describes anything left of the worktree.
func (p *Place) Remove(ctx context.Context, c worktree.Changes) (back, note string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tree == nil {
		return "", "", errOutside
	}
	t := p.tree
	if err := mayRemove(ctx, t, c); err != nil {
		return "", "", err
	}
	p.back() // first, so that no hook works in the removed directory
	if note, err = t.Remove(ctx, c); err != nil && !errors.Is(err, worktree.ErrNone) {
		return "", "", errors.Join(err, p.move(t))
	}
	return p.cfg.Dir, note, nil
}

// mayRemove returns an error if a worktree must not be removed.
func mayRemove(ctx context.Context, t *worktree.Tree, c worktree.Changes) error {
	s, err := t.State(ctx)
	switch {
	case errors.Is(err, worktree.ErrNone):
		return nil
	case err != nil:
		return err
	case s.Locked != "" || !s.Clean() && c != worktree.Discard:
		return &worktree.ChangedError{Tree: t, State: s}
	}
	return nil
}

// Resume moves a resumed conversation into its previous worktree, according to its latest note.
// It returns a message for the user and the model, or "".
func (p *Place) Resume(ctx context.Context, note json.RawMessage) string {
	var s state
	if p == nil || len(note) == 0 || json.Unmarshal(note, &s) != nil || s.Name == "" {
		return ""
	}
	t, err := p.cfg.Trees.Open(ctx, p.cfg.Dir, s.Name)
	switch {
	case errors.Is(err, worktree.ErrNone):
		p.note("", "")
		return fmt.Sprintf("The worktree %s that the session worked in is gone; it works in %s now.", s.Path, p.cfg.Dir)
	case err != nil:
		return fmt.Sprintf("The session cannot go back to its worktree %s: %v; it works in %s now.", s.Path, err, p.cfg.Dir)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.move(t); err != nil {
		return fmt.Sprintf("The session cannot go back to its worktree %s: %v; it works in %s now.", s.Path, errors.Join(err, t.Release(ctx)), p.cfg.Dir)
	}
	return fmt.Sprintf("The session works in its worktree %s again.", t.Path)
}

// closeTime is the timeout for ending the use of a worktree.
const closeTime = 20 * time.Second

// Close ends the use of a worktree. It stays for when the session is resumed, unless it is
// unchanged; the user is shown its location.
func (p *Place) Close() {
	t := p.Current()
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	kept, note, err := t.Finish(ctx)
	if err != nil && !kept {
		p.cfg.Say(fmt.Sprintf("the worktree %s: %v", t.Path, err))
	}
	if kept {
		p.cfg.Say(fmt.Sprintf("%s adze --worktree %s works there again", note, t.Name))
	}
}

// SweepBeside removes unneeded worktrees in the background and notifies the user. The returned
// function stops it and waits for its end.
func (p *Place) SweepBeside() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.sweep(ctx)
	}()
	return func() { cancel(); <-done }
}

func (p *Place) sweep(ctx context.Context) {
	removed, err := p.cfg.Trees.Sweep(ctx, p.cfg.Dir)
	for _, name := range removed {
		p.cfg.Say(fmt.Sprintf("removed the worktree %s of an agent: its changes are merged, or it has none and was not used for 30 days", name))
	}
	if err != nil && ctx.Err() == nil {
		p.cfg.Say(fmt.Sprintf("clearing away worktrees: %v", err))
	}
}

// List returns the repository's worktrees.
func (p *Place) List(ctx context.Context) []worktree.Entry { return p.cfg.Trees.List(ctx, p.cfg.Dir) }

// RemoveNamed removes a worktree that no session is using. note describes anything left of it.
func (p *Place) RemoveNamed(ctx context.Context, name string, c worktree.Changes) (note string, err error) {
	if t := p.Current(); t != nil && t.Name == name {
		return "", errors.New("this session works in it: have the model leave it first, or end the session")
	}
	return p.cfg.Trees.RemoveNamed(ctx, p.cfg.Dir, name, c)
}
