// Package osproc runs programs so that they can be reliably terminated: each in its own session
// and process group, without a terminal and with no standard input except the given data. The
// caller decides beforehand which programs may run.
package osproc

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"
)

// A Cmd is a program to run.
type Cmd struct {
	Path string   // executable
	Name string   // argv[0]; empty means Path
	Args []string // arguments, excluding argv[0]
	Dir  string
	Env  []string // complete; nil means empty
	// Input is provided on standard input. The program need not read all of it.
	Input []byte
	// More, if not nil, provides further input until it is closed or the program exits.
	More <-chan []byte
	// Output receives standard output and standard error in the order they were written. It is
	// never called concurrently, nor after Run has returned.
	Output io.Writer
	// Errors, if not nil, receives standard error separately, under the same conditions.
	Errors io.Writer
	// Timeout limits the running time; 0 means no limit.
	Timeout time.Duration
	// Reaped means that processes the program leaves behind are killed even if adze is killed;
	// see [Runner.Reaper]. The program itself always is, where the system supports it.
	Reaped bool
	// Files are additional open files for the program, starting at descriptor 3. The caller
	// closes them.
	Files []*os.File
	// Terminate, if not nil, requests termination in place of signaling the process group, and
	// reports whether it could. It is called once. If the program does not exit, its group is
	// killed in any case.
	Terminate func() bool
	// NoCore disables core dumps.
	NoCore bool
	// Start, if not nil, starts the program in place of [exec.Cmd.Start].
	Start func(*exec.Cmd) error

	interactive bool // standard input stays open
}

// An Exit describes how a program ended.
type Exit struct {
	Code     int    // -1 if killed by a signal or still running
	Signal   string // terminating signal, such as "killed", or empty
	Duration time.Duration
	// TimedOut and Cancelled are the reasons why the program was terminated. Running means that
	// it has not exited yet: it will be killed soon, and the rest of its output is lost.
	TimedOut, Cancelled, Running bool
}

const (
	defaultGrace = 5 * time.Second
	// patience limits how long Run waits for a terminating program, so that its last output is
	// kept and Run still returns within a second.
	patience = 500 * time.Millisecond
	// linger limits how long Run waits for the output of processes that outlive the program.
	linger = 100 * time.Millisecond
	// certain is the corresponding limit when the group has ended: EOF is then imminent, unless
	// a process left the group and kept the pipe open.
	certain = 2 * time.Second
	// poll is the interval for checking a terminating process group.
	poll = 20 * time.Millisecond
	// sweeping limits how long a sweep tries to kill processes that left their group.
	sweeping = time.Second
)

// A Runner runs any number of programs concurrently. The zero value is ready to use.
type Runner struct {
	// Grace is the time between requesting termination and killing; 0 means 5 seconds.
	Grace time.Duration
	// Reaper is a program that calls [Reap] with the arguments after the first, which is
	// [ReaperArg]. It is started with the first program that has Reaped set; empty disables it.
	Reaper string

	mu     sync.Mutex
	lead   *Runner // parent runner; nil if this is not a part
	parts  map[*Runner]bool
	common *sharedState // created lazily
	live   map[*process]bool
	ending map[*process]bool // processes being terminated
	closed bool
	mark   mark           // mark of every program; zero before the first
	wg     sync.WaitGroup // goroutines that outlive a call to Run
}

// Run runs a program until it exits, times out or ctx is done. In the last two cases Run
// terminates its whole process group, killing it after Grace, but waits at most half a second
// for that. Background processes that the program leaves behind continue until Close. Run
// returns an error if the program cannot be started or its output cannot be written, not if the
// program fails.
func (r *Runner) Run(ctx context.Context, c Cmd) (Exit, error) {
	if err := ctx.Err(); err != nil {
		return Exit{}, err
	}
	start := time.Now()
	p, err := r.start(c)
	if err != nil {
		return Exit{}, err
	}
	var timeout <-chan time.Time
	if c.Timeout > 0 {
		timer := time.NewTimer(c.Timeout)
		defer timer.Stop()
		timeout = timer.C
	}
	var exit Exit
	select {
	case <-p.exited:
		p.settle()
	case <-ctx.Done():
		exit.Cancelled = true
	case <-timeout:
		exit.TimedOut = true
	case <-p.out.failed:
		exit.Cancelled = true
	case <-p.errs.failed:
		exit.Cancelled = true
	}
	if exit.Cancelled || exit.TimedOut {
		r.end(p)
		exit.Running = !wait(p.exited, patience)
		p.settle()
	}
	err = errors.Join(p.out.detach(), p.errs.detach())
	exit.Duration = time.Since(start)
	exit.Code = -1
	if !exit.Running {
		exit.Code, exit.Signal = status(p.cmd.ProcessState)
	}
	return exit, err
}

// end terminates a program and kills it if it does not exit in time.
func (r *Runner) end(p *process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		p.kill()
		return
	}
	if r.ending == nil {
		r.ending = make(map[*process]bool)
	}
	r.ending[p] = true
	r.wg.Go(func() {
		p.end(r.grace())
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.ending, p)
	})
}

