package memdir

import (
	"os"
	"path/filepath"
)

// A Mode selects the use of memory.
type Mode uint8

// The modes, in increasing order.
const (
	Off  Mode = iota
	Auto      // memories of one user
	Team      // also a team's, in a separate folder
)

// Mode returns the folder's mode: Team if it has a team folder.
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
