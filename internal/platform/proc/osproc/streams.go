package osproc

import (
	"errors"
	"os"
	"os/exec"
	"sync"
)

// streams holds the pipes between a program and this process. Unused pipes are zero.
type streams struct {
	in, out, errs pipe
	interactive   bool // interactive program
}

// A pipe has an end for the program and an end for this process. The zero value is unconnected.
type pipe struct{ ours, theirs *os.File }

// openStreams opens the pipes that c needs.
func openStreams(c Cmd) (*streams, error) {
	s := &streams{interactive: c.interactive}
	var failed error
	open := func(read, write **os.File) {
		r, w, err := os.Pipe()
		*read, *write, failed = r, w, errors.Join(failed, err)
	}
	open(&s.out.ours, &s.out.theirs)
	if failed == nil && !c.interactive {
		enlarge(s.out.ours)
	}
	if c.Errors != nil {
		open(&s.errs.ours, &s.errs.theirs)
	}
	if len(c.Input) > 0 || c.More != nil || c.interactive {
		open(&s.in.theirs, &s.in.ours)
	}
	if failed != nil {
		s.closeTheirs()
		s.closeOurs()
		return nil, failed
	}
	return s, nil
}

// attach sets the program's ends on cmd. It leaves unused ones unset, because an interface
// holding a nil file is not nil.
func (s *streams) attach(cmd *exec.Cmd) {
	cmd.Stdout, cmd.Stderr = s.out.theirs, s.out.theirs
	if s.errs.theirs != nil {
		cmd.Stderr = s.errs.theirs
	}
	if s.in.theirs != nil {
		cmd.Stdin = s.in.theirs
	}
}

// copy forwards the program's output until all writers are gone.
func (s *streams) copy(out, errs *outputForwarder) {
	var wg sync.WaitGroup
	if s.errs.ours != nil {
		wg.Go(func() { copyOutput(errs, s.errs.ours, s.interactive) })
	}
	copyOutput(out, s.out.ours, s.interactive)
	wg.Wait()
	s.out.close()
	s.errs.close()
}

// feed writes the input of c and closes the pipe. It returns early if the program closes its
// end or exits, even if its children are still running.
func (p pipe) feed(c Cmd, exited <-chan struct{}) {
	if p.ours == nil {
		return
	}
	defer p.ours.Close() // ok: a program need not read its input
	if _, err := p.ours.Write(c.Input); err != nil || c.More == nil {
		return
	}
	for {
		select {
		case data, ok := <-c.More:
			if !ok {
				return
			}
			if _, err := p.ours.Write(data); err != nil {
				return
			}
		case <-exited:
			return
		}
	}
}

func (p pipe) close() {
	if p.ours != nil {
		p.ours.Close() // ok: it may be closed already
	}
}

func (s *streams) closeOurs() {
	for _, p := range []pipe{s.in, s.out, s.errs} {
		p.close()
	}
}

func (s *streams) closeTheirs() {
	for _, p := range []pipe{s.in, s.out, s.errs} {
		if p.theirs != nil {
			p.theirs.Close() // ok: the program has its own copy
		}
	}
}
