// Package worktree implements EnterWorktree and ExitWorktree, the tools that move the session
// into a worktree and out of it.
package worktree

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"adze/internal/msg"
	"adze/internal/platform/git/worktree"
	"adze/internal/tool"
)

var (
	//go:embed enter.md
	enterDoc string
	//go:embed enter.zh.md
	enterChinese string
	//go:embed enter.schema.json
	enterSchema string
	//go:embed exit.md
	exitDoc string
	//go:embed exit.zh.md
	exitChinese string
	//go:embed exit.schema.json
	exitSchema string
)

// ExitName is the name of the tool that leaves a worktree.
const ExitName = "ExitWorktree"

// A Mover moves a session between copies of its repository.
type Mover interface {
	// Current returns the session's current worktree, or nil.
	Current() *worktree.Tree
	// Enter creates a worktree and moves the session there.
	Enter(ctx context.Context, name string) (*worktree.Tree, error)
	// Leave moves the session back to its previous directory, which it returns.
	Leave(ctx context.Context) (back string, err error)
	// Remove removes the worktree and moves the session back. The note names anything that
	// remains.
	Remove(ctx context.Context, c worktree.Changes) (back, note string, err error)
}

// Tools returns both tools.
func Tools(m Mover) []tool.Tool { return []tool.Tool{enter(m), exit(m)} }

// EntryInput is the input of EnterWorktree.
type EntryInput struct {
	Name string `json:"name,omitempty"`
}

// Validate checks the name.
func (in EntryInput) Validate() error {
	if in.Name == "" {
		return nil
	}
	return worktree.CheckName(in.Name)
}

type enterCall struct {
	m  Mover
	in EntryInput
}

func enter(m Mover) tool.Tool {
	return tool.NewBound(tool.Def{
		Name: "EnterWorktree", Doc: strings.TrimSpace(enterDoc), Schema: json.RawMessage(strings.TrimSpace(enterSchema)),
		Traits: tool.Traits{Background: true, Translate: tool.InChinese(enterChinese), Hint: "move the session into a git worktree", Params: tool.Params{Texts: []string{"name"}}},
	}, func(in EntryInput) (tool.Call, error) { return &enterCall{m, in}, nil })
}

func (e *enterCall) Input() any      { return e.in }
func (e *enterCall) OpenWorld() bool { return false }

// Title returns a line for dialogs and logs.
func (e *enterCall) Title() string {
	if e.in.Name == "" {
		return "Work in a new git worktree"
	}
	return "Work in the git worktree " + e.in.Name
}

func (e *enterCall) Activity() string { return "Making a worktree" }

// Consent describes the effect of the user's approval.
func (e *enterCall) Consent() string {
	return "Yes makes a copy of the repository at " + worktree.Folder + ", with a branch of its own, and the session works there."
}

// Foresee returns an error if the session cannot move.
func (e *enterCall) Foresee(bool) error {
	if t := e.m.Current(); t != nil {
		return fmt.Errorf("the session works in the worktree %s already; ExitWorktree leaves it", t.Path)
	}
	return nil
}

func (e *enterCall) Run(ctx context.Context, _ func(tool.Progress)) (tool.Result, error) {
	if err := e.Foresee(true); err != nil {
		return tool.Result{}, err
	}
	t, err := e.m.Enter(ctx, e.in.Name)
	if err != nil {
		return tool.Result{}, err
	}
	return answer(arrived(t), t.Path), nil
}

// arrived returns the message for the model after entering a worktree.
func arrived(t *worktree.Tree) string {
	text := fmt.Sprintf("The session now works in the worktree %s", t.Path)
	if t.Branch != "" {
		text += ", on the branch " + t.Branch
	}
	text += fmt.Sprintf(". Stay in it. Paths in %s mean the copy that was left, which cannot be written to: use the same path below the worktree, and read files again before you edit them.", t.Root)
	for _, note := range t.Notes {
		text += "\nNote: " + note + "."
	}
	return text
}

// ExitInput is the input of ExitWorktree.
type ExitInput struct {
	Action  string `json:"action"`
	Discard bool   `json:"discard_changes,omitempty"`
}

