package agents

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"adze/internal/permission"
	"adze/internal/platform/fs/fsys"
	"adze/internal/session/transcript"
)

// A meta is the record stored next to an agent's conversation so that it can be continued.
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

// records stores the records of a session's agents. It is safe for concurrent use.
type records struct {
	folder func() string // session directory; "" stores nothing
	say    func(string)
	unkept sync.Once // the user was notified that nothing is stored
}

// keep stores an agent's record. A failure does not stop the agent.
func (k *records) keep(kind string, b *Spec) {
	folder := k.folder()
	if folder == "" || b.MemoryTask != nil || b.ForHook {
		return
	}
	m := meta{Type: kind, Description: b.Title, Model: b.Model, Mode: b.Mode, Dir: b.Dir, Left: b.Left, Use: b.Use}
	if b.Tree != nil {
		m.Worktree = b.Tree.Path
	}
	data, err := json.Marshal(m)
	if err == nil {
		path := transcript.MetaPath(folder, b.ID)
		if err = fsys.MkdirPrivate(filepath.Dir(path)); err == nil {
			err = fsys.WriteUnsynced(path, data, 0o600) // the agent's log syncs it with its first records
		}
	}
	if err != nil {
		k.notKept(err)
	}
}

// drop removes the record of an agent that has not started.
func (k *records) drop(id string) {
	if folder := k.folder(); folder != "" {
		os.Remove(transcript.MetaPath(folder, id)) // ok: may not exist
	}
}

// notKept reports, once, that agent records are not stored. The agents run anyway.
func (k *records) notKept(err error) {
	k.unkept.Do(func() {
		k.say(fmt.Sprintf("agent records can't be saved, so agents can't be continued in a later run: %v", err))
	})
}

// ids returns the IDs of the agents with a record.
func (k *records) ids() []string {
	folder := k.folder()
	if folder == "" {
		return nil
	}
	return transcript.KeptAgents(folder)
}

// read returns an agent's record: the name of its type and its launch parameters.
func (k *records) read(id string) (kind string, b Spec, err error) {
	data, err := os.ReadFile(transcript.MetaPath(k.folder(), id))
	if err != nil {
		return "", b, err
	}
	var m meta
	if err := json.Unmarshal(data, &m); err != nil {
		return "", b, fmt.Errorf("reading the record of agent %s: %w", id, err)
	}
	return m.Type, Spec{ID: id, Title: m.Description, Model: m.Model, Mode: m.Mode, Dir: m.Dir, Left: m.Left, Use: m.Use}, nil
}
