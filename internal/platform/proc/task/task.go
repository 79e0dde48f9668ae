// Package task manages background tasks: each has an output file, a status and exactly one
// notice of its end. The package that begins a task runs it; others read, stop and announce it.
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

// A Status is the state of a task.
type Status string

// States. The last three are final.
const (
	Running   Status = "running"
	Completed Status = "completed"
	Failed    Status = "failed"
	Killed    Status = "killed"
)

const (
	// MaxRunning limits the number of concurrent background tasks, unless [Table.Allow] raises
	// the limit.
	MaxRunning = 32
	// keep is how many ended tasks are remembered.
	keep = 200
)

// Kinds of tasks: the first letter of their IDs.
const (
	Shell    = 'b' // a command
	Agent    = 'a' // a sub-agent
	Teammate = 't' // a member of a team
	Workflow = 'w' // the steps of a workflow
	Monitor  = 'm' // a watched command
	Dream    = 'd' // memory consolidation
)

// nouns maps kinds of tasks to display names.
var nouns = map[byte]string{
	Shell: "Background command", Agent: "Sub-agent", Teammate: "Teammate", Workflow: "Steps of", Monitor: "Watched command", Dream: "Consolidation of memory",
}

// noun returns the display name of the task's kind.
func (task *Task) noun() string { return nouns[task.ID[0]] }

// A Table holds a session's tasks. It is safe for concurrent use.
type Table struct {
	dir    string
	notify func(Notice)

	mu          sync.Mutex
	tasks       map[string]*Task // background tasks, including ended ones
	all         map[*Task]bool   // all running tasks
	below       []*Table         // tables of sub-conversations
	pendingEnds int              // awaited background tasks whose end has not been announced
	news        chan struct{}    // closed by the next announcement
	closed      bool
	most        int // maximum number of running background tasks
	follow      func(task *Task, ended bool)
	strays      strays

	followMu sync.Mutex // held while follow is called
}

// New returns a table whose tasks write their output to files in dir, which is created when
// first needed. notify, if not nil, is called once when each background task ends, from any
// goroutine.
func New(dir string, notify func(Notice)) *Table {
	return &Table{dir: dir, notify: notify, tasks: make(map[string]*Task), all: make(map[*Task]bool), news: make(chan struct{}), most: MaxRunning}
}

// Follow registers a function that is called when a task moves to the background, and again
// when it ends. It must be called before the first task begins.
func (t *Table) Follow(f func(task *Task, ended bool)) { t.follow = f }

// Allow raises the limit of concurrent background tasks to n, if n is more than [MaxRunning].
func (t *Table) Allow(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.most = max(n, MaxRunning)
}

// A Task is a running task. A foreground task, for which its caller waits, is not listed.
type Task struct {
	ID      string
	Title   string // description, or else the command; for the user and the model
	Command string
	CallID  string // ID of the tool use that began it, if known; see [RunsFor]
	Output  *Output
	Started time.Time
	// Limit is how long the task may run while [Table.Await] waits for it; 0 means no limit. It
	// must be set before the task moves to the background.
	Limit time.Duration

	table  *Table
	ctx    context.Context
	cancel context.CancelCauseFunc
	done   chan struct{}
	detach chan struct{} // asks the waiting caller to move it to the background

	mu             sync.Mutex
	background     bool
	foregroundOnly bool // must stay in the foreground
	stopped        bool // stop was requested
	status         Status
	ending         ending
	report         *Report
	out            outputProgress
	waiting        int  // number of calls that will report the end themselves
	held           bool // the announcement was withheld because of them
}

// An outputProgress records how much of the output has been read and how much [Announce] has announced.
type outputProgress struct{ read, told int64 }

// An ending describes how a task ended.
type ending struct {
	words  string
	remark string // additional text
	why    string // reason for stopping, if any
	quiet  bool   // suppress the announcement
	at     time.Time
}

// ErrStopped is the cancellation cause of a stopped task.
var ErrStopped = errors.New("the task was stopped")

// Begin creates a foreground task. Its output file is created by [Output.Make], by the first
// write, or when the task moves to the background. Its context inherits the values of ctx, but
// is only canceled by [Task.Stop] and [Table.Close]. The caller must call [Task.End].
func (t *Table) Begin(ctx context.Context, kind byte, title, command string) (*Task, error) {
	return t.begin(ctx, NewID(kind), title, command)
}

// Again creates a foreground task that continues the task with the given ID, which must have
// ended, and replaces it; see [Table.Begin].
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

// free returns an unused name for the output of a task. Earlier tasks may have had the same ID.
func (t *Table) free(id string) string {
	name := id
	for n := 2; ; n++ {
		if _, err := os.Lstat(filepath.Join(t.dir, name+suffix)); err != nil {
			return name
		}
		name = fmt.Sprintf("%s-%d", id, n)
	}
}