// Validate checks that discard_changes is used only with remove.
func (in ExitInput) Validate() error {
	if in.Discard && in.Action != "remove" {
		return errors.New(`discard_changes needs the action "remove"`)
	}
	return nil
}

func (in ExitInput) removes() bool { return in.Action == "remove" }

type exitCall struct {
	m  Mover
	in ExitInput
}

func exit(m Mover) tool.Tool {
	return tool.NewBound(tool.Def{
		Name: ExitName, Doc: strings.TrimSpace(exitDoc), Schema: json.RawMessage(strings.TrimSpace(exitSchema)),
		Traits: tool.Traits{Background: true, Translate: tool.InChinese(exitChinese), Hint: "leave a git worktree, and keep or remove it"},
	}, func(in ExitInput) (tool.Call, error) { return &exitCall{m, in}, nil })
}

func (l *exitCall) Input() any      { return l.in }
func (l *exitCall) OpenWorld() bool { return false }

// Title returns a line for dialogs and logs.
func (l *exitCall) Title() string {
	switch {
	case l.in.Discard:
		return "Leave the git worktree and remove it with all changes"
	case l.in.removes():
		return "Leave the git worktree and remove it"
	}
	return "Leave the git worktree and keep it"
}

func (l *exitCall) Activity() string { return "Leaving the worktree" }

// Consent describes the effect of the user's approval.
func (l *exitCall) Consent() string {
	switch {
	case l.in.Discard:
		return "Yes deletes the worktree and its branch, with uncommitted changes and commits that are nowhere else."
	case l.in.removes():
		return "Yes deletes the worktree and its branch, if nothing in it would be lost."
	}
	return "Yes goes back to the copy that the session came from. The worktree and its branch stay."
}

// Preview shows the changes that would be lost.
func (l *exitCall) Preview(ctx context.Context) (tool.Display, error) {
	t := l.m.Current()
	if t == nil || !l.in.Discard {
		return tool.Plain{}, nil
	}
	s, err := t.State(ctx)
	if err != nil {
		return nil, err
	}
	return tool.Plain{Text: fmt.Sprintf("%s: %s\n%s", t.Path, s, s.List())}, nil
}

// Foresee returns an error if the worktree cannot be left or removed.
func (l *exitCall) Foresee(bool) error {
	t := l.m.Current()
	if t == nil {
		return errors.New("the session does not work in a worktree that it can leave")
	}
	if !l.in.removes() || l.in.Discard || t.ByHook {
		return nil
	}
	if s, err := t.State(context.Background()); err == nil && (!s.Clean() || s.Locked != "") {
		return advise(&worktree.ChangedError{Tree: t, State: s})
	}
	return nil
}

// advise adds advice to the error of a worktree that cannot be removed.
func advise(err error) error {
	var c *worktree.ChangedError
	if !errors.As(err, &c) || c.State.Locked != "" {
		return err
	}
	return errors.New(msg.Neutralise(err.Error()) + "\nNothing was removed. Commit or move what is needed, or use the action \"keep\"; discard_changes deletes all of it, if the user agrees")
}

func (l *exitCall) Run(ctx context.Context, _ func(tool.Progress)) (tool.Result, error) {
	t := l.m.Current()
	if t == nil {
		return tool.Result{}, l.Foresee(true)
	}
	if !l.in.removes() {
		return l.keep(ctx, t)
	}
	back, note, err := l.m.Remove(ctx, worktree.Changes(l.in.Discard))
	if err != nil {
		return tool.Result{}, advise(err)
	}
	text := fmt.Sprintf("The worktree %s is removed, and the session works in %s again.", t.Path, back)
	if note != "" {
		text += " Note: " + note + "."
	}
	return answer(text, back), nil
}

// keep leaves the worktree unchanged.
func (l *exitCall) keep(ctx context.Context, t *worktree.Tree) (tool.Result, error) {
	back, err := l.m.Leave(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	text := fmt.Sprintf("The session works in %s again. The worktree %s is kept", back, t.Path)
	if t.Branch != "" {
		text += ", on the branch " + t.Branch
	}
	return answer(text+".", back), nil
}

// answer returns a result that shows the session's directory to the user.
func answer(text, dir string) tool.Result {
	r := tool.Text(msg.Neutralise(text))
	r.Display = tool.Plain{Text: "working in " + dir}
	return r
}
