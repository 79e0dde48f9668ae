// Package task keeps the table of what runs beside the conversation: each task with its output in a
// file, its state, and exactly one notice of its end. It does not know what a task does: the package that
// begins one runs it, and others read, stop and announce it.
package task

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Status is where a task is in its life.
type Status string

// The states. The last three are final.
const (
	Running   Status = "running"
	Completed Status = "completed"
	Failed    Status = "failed"
	Killed    Status = "killed"
)

const (
	// MaxRunning is how many tasks may run in the background at once, unless [Table.Allow] says otherwise.
	MaxRunning = 32
	// keep is how many tasks that have ended are remembered.
	keep = 200
)

// The letters that the ids of tasks begin with.
const (
	Shell    = 'b' // a command
	Agent    = 'a' // a sub-agent
	Teammate = 't' // a member of a team
	Workflow = 'w' // the steps of a workflow
	Monitor  = 'm' // what is watched
	Dream    = 'd' // the consolidation of memory
)

// nouns are what the kinds of tasks are called.
var nouns = map[byte]string{
	Shell: "Background command", Agent: "Sub-agent", Teammate: "Teammate", Workflow: "Steps of", Monitor: "Watched command", Dream: "Consolidation of memory",
}

// noun returns what a task is called.
func (task *Task) noun() string { return nouns[task.ID[0]] }

// A Table holds the tasks of a session. It is safe for concurrent use.
type Table struct {
	dir    string
	notify func(Notice)

	mu     sync.Mutex
	tasks  map[string]*Task // those in the background, and those that have ended there
	all    map[*Task]bool   // everything that runs
	below  []*Table         // of conversations that work for this one
	open   int              // tasks in the background that are waited for, and whose end was not announced yet
	news   chan struct{}    // closed by the next announcement
	closed bool
	most   int // how many may run in the background at once
	follow func(task *Task, ended bool)
	strays strays

	telling sync.Mutex // held while follow is told
}

// New returns a table whose tasks write their output to files in dir, which is made when it is first
// needed. Notify is called when a background task ends, once for each, from any goroutine. It may be
// nil.
func New(dir string, notify func(Notice)) *Table {
	return &Table{dir: dir, notify: notify, tasks: make(map[string]*Task), all: make(map[*Task]bool), news: make(chan struct{}), most: MaxRunning}
}

// Follow has a func called when a task has gone to the background, and then when it has ended. It is set before the first
// task begins.
func (t *Table) Follow(f func(task *Task, ended bool)) { t.follow = f }

// Allow lets so many tasks run in the background at once, if that is more than [MaxRunning].
func (t *Table) Allow(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.most = max(n, MaxRunning)
}

// A Task is something that runs. In the foreground its caller waits for it, and it is not listed.
type Task struct {
	ID      string
	Title   string // for the user and the model: a description, or else the command
	Command string
	CallID  string // of the tool use that began it, if known; see [RunsFor]
	Output  *Output
	Started time.Time
	// Limit is how long it may run while [Table.Await] waits for it; 0 means as long as it takes. It is set before the task
	// goes to the background.
	Limit time.Duration

	table  *Table
	ctx    context.Context
	cancel context.CancelCauseFunc
	done   chan struct{}
	detach chan struct{} // asks the waiting caller to leave it running

	mu         sync.Mutex
	background bool
	stays      bool // it cannot go to the background
	stopped    bool // it was asked to end
	status     Status
	ending     ending
	report     *Report
	out        handed
	waiting    int  // calls that will report the end themselves
	held       bool // the end was not announced because of them
}

// A handed says how much of the output was handed out, and how much of it [Tell] has told.
type handed struct{ read, told int64 }

// An ending is how a task ended.
type ending struct {
	words  string
	remark string // what else there is to say about that
	why    string // why it was stopped, if that is to be told
	quiet  bool   // it is not announced
	at     time.Time
}

// ErrStopped is the cause with which a stopped task is cancelled.
var ErrStopped = errors.New("the task was stopped")

// Begin makes a task in the foreground. The file for its output is made by [Output.Make], by the first
// byte, or when it goes to the background. Its context is cancelled by [Task.Stop] and [Table.Close], not
// by ctx, whose values it has. The caller must call [Task.End].
func (t *Table) Begin(ctx context.Context, kind byte, title, command string) (*Task, error) {
	return t.begin(ctx, NewID(kind), title, command)
}

// Again makes a task that continues what one with that id did, in the foreground; see [Table.Begin]. That one must have
// ended, and the new one takes its place.
func (t *Table) Again(ctx context.Context, id, title string) (*Task, error) {
	return t.begin(ctx, id, title, "")
}

