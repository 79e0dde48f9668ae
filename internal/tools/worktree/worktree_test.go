package worktree

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"adze/internal/msg"
	"adze/internal/platform/git/gitrepo"
	"adze/internal/platform/git/worktree"
	"adze/internal/tool"
	"adze/internal/tool/tooltest"
)

// A mover is a fake that moves nothing.
type mover struct {
	in      *worktree.Tree
	refusal error
}

// A still is a mover that never changes its state, for independent calls.
type still struct{ mover }

func (s *still) Enter(ctx context.Context, name string) (*worktree.Tree, error) {
	return (&mover{}).Enter(ctx, name)
}

func (s *still) Leave(context.Context) (string, error) { return "/r", nil }

func (s *still) Remove(context.Context, worktree.Changes) (string, string, error) {
	return "/r", "", nil
}

func (m *mover) Current() *worktree.Tree { return m.in }

func (m *mover) Enter(_ context.Context, name string) (*worktree.Tree, error) {
	if m.refusal != nil {
		return nil, m.refusal
	}
	m.in = &worktree.Tree{Name: name, Root: "/r", Path: "/r/.adze/worktrees/x", Branch: "worktree-x", Notes: []string{"x.env was not copied"}, ByHook: true}
	return m.in, nil
}

func (m *mover) Leave(context.Context) (string, error) { m.in = nil; return "/r", nil }

func (m *mover) Remove(_ context.Context, c worktree.Changes) (string, string, error) {
	if m.refusal != nil {
		return "", "", m.refusal
	}
	m.in = nil
	return "/r", "the branch has other commits", nil
}

func TestContract(t *testing.T) {
	made := t.TempDir()
	trees := worktree.New(worktree.Config{
		Judge: gitrepo.New(gitrepo.Config{Environ: os.Environ}), Records: t.TempDir(),
		Make: func(context.Context, string) (string, error) { return made, nil },
	})
	tree, err := trees.Create(t.Context(), worktree.Options{Dir: t.TempDir(), Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	outside, inside := Tools(&still{}), Tools(&still{mover{in: tree}})
	tooltest.Run(t, outside[0], tooltest.Cases{Input: EntryInput{}, Dir: t.TempDir(), Good: map[string]string{"any": `{}`, "one": `{"name":"x"}`}})
	tooltest.Run(t, inside[1], tooltest.Cases{Input: ExitInput{}, Dir: t.TempDir(), Good: map[string]string{
		"keep": `{"action":"keep"}`, "remove": `{"action":"remove"}`, "discard": `{"action":"remove","discard_changes":true}`,
	}})
}

// Proves X-022.
func TestTools(t *testing.T) {
	m := &mover{}
	call := func(i int, input string) string {
		t.Helper()
		c, err := Tools(m)[i].Bind([]byte(input))
		if err != nil {
			return "refused: " + err.Error()
		}
		if err := c.(tool.FailurePredictor).Foresee(true); err != nil {
			return "foreseen: " + err.Error()
		}
		r, err := c.Run(t.Context(), func(tool.Progress) {})
		if err != nil {
			return "failed: " + err.Error()
		}
		return msg.PlainText(r.Parts)
	}
	changed := &worktree.ChangedError{Tree: &worktree.Tree{Name: "x"}, State: worktree.State{FileCount: 1, Files: []string{"?? new"}}}
	locked := &worktree.ChangedError{Tree: &worktree.Tree{Name: "x"}, State: worktree.State{Locked: "on a stick"}}
	for _, tt := range []struct {
		tool    int
		input   string
		refusal error
		want    string
	}{
		{1, `{"action":"keep"}`, nil, "foreseen: the session does not work in a worktree"},
		{0, `{"name":"../x"}`, nil, "refused: "},
		{0, `{"name":"x"}`, errors.New("no room"), "failed: no room"},
		{0, `{"name":"x"}`, nil, "Note: x.env was not copied."},
		{0, `{}`, nil, "foreseen: the session works in the worktree /r/.adze/worktrees/x already; ExitWorktree leaves it"},
		{1, `{"action":"away"}`, nil, "refused: "},
		{1, `{"action":"keep","discard_changes":true}`, nil, "refused: "},
		{1, `{"action":"remove"}`, changed, "?? new\nNothing was removed."},
		{1, `{"action":"remove"}`, locked, "failed: the worktree x is locked: on a stick"},
		{1, `{"action":"remove","discard_changes":true}`, nil, "is removed, and the session works in /r again. Note: the branch has other commits."},
		{0, `{}`, nil, "cannot be written to"},
		{1, `{"action":"keep"}`, nil, "The session works in /r again. The worktree /r/.adze/worktrees/x is kept, on the branch worktree-x."},
	} {
		m.refusal = tt.refusal
		if got := call(tt.tool, tt.input); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %q", tt.input, got, tt.want)
		}
	}
}
