package subagents

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"adze/internal/app/transcript"
	"adze/internal/permission"
	"adze/internal/platform/fsys"
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

// Records are what is kept of the agents of a session. It is safe for concurrent use.
type records struct {
	folder func() string // where what belongs to the session is kept; "" keeps nothing
	say    func(string)
	unkept sync.Once // the user was told that nothing is kept
}

// keep keeps what is known of an agent of a kind. One of which nothing can be kept works all the same.
func (k *records) keep(kind string, b *Birth) {
	folder := k.folder()
	if folder == "" || b.Keeper != nil || b.Check {
		return
	}
	m := meta{Type: kind, Description: b.Title, Model: b.Model, Mode: b.Mode, Dir: b.Dir, Left: b.Left, Use: b.Use}
	if b.Tree != nil {
		m.Worktree = b.Tree.Path
	}
	data, err := json.Marshal(m)
	if err == nil {
		path := transcript.MetaPath(folder, b.ID)
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			err = fsys.WriteUnsynced(path, data, 0o600) // the log of the agent syncs it with its first records
		}
	}
	if err != nil {
		k.notKept(err)
	}
}

// drop forgets an agent that has not begun.
func (k *records) drop(id string) {
	if folder := k.folder(); folder != "" {
		os.Remove(transcript.MetaPath(folder, id)) // ok: it may not be there
	}
}

// notKept says, once, that agents leave nothing behind. They work all the same.
func (k *records) notKept(err error) {
	k.unkept.Do(func() {
		k.say(fmt.Sprintf("what agents do is not kept, and they cannot be continued after this run of adze: %v", err))
	})
}

// ids returns the ids of the agents of which something is kept.
func (k *records) ids() []string {
	folder := k.folder()
	if folder == "" {
		return nil
	}
	return transcript.KeptAgents(folder)
}

// read returns what was kept of an agent: the name of its kind, and what it began with.
func (k *records) read(id string) (kind string, b Birth, err error) {
	data, err := os.ReadFile(transcript.MetaPath(k.folder(), id))
	if err != nil {
		return "", b, err
	}
	var m meta
	if err := json.Unmarshal(data, &m); err != nil {
		return "", b, fmt.Errorf("what was kept of the agent %s cannot be read: %w", id, err)
	}
	return m.Type, Birth{ID: id, Title: m.Description, Model: m.Model, Mode: m.Mode, Dir: m.Dir, Left: m.Left, Use: m.Use}, nil
}
