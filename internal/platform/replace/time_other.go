//go:build !linux && !darwin && !freebsd && !netbsd

package replace

import "io/fs"

// changeTime is not known here, so that content is always compared.
func changeTime(fs.FileInfo) int64 { return 0 }
