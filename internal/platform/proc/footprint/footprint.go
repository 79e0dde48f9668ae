// Package footprint reduces the program's memory use while it waits for the user, by returning
// memory that only startup or a long turn needed to the system.
package footprint

import (
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

const (
	// pause is the idle time before memory is released.
	pause = 2 * time.Second
	// worth is how much must have been allocated since the last release: a few keys do not
	// justify a garbage collection.
	worth = 8 << 20
)

// A Keeper releases memory after a period of inactivity. Use [New].
type Keeper struct {
	allocated func() uint64
	release   func()

	mu    sync.Mutex
	timer *time.Timer // nil before the first beat
	spent uint64      // total bytes allocated at the last release
}

// New returns a keeper.
func New() *Keeper { return &Keeper{allocated: allocated, release: debug.FreeOSMemory} }

// Beat records activity.
func (k *Keeper) Beat() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.timer == nil {
		k.timer = time.AfterFunc(pause, k.rest)
		return
	}
	k.timer.Reset(pause)
}

// rest releases unused memory if there is likely to be much.
func (k *Keeper) rest() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now := k.allocated(); k.spent == 0 || now-k.spent >= worth {
		k.spent = now
		k.release()
	}
}

// allocated returns the total number of bytes ever allocated.
func allocated() uint64 {
	var m runtime.MemStats // package runtime/metrics takes longer to initialize
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