// RunsFor sets the tool call that a task runs for. It must be called before the task starts.
func RunsFor(task *Task, call string) {
	task.table.mu.Lock()
	defer task.table.mu.Unlock()
	task.CallID = call
}

// NewID returns a letter followed by eight random base-36 digits.
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

// Context returns the task's context.
func (task *Task) Context() context.Context { return task.ctx }

// Done is closed when the task has ended.
func (task *Task) Done() <-chan struct{} { return task.done }

// Detached receives when the user moves the task to the background.
func (task *Task) Detached() <-chan struct{} { return task.detach }

// Detach asks the caller that waits for a foreground task to move it to the background. It
// reports whether there was one.
func (t *Table) Detach() bool { return t.detach(func(*Task) bool { return true }) }

// DetachCall is like [Table.Detach] for the task of a tool call.
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

// Stay prevents the task from moving to the background.
func (task *Task) Stay() {
	task.mu.Lock()
	defer task.mu.Unlock()
	task.foregroundOnly = true
}

func (task *Task) movable() bool {
	task.mu.Lock()
	defer task.mu.Unlock()
	return !task.foregroundOnly
}

// ToBackground moves the task to the background and lists it; its end will be announced. It
// fails if too many tasks are running. The error lists them.
func (task *Task) ToBackground() error {
	task.table.followMu.Lock()
	defer task.table.followMu.Unlock()
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
		return fmt.Errorf("%d background tasks are running, which is the limit; stop one first: %s", len(running), strings.Join(running, ", "))
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
		t.pendingEnds++
	}
	if t.notify != nil && task.ID[0] == Shell {
		go task.watch()
	}
	return nil
}

// Background reports whether the task is in the background.
func (task *Task) Background() bool {
	task.mu.Lock()
	defer task.mu.Unlock()
	return task.background
}

// Status returns the task's status.
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

// Remark sets text that the model needs in addition to the output of a task that is about to
// end. The text is not escaped, so it must not contain untrusted content.
func (task *Task) Remark(text string) {
	task.mu.Lock()
	defer task.mu.Unlock()
	task.ending.remark = text
}

// Remarks returns the task's remark, or "".
func (task *Task) Remarks() string {
	task.mu.Lock()
	defer task.mu.Unlock()
	return task.ending.remark
}

// Took returns how long the task has been running, or ran.
func (task *Task) Took() time.Duration {
	task.mu.Lock()
	defer task.mu.Unlock()
	if task.status == Running {
		return time.Since(task.Started)
	}
	return task.ending.at.Sub(task.Started)
}

// Stopped reports whether a stop was requested.
func (task *Task) Stopped() bool {
	task.mu.Lock()
	defer task.mu.Unlock()
	return task.stopped
}

// Stop requests the task to end. It reports whether the task was still running.
func (task *Task) Stop() bool { return task.stop(ErrStopped) }

// StopBecause is like [Task.Stop] with a reason for the notice. The reason is not escaped, so
// it must not contain untrusted content.
func StopBecause(task *Task, why string) bool {
	task.mu.Lock()
	if task.status == Running && !task.stopped {
		task.ending.why = why
	}
	task.mu.Unlock()
	return task.Stop()
}

// SuppressNotice suppresses the announcement of a task's end. The caller notifies whoever needs to know.
func SuppressNotice(task *Task) {
	task.mu.Lock()
	defer task.mu.Unlock()
	task.ending.quiet = true
}

// ExpectReport registers a call that waits for the end of a shell task and reports it itself, which
// suppresses the announcement. The call must call release at its end. If reported is false, the
// end is announced after all.
func ExpectReport(task *Task) (release func(reported bool)) {
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

// stopReason returns the reason why the task was stopped, or "".
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

// End records how the task ended, closes its output and, for a background task, announces its
// end. Only the first call has an effect. The output can still be read. A foreground command's
// output stays in memory for the caller that waited for it.
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
		t.followMu.Lock() // wait until follow has been called for ToBackground
		t.follow(task, true)
		t.followMu.Unlock()
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

// forget removes the oldest ended task. The caller must hold t.mu.
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

// Get returns the background task with the given ID. The error lists the existing tasks.
func (t *Table) Get(id string) (*Task, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if task := t.tasks[id]; task != nil {
		return task, nil
	}
	if len(t.tasks) == 0 {
		return nil, fmt.Errorf("no task %q: no background task was started", id)
	}
	there := "there are"
	if len(t.tasks) == 1 {
		there = "there is"
	}
	return nil, fmt.Errorf("no task %q; %s %s", id, there, strings.Join(slices.Sorted(maps.Keys(t.tasks)), ", "))
}

// List returns the background tasks, oldest first.
func (t *Table) List() []*Task {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.SortedFunc(maps.Values(t.tasks), func(a, b *Task) int { return a.Started.Compare(b.Started) })
}

// Close stops all running tasks and waits until they have ended. Afterwards no task can begin
// and nothing is announced. Close removes outputs that are outside the table's directory.
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
