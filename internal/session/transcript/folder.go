package transcript

import (
	"os"
	"path/filepath"

	"adze/internal/setup"
)

// Temporary returns a temporary directory for a conversation without a transcript.
func Temporary(closing func(func())) (string, error) {
	dir, err := os.MkdirTemp("", "adze-session-")
	if err != nil {
		return "", setup.Errorf("making a folder for the output of commands: %v", err)
	}
	closing(func() { os.RemoveAll(dir) }) // ok: left to the system to clean up
	return filepath.Clean(dir), nil
}

// RemoveTasks removes the shell snapshot, empty directories, and everything if the conversation
// was not stored.
func RemoveTasks(folder, transcript, snapshot string) {
	tasks := filepath.Join(folder, "tasks")
	if _, err := os.Stat(transcript); err != nil {
		os.RemoveAll(tasks) // ok: as below
	}
	os.Remove(filepath.Join(folder, snapshot)) // ok: may not exist
	os.Remove(tasks)                           // ok: fails unless empty
	os.Remove(folder)                          // ok: fails unless empty
}
