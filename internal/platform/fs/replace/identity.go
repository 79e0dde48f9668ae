package replace

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"time"
)

// An identity detects whether a file was replaced or modified since it was read.
type identity struct {
	info    fs.FileInfo
	changed int64 // change time in nanoseconds, which programs cannot set
	// certain means that the last change was long enough before reading that any later change
	// has a different timestamp.
	certain bool
}

// settled exceeds the timestamp granularity of all file systems.
const settled = 2 * time.Second

func identify(info fs.FileInfo, read time.Time) identity {
	id := identity{info: info, changed: changeTime(info)}
	id.certain = id.changed != 0 && read.Sub(time.Unix(0, id.changed)) > settled
	return id
}

// same reports whether info may describe the same version.
func (id identity) same(info fs.FileInfo) bool {
	return os.SameFile(id.info, info) && id.info.Size() == info.Size() &&
		id.info.ModTime().Equal(info.ModTime()) && id.changed == changeTime(info)
}

// keyOf returns the name of a lock file.
func keyOf(dir, name string) string {
	sum := sha256.Sum256([]byte(dir + "\x00" + name))
	return hex.EncodeToString(sum[:16])
}
