package app

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"adze/internal/tool"
)

// signals cancels a context, with a cause, on a signal. A second interrupt calls exit
// immediately.
type signals struct {
	exit   func(int)
	cancel context.CancelCauseFunc
	stop   func()

	mu       sync.Mutex
	count    int           // number of interrupts
	diverted chan struct{} // receives interrupts instead, or nil
}

// interruptible returns a context that is canceled by a signal. The stop method of s releases
// the signals.
func interruptible(exit func(int)) (ctx context.Context, s *signals) {
	s = &signals{exit: exit}
	ctx, s.cancel = context.WithCancelCause(context.Background())
	received := make(chan os.Signal, 4)
	// Subscribing to SIGPIPE turns broken pipes into write errors instead of ending the
	// program.
	signal.Notify(received, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	s.stop = func() {
		signal.Stop(received)
		close(received)
		s.cancel(nil)
	}
	go func() {
		for sig := range received {
			switch sig {
			case os.Interrupt:
				s.interrupt()
			case syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT:
				s.cancel(tool.AbortShutdown)
			}
		}
	}()
	return ctx, s
}

// divert returns a channel that receives interrupts from now on, so that they end nothing.
// release restores the previous behavior.
func (s *signals) divert() (interrupts <-chan struct{}, release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.diverted
	s.diverted = make(chan struct{}, 4)
	return s.diverted, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.diverted = before
	}
}

func (s *signals) interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.diverted != nil {
		select {
		case s.diverted <- struct{}{}:
		default:
		}
		return
	}
	if s.count++; s.count > 1 {
		s.exit(exitInterrupt)
	}
	s.cancel(tool.AbortUser)
}
