//go:build unix && !linux

package paths

import "os"

// walkFlag opens a directory on the way.
const walkFlag = os.O_RDONLY

func noLinks(path string, flags int) (*os.File, error) { return oneByOne(path, flags) }
