package app

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"adze/internal/tool"
)

// interruptible returns a context that a signal ends, with its reason. A second interrupt does not
// wait for anything: it calls exit. Stop gives the signals back.
func interruptible(exit func(int)) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 4)
	// Being told of broken pipes makes them errors of the write, instead of the end of the program.
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE)
	go func() {
		interrupts := 0
		for s := range signals {
			switch s {
			case os.Interrupt:
				if interrupts++; interrupts > 1 {
					exit(exitInterrupt)
				}
				cancel(tool.AbortUser)
			case syscall.SIGTERM:
				cancel(tool.AbortShutdown)
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(signals)
		cancel(nil)
	}
}
