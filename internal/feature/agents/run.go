package agents

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"adze/internal/agent"
	"adze/internal/feature/agents/builtin"
	"adze/internal/msg"
	"adze/internal/platform/proc/task"
	"adze/internal/platform/text/amount"
	"adze/internal/session"
	"adze/internal/tool"
)

// An Outcome is the result of a launch.
type Outcome struct {
	ID, Type, Title string
	// Launched is true if the agent continues in the background; then only the identity and
	// OutputFile are set.
	Launched   bool
	OutputFile string

	Text   string // report
	Output []byte // structured output if a schema was given, or nil
	Tokens int
	Calls  int
	Took   time.Duration
	// Worktree and Branch locate the agent's changes if they are not in the working directory;
	// Note gives details.
	Worktree, Branch, Note string
	OneShot                bool
	// Began is true if the agent started working, and Continues if it can be continued.
	Began, Continues bool
	// Warning precedes the report.
	Warning string
	// Remark is additional text for the model. Absent lists the MCP servers that were
	// unavailable.
	Remark string
	Absent []string
	// Ended lists the background commands it left running, which were ended with it.
	Ended []string
}

// A run is a running or finished agent.
type run struct {
	agents    *Agents
	spec      Spec
	kind      string // type name
	prompt    string
	use       string
	task      *task.Task // nil if background tasks are off
	life      context.Context
	halt      context.CancelCauseFunc // cancels life if task is nil
	report    func(tool.Progress)
	limit     time.Duration
	asks      atomic.Bool
	mayPrompt bool // may prompt in the background too

	began time.Time

	mu       sync.Mutex
	worker   *Worker // nil before opening and after the end
	ended    bool
	activity activity
	outcome  Outcome
	err      error
	done     chan struct{}
}

// An activity tracks an agent's work.
type activity struct {
	calls       int
	lately      []string // last calls, for the review of the report
	tool, title string   // last tool called, and its title
	summary     string   // model-written summary; may be empty
	steps       []string
	fresh       bool // there were steps since the last summary started
}

// Launch runs an agent. It waits for the end, unless the agent is in the background or moves
// there.
func (a *Agents) Launch(ctx context.Context, r Request, report func(tool.Progress)) (*Outcome, error) {
	if err := a.settle(&r); err != nil {
		return nil, err
	}
	behind, remark := r.background(&a.cfg)
	if err := a.cfg.Limiter.full(); err != nil && !r.Spec.ForHook {
		return nil, err
	}
	x, err := a.begin(ctx, r, behind)
	if err != nil {
		return nil, err
	}
	x.report = report
	if r.Wait && x.task != nil {
		x.task.Stay()
	}
	if behind {
		if err := x.task.ToBackground(); err != nil {
			x.task.End(task.Failed, "it did not begin")
			return nil, err
		}
		x.behind()
	}
	x.news(session.TaskBegan)
	go x.work(r.Isolation == "worktree" || r.Definition != nil && r.Definition.Worktree, r.Use)
	if behind {
		return x.launched(), nil
	}
	unblock := a.block()
	out, err := x.wait(ctx, r.Wait)
	unblock()
	if out != nil {
		out.Remark = remark
	}
	return out, err
}

// begin creates the run for a request.
func (a *Agents) begin(ctx context.Context, r Request, behind bool) (*run, error) {
	x := &run{agents: a, spec: r.Spec, kind: kindOf(r.Definition), prompt: r.Prompt, use: r.Use, mayPrompt: r.MayPrompt || r.Definition == nil && r.Spec.MemoryTask == nil, done: make(chan struct{}), began: time.Now()}
	x.spec.MaxTurns, x.limit = r.limits(a.cfg.Settings())
	x.spec.Background, x.spec.Use = behind, r.Use
	x.asks.Store(true)
	x.spec.Asks, x.spec.OnSaveError = x.asks.Load, a.records.notKept
	if a.cfg.Tasks == nil || r.Spec.ForHook {
		x.spec.ID = newID()
		x.life, x.halt = context.WithCancelCause(context.Background())
	} else {
		var err error
		if r.Spec.ID != "" {
			x.task, err = a.cfg.Tasks.Again(ctx, r.Spec.ID, r.Spec.Title)
		} else {
			x.task, err = a.cfg.Tasks.Begin(ctx, r.Spec.MemoryTask.kind(), r.Spec.Title, "")
		}
		if err != nil {
			return nil, err
		}
		task.RunsFor(x.task, r.Use)
		x.spec.ID = x.task.ID
		x.life = x.task.Context()
		if r.Spec.MemoryTask != nil {
			task.SuppressNotice(x.task)
		}
	}
	if r.Spec.ForHook {
		return x, nil // cannot be messaged
	}
	a.mu.Lock()
	a.runs[x.spec.ID] = x
	a.mu.Unlock()
	return x, nil
}

