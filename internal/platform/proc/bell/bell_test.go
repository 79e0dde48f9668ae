package bell

import (
	"context"
	"testing"
	"testing/synctest"
)

func TestAny(t *testing.T) {
	rung := func(c <-chan struct{}) bool {
		synctest.Wait()
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var one, two Bell
		one.Ring()
		both := Any(ctx, &one, &two)
		if rung(both) {
			t.Error("it rings before it is rung")
		}
		two.Ring()
		again := Any(ctx, &one, &two)
		if !rung(both) || rung(again) {
			t.Error("it does not ring once")
		}
		one.Ring()
		last := Any(ctx, &one)
		if !rung(again) || rung(last) {
			t.Error("it does not ring once")
		}
		cancel()
		if !rung(last) {
			t.Error("it waits for ever")
		}
	})
}
