package osproc

import "time"

// A Program is one that runs and is spoken to, until it ends or is stopped.
type Program struct {
	p    *process
	done chan struct{}
}

// How long [Program.Stop] waits after each step. Together they stay below 600 ms.
const (
	afterEOF       = 50 * time.Millisecond
	afterInterrupt = 100 * time.Millisecond
	afterTerminate = 400 * time.Millisecond
	afterKill      = 30 * time.Millisecond
	stopPoll       = 5 * time.Millisecond
)

// Start starts a program that is spoken to while it runs: what is written to it arrives on its standard input. Input
// and Timeout of c are not used. Its group ends with the Runner, and if c says so, also if we are killed.
func (r *Runner) Start(c Cmd) (*Program, error) {
	c.spoken = true
	p, err := r.start(c)
	if err != nil {
		return nil, err
	}
	program := &Program{p, make(chan struct{})}
	r.wg.Go(func() {
		<-p.exited
		p.settle()
		p.out.detach()  // ok: who takes the output knows of its errors
		p.errs.detach() // ok: as above
		close(program.done)
	})
	return program, nil
}

// Write writes to the program's standard input. It blocks while the program does not read.
func (p *Program) Write(b []byte) (int, error) { return p.p.streams.in.ours.Write(b) }

// Done is closed when the program has ended and its output has been passed on.
func (p *Program) Done() <-chan struct{} { return p.done }

// Exit returns how the program ended, after Done.
func (p *Program) Exit() Exit {
	var exit Exit
	exit.Code, exit.Signal = status(p.p.cmd.ProcessState)
	return exit
}

// Stop ends the program and its group: its input is closed, then it is interrupted, asked to end, and killed, until
// none of them is left. It returns within 600 ms.
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

// gone reports whether the program and its group are gone within d.
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
