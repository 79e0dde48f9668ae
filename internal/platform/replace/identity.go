package replace

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"time"
)

// An identity tells whether a file is the one that was read, and has not been written to since.
type identity struct {
	info    fs.FileInfo
	changed int64 // when the system says it was last changed, in nanoseconds; programs cannot set it back
	// certain says that the last change was so long before reading that a later one has another time.
	certain bool
}

// settled is longer than any clock by which systems stamp files takes to move on.
const settled = 2 * time.Second

func identify(info fs.FileInfo, read time.Time) identity {
	id := identity{info: info, changed: changeTime(info)}
	id.certain = id.changed != 0 && read.Sub(time.Unix(0, id.changed)) > settled
	return id
}

// same reports whether nothing speaks against info being the same version.
func (id identity) same(info fs.FileInfo) bool {
	return os.SameFile(id.info, info) && id.info.Size() == info.Size() &&
		id.info.ModTime().Equal(info.ModTime()) && id.changed == changeTime(info)
}

// keyOf makes the name of a lock file.
func keyOf(dir, name string) string {
	sum := sha256.Sum256([]byte(dir + "\x00" + name))
	return hex.EncodeToString(sum[:16])
}
