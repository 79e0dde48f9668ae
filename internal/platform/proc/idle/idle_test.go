package idle

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestPulse checks that polling runs while the user is active, stops when the user is away and
// resumes immediately when the user returns.
func TestPulse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var p Tracker
		var looks atomic.Int64
		go func() {
			for p.Wait(ctx, time.Second) {
				looks.Add(1)
			}
		}()
		during := func(d time.Duration) int64 {
			before := looks.Load()
			time.Sleep(d)
			synctest.Wait()
			return looks.Load() - before
		}
		if n := during(time.Minute); n != 60 {
			t.Errorf("%d looks without a user", n)
		}
		p.Beat()
		if n := during(5 * time.Second); n != 5 {
			t.Errorf("%d looks while the user is there", n)
		}
		during(Timeout)
		if n := during(time.Hour); n != 0 {
			t.Errorf("%d looks while the user is away", n)
		}
		p.Beat()
		if n := during(time.Millisecond); n != 1 {
			t.Errorf("%d looks when the user returns", n)
		}
		cancel()
		synctest.Wait()
	})
}

func TestNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p *Tracker
		p.Beat()
		if !p.Wait(t.Context(), time.Second) {
			t.Error("it does not wait")
		}
	})
}
