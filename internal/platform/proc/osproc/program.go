package osproc

import "time"

// A Program is a running interactive program.
type Program struct {
	p    *process
	done chan struct{}
}

// Waiting times after each step of [Program.Stop]. Their sum is below 600 ms.
const (
	afterEOF       = 50 * time.Millisecond
	afterInterrupt = 100 * time.Millisecond
	afterTerminate = 400 * time.Millisecond
	afterKill      = 30 * time.Millisecond
	stopPoll       = 5 * time.Millisecond
)

// Start starts an interactive program, whose standard input is written with [Program.Write]. It
// ignores c.Input and c.Timeout. The program's group ends with the Runner and, if c.Reaped is
// set, also if adze is killed.
func (r *Runner) Start(c Cmd) (*Program, error) {
	c.interactive = true
	p, err := r.start(c)
	if err != nil {
		return nil, err
	}
	program := &Program{p, make(chan struct{})}
	r.wg.Go(func() {
		<-p.exited
		p.settle()
		p.out.detach()  // ok: the output writer knows its own errors
		p.errs.detach() // ok: as above
		close(program.done)
	})
	return program, nil
}

// Write writes to the program's standard input. It blocks while the program does not read.
func (p *Program) Write(b []byte) (int, error) { return p.p.streams.in.ours.Write(b) }

// PID returns the process ID, which is also the ID of its group where groups exist.
func (p *Program) PID() int { return p.p.cmd.Process.Pid }

// Done is closed when the program has exited and its output has been forwarded.
func (p *Program) Done() <-chan struct{} { return p.done }

// Exit returns how the program ended. It must not be called before Done is closed.
func (p *Program) Exit() Exit {
	var exit Exit
	exit.Code, exit.Signal = status(p.p.cmd.ProcessState)
	return exit
}

// Stop ends the program and its group. It closes standard input, interrupts, terminates and
// finally kills the group, stopping as soon as all processes are gone. It returns within 600
// ms.
func (p *Program) Stop() {
	p.p.streams.in.close()
	proc := p.p.cmd.Process
	switch {
	case p.gone(afterEOF):
		return
	case interrupt(proc) && p.gone(afterInterrupt):
		return
	case terminate(proc) && p.gone(afterTerminate):
		return
	}
	p.p.kill()
	p.gone(afterKill)
}

// gone reports whether the program and its group exit within d.
func (p *Program) gone(d time.Duration) bool {
	deadline := time.Now().Add(d)
	if !wait(p.p.exited, d) {
		return false
	}
	for alive(p.p.cmd.Process) {
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(stopPoll)
	}
	return true
}
