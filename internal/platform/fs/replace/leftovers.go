package replace

import (
	"crypto/rand"
	"os"
	"strings"
	"sync"
	"time"

	"adze/internal/platform/fs/lockfile"
)

// leftovers tracks temporary files whose process was killed before it could rename or remove
// them. They are removed the first time a file in the same directory is changed.
type leftovers struct {
	mu    sync.Mutex
	swept map[string]bool // directories already swept
}

const (
	tempPrefix, tempSuffix = ".adze-", ".tmp"
	// tempAge is the minimum age of a leftover. A live process locks its file, but not all file
	// systems support locks.
	tempAge = time.Minute
)

// tempName returns a temporary file name.
func tempName() string { return tempPrefix + rand.Text() + tempSuffix }

func isTempName(name string) bool {
	middle, ok := strings.CutPrefix(name, tempPrefix)
	if ok {
		middle, ok = strings.CutSuffix(middle, tempSuffix)
	}
	return ok && len(middle) == len(rand.Text()) && strings.Trim(middle, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// sweep removes leftovers from a directory. Files that cannot be removed are left for the next
// time.
func (r *Replacer) sweep(d directory) {
	r.leftovers.mu.Lock()
	defer r.leftovers.mu.Unlock()
	if r.leftovers.swept[d.id] {
		return
	}
	r.leftovers.swept[d.id] = true
	names, err := d.names()
	if err != nil {
		return
	}
	for _, name := range names {
		if isTempName(name) && abandoned(d, name) {
			d.remove(name) // ok: see above
		}
	}
}

// abandoned reports whether no process uses the file any more.
func abandoned(d directory, name string) bool {
	file, err := d.open(name, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer file.Close()
	info, err := file.Stat()
	return err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > tempAge && lockfile.Lock(file) == nil
}