func (t *Table) begin(ctx context.Context, id, title, command string) (*Task, error) {
	task := &Task{
		ID: id, Title: title, Command: command, Output: newOutput(t.dir, t.free(id), &t.strays), Started: time.Now(),
		table: t, done: make(chan struct{}), detach: make(chan struct{}, 1), status: Running,
	}
	task.ctx, task.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, errors.New("the session is ending")
	}
	t.all[task] = true
	return task, nil
}

// free returns a name for the output of a task that no earlier one of the same id has.
func (t *Table) free(id string) string {
	name := id
	for n := 2; ; n++ {
		if _, err := os.Lstat(filepath.Join(t.dir, name+suffix)); err != nil {
			return name
		}
		name = fmt.Sprintf("%s-%d", id, n)
	}
}

// RunsFor says which call of a tool a task runs for, before the task is under way.
func RunsFor(task *Task, call string) {
	task.table.mu.Lock()
	defer task.table.mu.Unlock()
	task.CallID = call
}

// NewID returns one letter and eight random digits in base 36.
func NewID(kind byte) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	id := []byte{kind}
	random := make([]byte, 8)
	rand.Read(random) // ok: it never fails
	for _, b := range random {
		id = append(id, digits[int(b)%len(digits)])
	}
	return string(id)
}

// Context returns the context to run the task in.
func (task *Task) Context() context.Context { return task.ctx }

// Done is closed when the task has ended.
func (task *Task) Done() <-chan struct{} { return task.done }

// Detached receives when the user moves the task to the background.
func (task *Task) Detached() <-chan struct{} { return task.detach }

// Detach asks the caller that waits for a task in the foreground to move it to the background. It reports
// whether there was one.
func (t *Table) Detach() bool { return t.detach(func(*Task) bool { return true }) }

// DetachCall is like [Table.Detach] for the task that a call of a tool waits for.
func (t *Table) DetachCall(id string) bool {
	return t.detach(func(task *Task) bool { return task.CallID == id })
}

func (t *Table) detach(which func(*Task) bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	found := false
	for task := range t.all {
		if !task.Background() && task.movable() && which(task) {
			found = true
			select {
			case task.detach <- struct{}{}:
			default:
			}
		}
	}
	return found
}

// Stay says that the task cannot go to the background.
func (task *Task) Stay() {
	task.mu.Lock()
	defer task.mu.Unlock()
	task.stays = true
}

func (task *Task) movable() bool {
	task.mu.Lock()
	defer task.mu.Unlock()
	return !task.stays
}

// ToBackground lists the task: it goes on by itself, and its end is announced. It fails if there are
// too many already, with their names.
func (task *Task) ToBackground() error {
	task.table.telling.Lock()
	defer task.table.telling.Unlock()
	if err := list(task); err != nil {
		return err
	}
	if f := task.table.follow; f != nil {
		f(task, false)
	}
	return nil
}

func list(task *Task) error {
	t := task.table
	t.mu.Lock()
	defer t.mu.Unlock()
	var running []string
	for _, other := range t.tasks {
		if other.Status() == Running {
			running = append(running, other.ID+" ("+other.Title+")")
		}
	}
	if len(running) >= t.most {
		slices.Sort(running)
		return fmt.Errorf("%d background tasks are running, which is the limit: stop one of them first: %s", len(running), strings.Join(running, ", "))
	}
	task.mu.Lock()
	defer task.mu.Unlock()
	if task.status != Running {
		return errors.New("it has ended")
	}
	if err := task.Output.Make(); err != nil {
		return err
	}
	task.background = true
	t.tasks[task.ID] = task
	if Awaited(task) {
		t.open++
	}
	if t.notify != nil && task.ID[0] == Shell {
		go task.watch()
	}
	return nil
}

// Background reports whether the task goes on by itself.
func (task *Task) Background() bool {
	task.mu.Lock()
	defer task.mu.Unlock()
	return task.background
}

// Status returns where the task is.
func (task *Task) Status() Status {
	task.mu.Lock()
	defer task.mu.Unlock()
	return task.status
}

// Ending returns how the task ended, such as "exit code 1", or "".
func (task *Task) Ending() string {
	task.mu.Lock()
	defer task.mu.Unlock()
	return task.ending.words
}

// Remark keeps what the model has to know about a task that is about to end, beside what it printed: text
// of ours, in which nothing of others can end a block.
func (task *Task) Remark(text string) {
	task.mu.Lock()
	defer task.mu.Unlock()
	task.ending.remark = text
}

// Remarks returns what was kept, or "".
func (task *Task) Remarks() string {
	task.mu.Lock()
	defer task.mu.Unlock()
	return task.ending.remark
}

// Took returns how long the task has run, until now or its end.
func (task *Task) Took() time.Duration {
	task.mu.Lock()
	defer task.mu.Unlock()
	if task.status == Running {
		return time.Since(task.Started)
	}
	return task.ending.at.Sub(task.Started)
}