// Close closes all parts, kills all remaining programs and waits until they are gone, including
// processes that left their group where the system can find them. No programs can be started
// afterwards.
func (r *Runner) Close() {
	for _, part := range r.close() {
		part.Close()
	}
	r.wg.Wait()
	if r.mark.name != "" {
		r.common.broom.sweep(r.mark)
	}
	switch {
	case r.lead != nil:
		r.lead.forget(r)
	case r.common != nil:
		r.common.close()
	}
}

// close kills the programs, prevents new ones and returns the remaining parts.
func (r *Runner) close() []*Runner {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for p := range r.live {
		p.kill()
		p.streams.closeOurs()
	}
	for p := range r.ending {
		p.kill()
	}
	return slices.Collect(maps.Keys(r.parts))
}

func (r *Runner) grace() time.Duration {
	if r.Grace > 0 {
		return r.Grace
	}
	return defaultGrace
}

// A process is a started program and the group it leads.
type process struct {
	cmd     *exec.Cmd
	ask     func() bool // requests termination; if nil, the group is signaled
	streams *streams
	out     *outputForwarder
	errs    *outputForwarder
	exited  chan struct{} // closed when the program has exited
	drained chan struct{} // closed at the end of the output
	killed  chan struct{} // closed when the group has been killed
	once    sync.Once
}

func (r *Runner) start(c Cmd) (*process, error) {
	cmd := exec.Command(c.Path, c.Args...)
	if c.Name != "" {
		cmd.Args[0] = c.Name
	}
	cmd.Dir, cmd.Env = c.Dir, c.Env
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	cmd.SysProcAttr, cmd.ExtraFiles = attributes(), c.Files
	p := &process{
		cmd: cmd, ask: c.Terminate, out: newOutlet(c.Output), errs: newOutlet(c.Errors),
		exited: make(chan struct{}), drained: make(chan struct{}), killed: make(chan struct{}),
	}
	s, err := openStreams(c)
	if err != nil {
		return nil, err
	}
	defer s.closeTheirs()
	s.attach(cmd)
	p.streams = s

	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		err = os.ErrClosed
	} else {
		err = r.launch(cmd, c)
	}
	if err != nil {
		s.closeOurs()
		return nil, err
	}
	if r.live == nil {
		r.live = make(map[*process]bool)
	}
	r.live[p] = true
	r.wg.Go(func() {
		awaitExit(cmd.Process.Pid)
		cmd.Wait() // ok: the state is read from cmd
		close(p.exited)
		s.in.close()
	})
	if !c.interactive {
		r.wg.Go(func() { s.in.feed(c, p.exited) })
	}
	r.wg.Go(func() {
		s.copy(p.out, p.errs)
		close(p.drained)
		<-p.exited
		r.mu.Lock()
		defer r.mu.Unlock()
		if sweeps || !alive(cmd.Process) {
			delete(r.live, p)
			r.common.tell("-", cmd.Process.Pid)
		}
	})
	return p, nil
}

// launch starts a program with the runner's mark, after the reaper.
func (r *Runner) launch(cmd *exec.Cmd, c Cmd) error {
	if err := r.prepare(c.Reaped); err != nil {
		return err
	}
	cmd.Env = append(slices.Clip(cmd.Env), markName+"="+r.mark.text())
	start := cmd.Start
	if c.Start != nil {
		start = func() error { return c.Start(cmd) }
	}
	if err := start(); err != nil {
		return err
	}
	r.mark.put(cmd.Process.Pid)
	if c.NoCore {
		noCore(cmd.Process.Pid)
	}
	r.common.tell("+", cmd.Process.Pid)
	return nil
}

// settle waits for the remaining output of an exited program.
func (p *process) settle() {
	limit := linger
	if !alive(p.cmd.Process) {
		limit = certain
	}
	wait(p.drained, limit)
}

// end terminates the group and kills it if it has not ended within grace.
func (p *process) end(grace time.Duration) {
	if p.ask == nil || !p.ask() {
		terminate(p.cmd.Process)
	}
	deadline := time.NewTimer(grace)
	defer deadline.Stop()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for alive(p.cmd.Process) {
		select {
		case <-tick.C:
		case <-p.killed:
			return
		case <-deadline.C:
			p.kill()
			return
		}
	}
}

func (p *process) kill() {
	p.once.Do(func() {
		kill(p.cmd.Process)
		close(p.killed)
	})
}

// wait reports whether done was closed within d.
func wait(done <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// An outputForwarder forwards a program's output until it is detached. It discards the rest, so that
// background processes don't die of SIGPIPE.
type outputForwarder struct {
	failed chan struct{} // closed at the first error

	mu  sync.Mutex
	w   io.Writer // nil once detached
	err error
}

func newOutlet(w io.Writer) *outputForwarder {
	return &outputForwarder{w: w, failed: make(chan struct{})}
}

func (o *outputForwarder) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.w != nil && o.err == nil {
		if _, o.err = o.w.Write(p); o.err != nil {
			close(o.failed)
		}
	}
	return len(p), nil
}

func (o *outputForwarder) detach() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.w = nil
	return o.err
}
