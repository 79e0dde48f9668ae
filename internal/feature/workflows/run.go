package workflows

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"adze/internal/domain/workflow"
	"adze/internal/feature/agents"
	"adze/internal/feature/agents/builtin"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/lockfile"
	"adze/internal/platform/proc/task"
	"adze/internal/tool"
	"adze/internal/tool/schema/draft"
	agenttool "adze/internal/tools/agent"
	workflowtool "adze/internal/tools/workflow"
)

// A run is the execution of a workflow.
type run struct {
	owner *Workflows
	task  *task.Task
	key   string
	steps *workflow.Run
	lock  *os.File // journal lock; nil if no journal is kept

	mu            sync.Mutex
	tokens, calls int
}

// keyOf returns the key of a workflow's run with these inputs, which is also a file name.
func keyOf(w *workflow.Workflow, inputs map[string]string) (string, error) {
	id, err := workflow.Identify(w, inputs)
	if err != nil {
		return "", err
	}
	return w.Name + "-" + id[:16], nil
}

// journal returns the path of a run's journal, or "".
func (ws *Workflows) journal(key string) string {
	if folder := ws.cfg.Folder(); folder != "" {
		return filepath.Join(folder, "workflows", key+".jsonl")
	}
	return ""
}

// open claims the run and opens its journal.
func (r *run) open(w *workflow.Workflow, in workflowtool.Input) error {
	if err := r.claim(); err != nil {
		return err
	}
	path := r.owner.journal(r.key)
	err := r.hold(path)
	var j *workflow.Journal
	if err == nil {
		j, err = openJournal(path, w, in)
	}
	if err != nil {
		r.release()
		return err
	}
	r.steps = &workflow.Run{Workflow: w, Inputs: in.Inputs, Runner: r, Journal: j, Compile: r.owner.compile, Report: r.report}
	return nil
}

// openJournal opens the journal of an unfinished run. If the run has ended, or should start
// over, its journal is removed first.
func openJournal(path string, w *workflow.Workflow, in workflowtool.Input) (*workflow.Journal, error) {
	if path == "" {
		return workflow.OpenJournal("", w, in.Inputs)
	}
	if _, ended, err := workflow.ReadHead(path); in.Restart || err == nil && ended {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	j, err := workflow.OpenJournal(path, w, in.Inputs)
	if err != nil {
		return nil, fmt.Errorf("%w (%s; restart begins from the first step)", err, path)
	}
	return j, nil
}

// hold locks the journal against other processes until the run is released.
func (r *run) hold(path string) (err error) {
	if path == "" {
		return nil
	}
	if err = fsys.MkdirPrivate(filepath.Dir(path)); err != nil {
		return err
	}
	r.lock, err = lockfile.Try(path + ".lock")
	if errors.Is(err, lockfile.ErrLocked) {
		return fmt.Errorf("the workflow runs with the same inputs already, in another run of adze (%s): wait for its end, or stop it there", lockfile.Holder(path+".lock"))
	}
	return err
}

// claim ensures that the same run is not in progress.
func (r *run) claim() error {
	ws := r.owner
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if id := ws.running[r.key]; id != "" {
		return fmt.Errorf("the workflow runs with the same inputs already, as task %s: wait for its end, or stop it", id)
	}
	ws.running[r.key] = r.task.ID
	return nil
}

func (r *run) release() {
	r.owner.mu.Lock()
	defer r.owner.mu.Unlock()
	delete(r.owner.running, r.key)
	if r.lock != nil {
		r.lock.Close() // ok: nothing of value was written
	}
}

// close releases the run's resources.
func (r *run) close() {
	r.steps.Journal.Close() // ok: every line is on disk
	r.release()
}

// work executes the steps and describes the outcome.
func (r *run) work() (string, error) {
	began := time.Now()
	last, err := r.steps.Do(r.task.Context())
	if err == nil {
		err = r.steps.Journal.Finish()
	}
	r.close()
	text := last.Text
	if last.Value != nil {
		text = string(last.Value)
	}
	result := text
	if err != nil {
		result = err.Error()
		r.task.Remark("Started again with the same inputs in this session, the workflow continues with the step that did not finish.")
	}
	r.mu.Lock()
	report := task.Report{Result: cmp.Or(result, "No step ran."), Tokens: r.tokens, Calls: r.calls, Took: time.Since(began).Round(time.Millisecond)}
	r.mu.Unlock()
	r.task.Conclude(report)
	switch {
	case err == nil:
		r.print(text)
		r.task.End(task.Completed, "")
	case r.task.Stopped():
		r.task.End(task.Killed, "stopped")
	default:
		r.task.End(task.Failed, tool.OneLine(err.Error(), 200))
	}
	return report.Result, err
}

// report writes a step's state to the task's output.
func (r *run) report(p workflow.Progress) {
	line := fmt.Sprintf("%s: %s", p.Step, p.State)
	if p.Err != nil {
		line += ": " + tool.OneLine(p.Err.Error(), 500)
	}
	r.print(line)
}

func (r *run) print(line string) {
	r.task.Output.Write([]byte(line + "\n")) // ok: the journal is authoritative
}

// Run implements [workflow.Runner] with a sub-agent.
func (r *run) Run(ctx context.Context, c workflow.Call) (workflow.Result, error) {
	in := agenttool.Input{
		Description: r.steps.Workflow.Name + ": " + c.Step, Prompt: c.Prompt, Type: cmp.Or(c.Agent, builtin.General), Model: c.Model,
	}
	if c.Worktree {
		in.Isolation = "worktree"
	}
	out, err := r.owner.cfg.Launch(ctx, agents.Request{
		Input: in, Use: r.task.CallID, Wait: true, Spec: agents.Spec{Schema: c.Schema},
	}, nil)
	if out != nil {
		r.mu.Lock()
		r.tokens, r.calls = r.tokens+out.Tokens, r.calls+out.Calls
		r.mu.Unlock()
	}
	if err != nil {
		return workflow.Result{}, err
	}
	result := workflow.Result{Text: out.Text, Value: out.Output}
	if out.Worktree != "" {
		where := fmt.Sprintf("The changes of the step %s are in the worktree %s, on the branch %s.", c.Step, out.Worktree, out.Branch)
		r.print(where)
		result.Text = strings.TrimSpace(result.Text + "\n\n" + where)
	}
	return result, nil
}

// compile compiles a schema once.
func (ws *Workflows) compile(source json.RawMessage) (*draft.Schema, error) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if s := ws.schemas[string(source)]; s != nil {
		return s, nil
	}
	s, err := draft.Compile(source)
	if err == nil {
		ws.schemas[string(source)] = s
	}
	return s, err
}
