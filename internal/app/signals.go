package app

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"adze/internal/tool"
)

// Signals turn signals into the end of a context, with its reason. A second interrupt does not wait
// for anything: it calls exit.
type signals struct {
	exit   func(int)
	cancel context.CancelCauseFunc
	stop   func()

	mu       sync.Mutex
	count    int           // of interrupts
	diverted chan struct{} // where interrupts go instead, or nil
}

// interruptible returns a context that a signal ends. Stop gives the signals back.
func interruptible(exit func(int)) (ctx context.Context, s *signals) {
	s = &signals{exit: exit}
	ctx, s.cancel = context.WithCancelCause(context.Background())
	received := make(chan os.Signal, 4)
	// Being told of broken pipes makes them errors of the write, instead of the end of the program.
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

// divert returns a channel that gets the interrupts from now on: they end nothing any more. After release they go where
// they went before.
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