// newID returns an ID for an agent that is not in the task table.
func newID() string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	random := make([]byte, 8)
	rand.Read(random) // ok: never fails
	id := []byte{task.Agent}
	for _, b := range random {
		id = append(id, digits[int(b)%len(digits)])
	}
	return string(id)
}

// behind marks the agent as running in the background, where only some may prompt.
func (x *run) behind() { x.asks.Store(x.mayPrompt) }

// launched returns the outcome of a run that continues.
func (x *run) launched() *Outcome {
	return &Outcome{ID: x.spec.ID, Type: x.kind, Title: x.spec.Title, Launched: true, OutputFile: x.task.Output.Path()}
}

// wait waits until the agent ends or moves to the background. If ctx is done, the agent is
// stopped.
func (x *run) wait(ctx context.Context, stays bool) (*Outcome, error) {
	var detached <-chan struct{}
	var slow <-chan time.Time
	if x.task != nil && !stays {
		detached = x.task.Detached()
		if wait := x.agents.cfg.Settings().Wait; wait > 0 {
			t := time.NewTimer(wait)
			defer t.Stop()
			slow = t.C
		}
	}
	for {
		select {
		case <-x.done:
			return x.end()
		case <-ctx.Done():
			x.stop(ctx)
			<-x.done
			return nil, context.Cause(ctx)
		case <-detached:
		case <-slow:
		}
		if x.task.ToBackground() == nil {
			x.behind()
			x.news(session.TaskMoved)
			return x.launched(), nil
		}
	}
}

// end returns the outcome of a finished run.
func (x *run) end() (*Outcome, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	out := x.outcome
	return &out, x.err
}

func (x *run) stop(ctx context.Context) {
	if x.task != nil {
		x.task.Stop()
		return
	}
	x.halt(tool.AbortReason(ctx))
}

// work runs the agent's task from its first record to its last.
func (x *run) work(tree bool, use string) {
	defer close(x.done)
	out, err := x.admitted(tree)
	out.ID, out.Type, out.Title, out.Took = x.spec.ID, x.kind, x.spec.Title, time.Since(x.began).Round(time.Millisecond)
	out.OneShot = x.spec.Definition != nil && x.spec.Definition.OneShot
	out.Continues = out.Began && !out.OneShot && continuable(err) && (x.spec.Dir == "" || checkDir(x.spec.Dir) == nil)
	if x.kind == builtin.Verification && err == nil {
		x.judge(&out)
	}
	x.handOff(&out)
	if !out.Began && !x.spec.Resumed {
		x.agents.forget(x)
	}
	x.mu.Lock()
	out.Calls = x.activity.calls
	x.outcome, x.err = out, err
	x.mu.Unlock()
	x.conclude(out, err)
	x.report = nil // holds a reference to the launching turn
}

// forget drops an agent that has not started, with its record and its worktree.
func (a *Agents) forget(x *run) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.runs, x.spec.ID)
	a.records.drop(x.spec.ID)
}

// judge completes the verification agent's report: a missing verdict counts as a failure.
func (x *run) judge(out *Outcome) {
	if _, stated := builtin.ReadVerdict(out.Text); !stated {
		out.Text = strings.TrimSpace(out.Text + "\n\n" + catalogue.Text(x.agents.cfg.Language(), "unjudged"))
	}
	x.agents.cfg.Judged()
}

// admitted waits for a slot and then runs the agent.
func (x *run) admitted(tree bool) (Outcome, error) {
	ctx, most := x.life, x.agents.cfg.Settings().Most
	if x.spec.ForHook {
		most = 0
	}
	if err := x.agents.cfg.Limiter.acquire(ctx, most); err != nil {
		return Outcome{}, err
	}
	defer x.agents.cfg.Limiter.release()
	if x.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, x.limit, fmt.Errorf("it did not end within %v (agents.timeoutMs)", x.limit))
		defer cancel()
	}
	return x.try(ctx, tree)
}

