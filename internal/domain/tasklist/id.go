package tasklist

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"adze/internal/platform/fs/fsys"
)

// Names are the sources of the list name, strongest first; empty ones are skipped.
type Names struct {
	Named   string // list named in the environment
	Member  string // team the session is a member of
	Team    string // team named in the environment
	Led     string // team the session leads
	Earlier string // list the session used before it was resumed
	Session string // session id
}

// Choose returns the list's id, which is a directory name. An invalid name from a transcript is
// ignored, so that a session can always be resumed.
func (n Names) Choose() (string, error) {
	if !validID(n.Earlier) {
		n.Earlier = ""
	}
	if n.Session != "" && !validID(n.Session) {
		n.Session = "session-" + fsys.HashedKey(n.Session)
	}
	for _, name := range []struct{ id, from string }{
		{n.Named, "ADZE_TASK_LIST_ID"}, {n.Member, "the team"}, {n.Team, "ADZE_TEAM_NAME"}, {n.Led, "the team"}, {n.Earlier, ""}, {n.Session, ""},
	} {
		if name.id == "" {
			continue
		}
		if !validID(name.id) {
			return "", fmt.Errorf("%s names the task list %q; use letters, digits, -, _ and single dots, at most %d characters", name.from, clip(name.id), maxID)
		}
		return name.id, nil
	}
	return "", errors.New("nothing names a task list")
}

const maxID = 128

// validID reports whether an id is a valid directory name on any system.
func validID(id string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	return len(id) <= maxID && strings.Trim(id, letters) == "" && !strings.HasPrefix(id, ".") && !strings.HasSuffix(id, ".") &&
		!strings.Contains(id, "..") && filepath.IsLocal(id)
}

// Dir returns a list's directory below the state home.
func Dir(home, id string) string { return filepath.Join(home, "tasks", id) }
