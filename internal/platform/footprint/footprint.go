// Package footprint keeps the memory small that the program occupies while it waits for the user: what only its start or a
// long turn needed goes back to the system.
package footprint

import (
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

const (
	// pause is how long nothing has to happen before memory is given back.
	pause = 2 * time.Second
	// worth is how much has to be allocated since the last time: a few keys are no reason to collect garbage.
	worth = 8 << 20
)

// A Keeper gives memory back when nothing has happened for a while. Make it with [New].
type Keeper struct {
	allocated func() uint64
	release   func()

	mu    sync.Mutex
	timer *time.Timer // nil before the first beat
	spent uint64      // bytes that were allocated when memory was given back last
}

// New returns a keeper.
func New() *Keeper { return &Keeper{allocated: allocated, release: Release} }

// Beat is called when something happens.
func (k *Keeper) Beat() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.timer == nil {
		k.timer = time.AfterFunc(pause, k.rest)
		return
	}
	k.timer.Reset(pause)
}

// rest gives back what is not needed, if it is likely to be much.
func (k *Keeper) rest() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now := k.allocated(); k.spent == 0 || now-k.spent >= worth {
		k.spent = now
		k.release()
	}
}

// Release gives back the memory that is not in use, and the pages of the program itself that are not needed just now: they
// are read again when they are.
func Release() {
	debug.FreeOSMemory()
	releaseProgram()
}

// allocated returns how many bytes were ever allocated.
func allocated() uint64 {
	var m runtime.MemStats // of which package metrics knows more, and takes longer to initialise
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
