package tasklist

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"adze/internal/platform/fsys"
)

// Names are what may say which list is used, the strongest first; those that are empty say nothing.
type Names struct {
	Named   string // the list that the environment names
	Member  string // the team that the session is a member of
	Team    string // the team that the environment names
	Led     string // the team that the session leads
	Earlier string // the list that the session used before it was resumed
	Session string // the id of the session
}

// Choose returns the id of the list, which is a name of a directory. What a transcript says is left aside if it is none: a
// session can be resumed whatever was written into it.
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

// validID reports whether an id can be the name of a directory, on any system.
func validID(id string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	return len(id) <= maxID && strings.Trim(id, letters) == "" && !strings.HasPrefix(id, ".") && !strings.HasSuffix(id, ".") &&
		!strings.Contains(id, "..") && filepath.IsLocal(id)
}

// Dir returns the directory of a list below the state home.
func Dir(home, id string) string { return filepath.Join(home, "tasks", id) }
