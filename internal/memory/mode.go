package memory

import (
	"os"
	"path/filepath"
)

// A Mode is how memory is used.
type Mode uint8

// The modes, the least first.
const (
	Off  Mode = iota
	Auto      // memories of one user
	Team      // and those of a team, in a folder of their own
)

// Mode returns how the folder is used: with that of a team if there is one.
func (f Folder) Mode() Mode {
	if isDir(filepath.Join(f.Dir, teamName)) {
		return Team
	}
	return Auto
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}
