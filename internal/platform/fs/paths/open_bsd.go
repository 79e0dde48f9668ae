//go:build unix && !linux

package paths

import "os"

// walkFlag opens an intermediate directory.
const walkFlag = os.O_RDONLY

func noLinks(path string, flags int) (*os.File, error) { return oneByOne(path, flags) }
