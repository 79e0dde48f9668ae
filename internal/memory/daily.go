package memory

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"adze/internal/platform/fsys"
)

// LogPattern is where the log of a day is, for a prompt that is the same on every day.
func (f Folder) LogPattern() string {
	return filepath.Join(f.Dir, logsName, "YYYY", "MM", "YYYY-MM-DD.md")
}

// logPath returns where the log of a day is.
func (f Folder) logPath(day time.Time) string {
	return filepath.Join(f.Dir, logsName, day.Format("2006"), day.Format("01"), day.Format("2006-01-02")+".md")
}

// Append adds a line to the log of the day it is. What stands there is never written again.
func (f Folder) Append(now time.Time, text string) error {
	if HasSecret(text) {
		return errSecret
	}
	path := f.logPath(now)
	if err := fsys.MkdirPrivate(filepath.Dir(path)); err != nil {
		return fmt.Errorf("writing the log of the day: %w", err)
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("writing the log of the day: %w", err)
	}
	_, err = fmt.Fprintf(file, "- %s %s\n", now.Format("15:04"), oneLine(text))
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("writing the log of the day: %w", err)
	}
	return nil
}