// try opens the agent's conversation, runs it and closes it.
func (x *run) try(ctx context.Context, tree bool) (out Outcome, err error) {
	cfg := &x.agents.cfg
	d := x.spec.Definition
	if d != nil && len(d.Required) > 0 {
		if err := cfg.Servers.Ready(ctx, d); err != nil {
			return out, err
		}
	}
	if tree {
		if x.spec.Tree, err = cfg.Tree(ctx, x.spec.ID); err != nil {
			return out, fmt.Errorf("no worktree for the agent: %w", err)
		}
		x.spec.Dir, x.spec.Left = x.spec.Tree.Path, x.spec.Tree.Root
		defer func() { x.leaveTree(&out) }()
	}
	x.agents.records.keep(x.kind, &x.spec)
	w, err := cfg.Open(ctx, x.spec)
	if err != nil {
		return out, fmt.Errorf("opening its conversation: %w", err)
	}
	x.mu.Lock()
	x.worker = w
	x.mu.Unlock()
	defer func() {
		x.mu.Lock()
		x.worker, x.ended = nil, true
		x.mu.Unlock()
		out.Tokens, out.Absent, out.Ended, out.Began = w.Tokens(), w.Absent(), w.Running(), true
		w.Close()
	}()
	return x.converse(ctx, w)
}

// leaveTree releases the agent's worktree.
func (x *run) leaveTree(out *Outcome) {
	t := x.spec.Tree
	kept, note, err := t.Finish(context.Background())
	if err != nil {
		note = strings.TrimSpace(note + " " + err.Error())
	}
	if kept && checkDir(t.Path) == nil {
		out.Worktree, out.Branch = t.Path, t.Branch
	}
	out.Note = note
}

// converse submits the task and follows the conversation to its end.
func (x *run) converse(ctx context.Context, w *Worker) (out Outcome, err error) {
	s := w.Session
	watch, leave := context.WithCancel(context.Background())
	defer leave()
	defer context.AfterFunc(ctx, func() {
		s.Interrupt(session.Interrupt{Queued: true, Cause: causeOf(ctx)})
		s.Idle(watch) // ok: the conversation has ended then
		leave()       // a prompt whose turn had not begun is withdrawn and produces no end event
	})()
	text := x.prompt
	switch l, t := x.agents.cfg.Language(), x.spec.Tree; {
	case x.spec.Definition == nil && t != nil:
		text = builtin.ForkIn(l, text, t.Path, t.Root)
	case x.spec.Definition == nil:
		text = builtin.Fork(l, text)
	}
	from, before := s.Last(), len(s.Conversation())
	if err := s.Submit(ctx, session.Prompt{Parts: []msg.Part{&msg.Text{Text: text}}, Quoted: true}); err != nil {
		return out, err
	}
	go x.summarise(watch)
	ended, failed := x.follow(watch, s, from)
	out.Text, out.Output = lastWords(since(s.Conversation(), before)), ended.Output
	switch {
	case ctx.Err() != nil:
		return out, context.Cause(ctx)
	case !ended.Reason.OK():
		return out, x.spec.ending(ended, failed)
	}
	return out, nil
}

// causeOf returns why an agent is interrupted.
func causeOf(ctx context.Context) tool.Abort {
	var cause tool.Abort
	if errors.As(context.Cause(ctx), &cause) {
		return cause
	}
	return tool.AbortUser
}

// follow publishes the agent's activity until it is idle, and returns how its turn ended and
// the causing error, if any.
func (x *run) follow(ctx context.Context, s *session.Session, from session.Seq) (ended agent.Ended, failed error) {
	ended.Reason = agent.AbortedStreaming
	for e := range s.Entries(ctx, from, session.Latest) {
		switch ev := e.Event.(type) {
		case session.Loop:
			if f, ok := ev.Event.(agent.Failed); ok {
				failed = f.Err
			}
			x.tell(ev.Event)
		case session.SubagentEvent, session.Task:
			x.agents.publisher.pass(x.spec.ID, ev)
		case session.Finished:
			if ev.Local != nil {
				continue
			}
			ended = ev.Ended
			if x.finish(s, e.Seq) {
				return ended, failed
			}
		}
	}
	return ended, failed
}

