package memory

import (
	"context"

	"adze/internal/feature/agents"
	"adze/internal/msg"
	"adze/internal/permission/mode"
	"adze/internal/platform/proc/task"
	agenttool "adze/internal/tools/agent"
)

// maxSaves limits the requests of a fork that saves memories.
const maxSaves = 8

// extract lets a fork save memories the model missed, unless one is already running.
func (d *Consolidator) extract(ctx context.Context) {
	said := d.cfg.Session().Conversation()
	if !d.take(said) {
		return
	}
	r := agents.Request{
		Input: agenttool.Input{Description: "Save memories", Prompt: catalogue.Text(d.cfg.Language(), "extract", d.cfg.Memory.Folder.Dir), Background: true},
		Spec:  agents.Spec{Mode: mode.DontAsk, MemoryTask: &agents.MemoryTask{Kind: task.Agent, MaxTurns: maxSaves, From: said}},
	}
	d.wg.Add(1)
	r.Spec.MemoryTask.Ended = func(_ agents.Outcome, err error) {
		d.logged("saving memories", err)
		d.free()
	}
	if _, err := d.cfg.Launch(ctx, r, nil); err != nil {
		d.logged("saving memories", err)
		d.free()
	}
}

// take reports whether there are entries that no fork has seen and no fork is running.
func (d *Consolidator) take(said []msg.Entry) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(said) == 0 || d.busy {
		return false
	}
	last := said[len(said)-1]
	if last.Message.Role != msg.Assistant || len(last.Message.Uses()) > 0 || last.ID == d.heard {
		return false
	}
	d.busy, d.heard = true, last.ID
	return true
}

func (d *Consolidator) free() {
	d.mu.Lock()
	d.busy = false
	d.mu.Unlock()
	d.wg.Done()
}
