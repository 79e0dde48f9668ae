package subagents

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/app/transcript"
	"adze/internal/desk"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/platform/fsys"
	"adze/internal/platform/task"
	"adze/internal/session"
	"adze/internal/tool"
)

// A meta is what is kept of an agent beside its conversation, so that it can be continued.
type meta struct {
	Type        string          `json:"agentType"`
	Description string          `json:"description"`
	Model       string          `json:"model,omitempty"`
	Mode        permission.Mode `json:"permissionMode,omitempty"`
	Dir         string          `json:"cwd,omitempty"`
	Worktree    string          `json:"worktreePath,omitempty"`
	Left        string          `json:"leftPath,omitempty"`
	Use         string          `json:"toolUseId,omitempty"`
}

// metaPath returns where what is known of an agent is kept.
func metaPath(folder, id string) string {
	return strings.TrimSuffix(transcript.SidePath(folder, id), ".jsonl") + ".meta.json"
}

// keepMeta keeps what is known of the agent. One of which nothing can be kept works all the same.
func (x *run) keepMeta() {
	folder := x.agents.cfg.Folder()
	if folder == "" || x.birth.Keeper != nil {
		return
	}
	b := x.birth
	m := meta{Type: x.kind, Description: b.Title, Model: b.Model, Mode: b.Mode, Dir: b.Dir, Left: b.Left, Use: b.Use}
	if b.Tree != nil {
		m.Worktree = b.Tree.Path
	}
	data, err := json.Marshal(m)
	if err == nil {
		path := metaPath(folder, b.ID)
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			err = fsys.WriteAtomic(path, data, 0o600)
		}
	}
	if err != nil {
		x.agents.notKept(err)
	}
}

// notKept says, once, that agents leave nothing behind. They work all the same.
func (a *Agents) notKept(err error) {
	a.unkept.Do(func() {
		a.cfg.Say(fmt.Sprintf("what agents do is not kept, and they cannot be continued after this run of adze: %v", err))
	})
}

// newID returns the id of an agent that is not among the tasks.
func newID() string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	random := make([]byte, 8)
	rand.Read(random) // ok: it never fails
	id := []byte{task.Agent}
	for _, b := range random {
		id = append(id, digits[int(b)%len(digits)])
	}
	return string(id)
}

// Known returns the ids of the agents that can be spoken to, in order.
func (a *Agents) Known() []string {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	ids := slices.Collect(maps.Keys(a.runs))
	a.mu.Unlock()
	if folder := a.cfg.Folder(); folder != "" {
		kept, _ := filepath.Glob(metaPath(folder, "*")) // ok: the pattern is valid
		for _, path := range kept {
			ids = append(ids, strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "agent-"), ".meta.json"))
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// listed returns names as part of a sentence.
func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// ErrUnknown says that there is no such agent.
var ErrUnknown = errors.New("there is no such agent")

// Continue tells an agent something: one that works hears it when its current step is done, one that has ended goes on
// in the background. It returns what to tell the model.
func (a *Agents) Continue(ctx context.Context, id, text string) (string, error) {
	if a == nil || !slices.Contains(a.Known(), id) {
		return "", fmt.Errorf("%w: %s; there are %s", ErrUnknown, tool.OneLine(id, 80), listed(a.Known()))
	}
	a.mu.Lock()
	x := a.runs[id]
	a.mu.Unlock()
	if x != nil {
		if sent, err := x.send(ctx, text); sent || err != nil {
			return a.said("sent", id, err)
		}
		<-x.done // it is about to end
	}
	r, err := a.again(id, x)
	if err != nil {
		return "", err
	}
	r.Prompt, r.Background = text, true
	_, err = a.Launch(ctx, *r, nil)
	return a.said("resumed", id, err)
}

func (a *Agents) said(name, id string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return catalogue.Text(a.cfg.Language(), name, id), nil
}

// send tells an agent that works something, and reports whether it still hears it.
func (x *run) send(ctx context.Context, text string) (bool, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended || x.worker == nil {
		return false, nil
	}
	return true, x.worker.Session.Submit(ctx, session.FollowUp{Parts: []msg.Part{&msg.Text{Text: text}}, Quoted: true})
}

// again returns the request that continues an agent: x, or one of an earlier process if x is nil.
func (a *Agents) again(id string, x *run) (*Request, error) {
	r := &Request{}
	if x != nil {
		r.Birth, r.Definition = x.birth, x.birth.Definition
		r.Birth.Tree = nil
		r.Use, r.Description = x.use, x.birth.Title
	} else if err := a.readMeta(id, r); err != nil {
		return nil, err
	}
	if r.Birth.Keeper != nil {
		return nil, errors.New("an agent that looks after memories is not continued")
	}
	r.Birth.ID, r.Birth.Asks, r.Birth.Again = id, nil, true
	if r.Definition == nil && upToAnswer(a.cfg.Session().Conversation(), r.Birth.Use) == nil {
		return nil, fmt.Errorf("the agent %s cannot go on: %w", id, errNoAnswer)
	}
	if r.Definition != nil && r.Definition.OneShot {
		return nil, fmt.Errorf("an agent of the type %s is not continued: launch another one", r.Definition.Name)
	}
	if dir := r.Birth.Dir; dir != "" {
		if err := checkDir(dir); err != nil {
			return nil, fmt.Errorf("the agent %s cannot go on: %w", id, err)
		}
	}
	return r, nil
}

// readMeta completes a request with what was kept of an agent.
func (a *Agents) readMeta(id string, r *Request) error {
	data, err := os.ReadFile(metaPath(a.cfg.Folder(), id))
	if err != nil {
		return err
	}
	var m meta
	if err := json.Unmarshal(data, &m); err != nil {
		return fmt.Errorf("what was kept of the agent %s cannot be read: %w", id, err)
	}
	if m.Type != forkType {
		if r.Definition = a.cfg.Definitions().Get(m.Type); r.Definition == nil {
			return fmt.Errorf("the agent %s cannot go on: %w", id, a.unknown(m.Type))
		}
	}
	r.Birth = Birth{ID: id, Title: m.Description, Model: m.Model, Mode: m.Mode, Dir: m.Dir, Left: m.Left, Use: m.Use}
	r.Description, r.Use = m.Description, m.Use
	return nil
}

// Working returns the agents at work with what they do, for the user.
func (a *Agents) Working() []desk.AtWork {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	var list []desk.AtWork
	for id, x := range a.runs {
		x.mu.Lock()
		if !x.ended {
			list = append(list, desk.AtWork{ID: id, Type: x.kind, Title: x.birth.Title, Calls: x.calls, Last: x.last})
		}
		x.mu.Unlock()
	}
	slices.SortFunc(list, func(a, b desk.AtWork) int { return strings.Compare(a.ID, b.ID) })
	return list
}