// Stopped reports whether the task was asked to end.
func (task *Task) Stopped() bool {
	task.mu.Lock()
	defer task.mu.Unlock()
	return task.stopped
}

// Stop asks the task to end. It reports whether it was still running.
func (task *Task) Stop() bool { return task.stop(ErrStopped) }

// StopBecause is like [Task.Stop], and tells why: a sentence of ours, in which nothing of others can end a block.
func StopBecause(task *Task, why string) bool {
	task.mu.Lock()
	if task.status == Running && !task.stopped {
		task.ending.why = why
	}
	task.mu.Unlock()
	return task.Stop()
}

// Quiet says that the end of a task is not announced: who began it tells who has to know.
func Quiet(task *Task) {
	task.mu.Lock()
	defer task.mu.Unlock()
	task.ending.quiet = true
}

// Expect says that a call waits for the end of a shell task and will report it, so that the end is not announced as well. The call
// ends with release; if it does not report the end, that is announced after all.
func Expect(task *Task) (release func(reported bool)) {
	if task.ID[0] != Shell {
		return func(bool) {}
	}
	task.mu.Lock()
	task.waiting++
	task.mu.Unlock()
	return func(reported bool) {
		task.mu.Lock()
		task.waiting--
		late := task.held && !reported && task.waiting == 0
		if task.held = task.held && !late; reported {
			task.held = false
		}
		task.mu.Unlock()
		if late && task.table.notify != nil {
			task.table.notify(task.notice())
		}
	}
}

// stopReason returns why the task was stopped, or "".
func stopReason(task *Task) string {
	task.mu.Lock()
	defer task.mu.Unlock()
	return task.ending.why
}

func (task *Task) stop(cause error) bool {
	task.mu.Lock()
	running := task.status == Running
	task.stopped = task.stopped || running
	task.mu.Unlock()
	task.cancel(cause)
	return running
}

// End records how the task ended, closes its output and announces the end if the task was in the background. Only the first
// call counts. The output can still be read. That of a foreground command stays in memory, for the caller that waited for it.
func (task *Task) End(status Status, ending string) {
	task.mu.Lock()
	if task.status != Running {
		task.mu.Unlock()
		return
	}
	if task.stopped {
		status = Killed
	}
	task.status, task.ending.words, task.ending.at = status, ending, time.Now()
	announce, quiet := task.background, task.ending.quiet
	if announce && !quiet && task.waiting > 0 {
		quiet, task.held = true, true
	}
	task.mu.Unlock()

	task.cancel(nil)
	task.Output.seal()
	if announce || task.ID[0] != Shell {
		task.Output.release()
	}
	t := task.table
	t.mu.Lock()
	delete(t.all, task)
	closed := t.closed
	t.forget()
	t.mu.Unlock()
	if announce && !closed && t.follow != nil {
		t.telling.Lock() // it was told that the task is in the background
		t.follow(task, true)
		t.telling.Unlock()
	}
	close(task.done)
	if announce {
		if !closed && !quiet && t.notify != nil {
			t.notify(task.notice())
		}
		if Awaited(task) {
			t.announced(1)
		} else {
			t.announced(0)
		}
	}
}

// forget drops the oldest of those that have ended. The table is locked.
func (t *Table) forget() {
	if len(t.tasks) <= keep {
		return
	}
	var oldest *Task
	for _, task := range t.tasks {
		if task.Status() != Running && (oldest == nil || task.Started.Before(oldest.Started)) {
			oldest = task
		}
	}
	if oldest != nil {
		delete(t.tasks, oldest.ID)
	}
}

// Get returns the background task with an id. The error names those there are.
func (t *Table) Get(id string) (*Task, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if task := t.tasks[id]; task != nil {
		return task, nil
	}
	if len(t.tasks) == 0 {
		return nil, fmt.Errorf("there is no task %q: no background task was started", id)
	}
	there := "there are"
	if len(t.tasks) == 1 {
		there = "there is"
	}
	return nil, fmt.Errorf("there is no task %q; %s %s", id, there, strings.Join(slices.Sorted(maps.Keys(t.tasks)), ", "))
}

// List returns the background tasks, the oldest first.
func (t *Table) List() []*Task {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.SortedFunc(maps.Values(t.tasks), func(a, b *Task) int { return a.Started.Compare(b.Started) })
}

// Close stops everything that runs and waits until it has ended. Nothing begins any more, and nothing
// is announced. It removes the outputs that are not in the table's directory.
func (t *Table) Close() {
	t.mu.Lock()
	t.closed = true
	left := slices.Collect(maps.Keys(t.all))
	t.mu.Unlock()
	for _, task := range left {
		task.Stop()
	}
	for _, task := range left {
		<-task.done
	}
	t.strays.remove()
}
