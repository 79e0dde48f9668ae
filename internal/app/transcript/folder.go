package transcript

import (
	"os"
	"path/filepath"

	"adze/internal/app/setup"
)

// Temporary returns a directory for what a conversation without a transcript puts down while it lasts.
func Temporary(closing func(func())) (string, error) {
	dir, err := os.MkdirTemp("", "adze-session-")
	if err != nil {
		return "", setup.Errorf("making a folder for the output of commands: %v", err)
	}
	closing(func() { os.RemoveAll(dir) }) // ok: it is the system's to clean up then
	return filepath.Clean(dir), nil
}

// RemoveTasks removes what is of no more use: the snapshot of the shell, empty folders, and all of it if
// the conversation was not kept.
func RemoveTasks(folder, transcript, snapshot string) {
	tasks := filepath.Join(folder, "tasks")
	if _, err := os.Stat(transcript); err != nil {
		os.RemoveAll(tasks) // ok: as below
	}
	os.Remove(filepath.Join(folder, snapshot)) // ok: there may be none
	os.Remove(tasks)                           // ok: only if it is empty
	os.Remove(folder)                          // ok: only if it is empty
}