// finish marks the agent as ended, unless another turn follows the one that finished at the given
// entry. It reports whether it did. Input that arrives later resumes the agent.
func (x *run) finish(s *session.Session, at session.Seq) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	for {
		now, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		err := s.Idle(now)
		cancel()
		if err == nil {
			x.ended = true
			return true
		}
		if started(s, at) {
			return false
		}
	}
}

// started reports whether a turn began after an entry.
func started(s *session.Session, after session.Seq) bool {
	last := s.Last()
	if last <= after {
		return false
	}
	for e := range s.Entries(context.Background(), after, session.Latest) {
		if _, ok := e.Event.(session.Started); ok {
			return true
		}
		if e.Seq >= last {
			break
		}
	}
	return false
}

// tell forwards the agent's events to its output, its caller and the session's followers.
func (x *run) tell(ev agent.Event) {
	switch ev := ev.(type) {
	case agent.ToolStarted:
		x.mu.Lock()
		x.activity.note(ev.Use)
		x.activity.tool, x.activity.title = ev.Use.Name, ev.Title
		x.activity.step(ev.Title)
		n := x.activity.calls
		x.mu.Unlock()
		x.print("> " + ev.Title + "\n")
		if x.report != nil && x.asksNow() {
			x.report(tool.Progress{Display: tool.Plain{Text: fmt.Sprintf("%s, %s: %s", x.kind, amount.Of(n, "call", "calls"), ev.Title)}})
		}
	case agent.Appended:
		if ev.Entry.Message.Role == msg.Assistant {
			if text := strings.TrimSpace(ev.Entry.Message.Text()); text != "" {
				x.mu.Lock()
				x.activity.step(text)
				x.mu.Unlock()
				x.print(text + "\n\n")
			}
		}
	case agent.ToolDone, agent.Failed:
	default:
		return
	}
	if x.spec.ForHook {
		return
	}
	x.agents.publisher.tell(session.SubagentEvent{ID: x.spec.ID, Type: x.kind, Title: x.spec.Title, Use: x.use, Event: ev})
	if _, ok := ev.(agent.ToolStarted); ok {
		x.news(session.TaskWorks)
	}
}

// asksNow reports whether a caller is waiting for the agent.
func (x *run) asksNow() bool { return x.task == nil || !x.task.Background() }

func (x *run) print(text string) {
	if x.task != nil {
		x.task.Output.Write([]byte(text)) // ok: the transcript is complete
	}
}

// conclude publishes how the run ended.
func (x *run) conclude(out Outcome, err error) {
	x.spec.MemoryTask.end(out, err)
	x.agents.publisher.end(x.spec.ID)
	defer x.news(session.TaskEnded)
	if x.task == nil {
		return
	}
	text := out.Text
	if err != nil {
		text = strings.TrimSpace(err.Error() + "\n\n" + text)
	}
	if text == "" {
		text = catalogue.Text(x.agents.cfg.Language(), "nothing")
	}
	text = strings.Join(appendText(nil, out.Warning, text, out.asides(x.agents.cfg.Language()), out.Note), "\n\n")
	r := task.Report{Result: text, Worktree: out.Worktree, Branch: out.Branch, Tokens: out.Tokens, Calls: out.Calls, Took: out.Took}
	x.task.Conclude(r)
	if out.Continues {
		x.task.Remark(catalogue.Text(x.agents.cfg.Language(), "continue", x.spec.ID))
	}
	switch {
	case err == nil:
		x.task.End(task.Completed, "")
	case x.task.Stopped():
		x.task.End(task.Killed, "stopped")
	default:
		x.task.End(task.Failed, tool.OneLine(err.Error(), 200))
	}
}

// since returns the entries after the first n. If there are fewer, because the conversation was
// compacted, it returns all.
func since(entries []msg.Entry, n int) []msg.Entry {
	if n > len(entries) {
		return entries
	}
	return entries[n:]
}

// lastWords returns the text of the last non-empty answer.
func lastWords(entries []msg.Entry) string {
	for i := len(entries) - 1; i >= 0; i-- {
		if m := entries[i].Message; m.Role == msg.Assistant {
			if text := strings.TrimSpace(m.Text()); text != "" {
				return text
			}
		}
	}
	return ""
}

// checkDir returns an error if an agent cannot work in a directory.
func checkDir(dir string) error {
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("%q is not an absolute path", dir)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("no directory %s", dir)
	}
	return nil
}
