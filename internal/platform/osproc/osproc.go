// Package osproc runs programs so that they can be ended for certain: each in its own session and
// process group, without a terminal and with nothing on its standard input but what it is given. It
// knows neither shells nor tools; what a program may do is decided before it gets here.
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
	Path string   // the program
	Name string   // what it is told that its name is; empty means Path
	Args []string // without the program's own name
	Dir  string
	Env  []string // complete; nil means empty
	// Input is what the program may read on standard input; one that reads less is no error.
	Input []byte
	// More is what it may read after that, piece by piece, until the channel is closed or the program has ended; nil means
	// nothing.
	More <-chan []byte
	// Output receives standard output and standard error, in the order they were written. It is called
	// from one goroutine at a time and never after Run has returned.
	Output io.Writer
	// Errors, if not nil, receives standard error on its own, under the same conditions.
	Errors io.Writer
	// Timeout ends the program; 0 means never.
	Timeout time.Duration
	// Reaped says that what the program leaves behind is to end with us even if we are killed: see
	// [Runner.Reaper]. The program itself always does, where the system supports it.
	Reaped bool
	// Files are further files that the program has, from descriptor 3 on; the caller closes them.
	Files []*os.File
	// Terminate asks the program to end in a way of its own, once, and reports whether it could; if nil,
	// its process group is signalled. If it stays, the group is killed in any case.
	Terminate func() bool
	// NoCore keeps the program from leaving an image of its memory behind.
	NoCore bool
	// Start starts the program in a way of its own; if nil, it is simply started.
	Start func(*exec.Cmd) error

	spoken bool // standard input stays open
}

// An Exit is how a program ended.
type Exit struct {
	Code     int    // -1 if a signal ended it, or if it has not ended yet
	Signal   string // that ended it, such as "killed", or empty
	Duration time.Duration
	// TimedOut and Cancelled say why it was asked to end. Running says that it has not obeyed yet: it
	// is killed soon, and the rest of its output is lost.
	TimedOut, Cancelled, Running bool
}

const (
	defaultGrace = 5 * time.Second
	// patience is how long Run waits for a program that was asked to end, so that its last words are
	// kept and the caller is still answered within a second.
	patience = 500 * time.Millisecond
	// linger is how long Run waits for the output of programs that outlive the one it started.
	linger = 100 * time.Millisecond
	// certain is how long it waits when the group has ended: the end of the output is then on its
	// way, unless a program left the group and took the pipe along.
	certain = 2 * time.Second
	// poll is how often a dying process group is looked at.
	poll = 20 * time.Millisecond
	// sweeping is how long a sweep tries to kill those that left their group.
	sweeping = time.Second
)

// A Runner runs programs, any number at once. Its zero value is ready to use.
type Runner struct {
	// Grace is the time between asking a program to end and killing it; 0 means 5 seconds.
	Grace time.Duration
	// Reaper is a program that calls [Reap] with what follows its first argument, which is [ReaperArg]. It
	// is started with the first program that is to be reaped; empty disables it.
	Reaper string

	mu     sync.Mutex
	lead   *Runner // that it is a part of; nil if it is whole
	parts  map[*Runner]bool
	common *common // nil before it is needed
	live   map[*process]bool
	ending map[*process]bool // asked to end
	closed bool
	mark   mark           // of every program; zero before the first
	wg     sync.WaitGroup // of everything that outlives a call of Run
}

// Run runs a program until it ends, its time is up, or ctx is done. In the last two cases its whole
// process group is asked to end and after Grace killed; Run does not wait for that longer than half a
// second. A program that the started one leaves behind in the background runs on, until Close.
// The error is about starting the program or writing its output; a program that fails is no error.
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

// end asks a program to end, and kills it if it does not.
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

// Close kills every program that is left and waits until they are gone: where they can be found, also those
// that left their group. Later programs do not start. Parts are closed before.
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

// close kills the programs, lets no others start, and returns the parts that are left.
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

// A process is a started program with the group it leads.
type process struct {
	cmd     *exec.Cmd
	ask     func() bool // asks it to end; if nil, the group is signalled
	streams *streams
	out     *outlet
	errs    *outlet
	exited  chan struct{} // closed when the program has ended
	drained chan struct{} // closed when its output has no writer left
	killed  chan struct{} // closed when the group was killed
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
		cmd.Wait() // ok: the state is read from the command
		close(p.exited)
		s.in.close()
	})
	if !c.spoken {
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

// launch starts a program with our mark. The reaper is there before it.
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

// settle waits for the rest of the output of a program that has ended.
func (p *process) settle() {
	limit := linger
	if !alive(p.cmd.Process) {
		limit = certain
	}
	wait(p.drained, limit)
}

// end asks the group to end, and kills it if it has not within grace.
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

// An outlet passes a program's output on until it is detached, and swallows the rest, so that a
// program left in the background does not die of a closed pipe.
type outlet struct {
	failed chan struct{} // closed at the first error

	mu  sync.Mutex
	w   io.Writer // nil once detached
	err error
}

func newOutlet(w io.Writer) *outlet { return &outlet{w: w, failed: make(chan struct{})} }

func (o *outlet) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.w != nil && o.err == nil {
		if _, o.err = o.w.Write(p); o.err != nil {
			close(o.failed)
		}
	}
	return len(p), nil
}

func (o *outlet) detach() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.w = nil
	return o.err
}
