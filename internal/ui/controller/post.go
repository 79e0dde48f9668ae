package controller

import (
	"context"
	"time"
)

// Post runs a function in the goroutine of [Driver.Run], and waits until it has begun. It
// reports false if ctx was done before. Nothing runs while a conversation is being opened.
func (d *Driver) Post(ctx context.Context, do func(context.Context)) bool {
	select {
	case d.posts <- do:
		return true
	case <-ctx.Done():
		return false
	}
}

// Background runs work in another goroutine, and then the function that it returns in the
// goroutine of [Driver.Run]. The context is done when that ends.
func (d *Driver) Background(work func(ctx context.Context) (show func())) {
	go func() {
		show := work(d.ctx)
		d.Post(d.ctx, func(context.Context) { show() })
	}()
}

// A Timer is a delayed function that can be stopped. A nil Timer has fired.
type Timer struct {
	timer   *time.Timer
	stopped bool
}

// After calls do after a delay, in the goroutine of [Driver.Run].
func (d *Driver) After(wait time.Duration, do func(context.Context)) *Timer {
	t := &Timer{}
	t.timer = time.AfterFunc(wait, func() {
		d.Post(d.ctx, func(ctx context.Context) {
			if !t.stopped {
				do(ctx)
			}
		})
	})
	return t
}

// Stop prevents the function from being called.
func (t *Timer) Stop() {
	if t != nil {
		t.stopped = true
		t.timer.Stop()
	}
}
