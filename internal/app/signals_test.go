//go:build unix

package app

import (
	"os"
	"syscall"
	"testing"

	"adze/internal/tool"
)

func TestInterruptible(t *testing.T) {
	send := func(s syscall.Signal) {
		if err := syscall.Kill(os.Getpid(), s); err != nil {
			t.Fatal(err)
		}
	}
	codes := make(chan int, 1)
	ctx, s := interruptible(func(code int) { codes <- code })
	send(syscall.SIGPIPE) // must not stop the program
	send(syscall.SIGINT)
	<-ctx.Done()
	if got := tool.AbortReason(ctx); got != tool.AbortUser {
		t.Errorf("interrupted because of %s", got)
	}
	send(syscall.SIGINT)
	if code := <-codes; code != exitInterrupt {
		t.Errorf("the second interrupt exits with %d", code)
	}
	s.stop()

	ctx, s = interruptible(func(int) { t.Error("exits at once") })
	send(syscall.SIGTERM)
	<-ctx.Done()
	if got := tool.AbortReason(ctx); got != tool.AbortShutdown {
		t.Errorf("terminated because of %s", got)
	}
	s.stop()

	ctx, s = interruptible(func(int) { t.Error("exits at once") })
	first, _ := s.divert()
	interrupts, release := s.divert()
	for range 3 {
		send(syscall.SIGINT)
		<-interrupts
	}
	if ctx.Err() != nil {
		t.Error("a diverted interrupt ends the program")
	}
	release()
	send(syscall.SIGINT)
	<-first // back to the first channel
	s.stop()
}
