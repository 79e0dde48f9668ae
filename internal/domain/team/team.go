// Package team manages teams: a lead and teammates that share a task list and send each other
// messages. It tracks membership, delivers messages, and enforces which member may send which
// message.
package team

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"adze/internal/platform/proc/osproc"
)

// Lead is the name of a team's lead.
const Lead = "team-lead"

// Everyone is the recipient of a broadcast to all other members.
const Everyone = "*"

const (
	// MaxMembers is the maximum number of members, including the lead.
	MaxMembers = 20
	// maxName is the maximum length of a name, in characters.
	maxName = 40
)

// A Team is a lead and its teammates.
type Team struct {
	Version     int       `json:"version"`
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Created     time.Time `json:"created"`
	// Session is the id of the lead's session.
	Session string   `json:"session"`
	Members []Member `json:"members"`
}

// A Member is the lead or a teammate.
type Member struct {
	Name string `json:"name"`
	// ID is unique across all teams.
	ID    string `json:"id"`
	Agent string `json:"agent,omitempty"` // agent type
	Model string `json:"model,omitempty"`
	Color string `json:"color,omitempty"`
	Mode  string `json:"mode,omitempty"`
	Dir   string `json:"dir,omitempty"`
	// If Plans is true, it works only by plans that the lead approves.
	Plans   bool    `json:"plans,omitempty"`
	Backend Backend `json:"backend,omitempty"`
	Pane    string  `json:"pane,omitempty"`
	// Process is its process; zero until started.
	Process Process   `json:"process,omitzero"`
	Joined  time.Time `json:"joined"`
	// Idle is true if it has nothing to do.
	Idle bool `json:"idle,omitempty"`
	// Limits are the lead's limits, for a teammate in another process.
	Limits json.RawMessage `json:"limits,omitempty"`
}

// A Backend is the environment that a teammate runs in.
type Backend string

// The back ends.
const (
	InProcess Backend = "in-process"
	Tmux      Backend = "tmux"
)

// A Process identifies a system process. Its start time distinguishes it from a later one with
// the same id.
type Process struct {
	PID     int    `json:"pid"`
	Started string `json:"started"`
}

// CurrentProcess returns the current process.
func CurrentProcess() Process { return Process{PID: os.Getpid(), Started: osproc.Started(os.Getpid())} }

// Alive reports whether the process is still running.
func (p Process) Alive() bool {
	if p.PID <= 0 {
		return false
	}
	started := osproc.Started(p.PID)
	return started != "" && started == p.Started
}

// Member returns the member with the given name, or nil.
func (t *Team) Member(name string) *Member {
	i := slices.IndexFunc(t.Members, func(m Member) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return &t.Members[i]
}

// Others returns the names of all members but one.
func (t *Team) Others(than string) []string {
	var names []string
	for _, m := range t.Members {
		if m.Name != than {
			names = append(names, m.Name)
		}
	}
	return names
}

// Find returns the name of the member with the given name or id.
func (t *Team) Find(target string) (string, bool) {
	for _, m := range t.Members {
		if m.Name == target || m.ID == target {
			return m.Name, true
		}
	}
	if name := Normalise(target); t.Member(name) != nil {
		return name, true
	}
	return "", false
}

// unknown returns the error for a recipient outside the team.
func (t *Team) unknown(target, from string) error {
	return fmt.Errorf("the team %s has no member %q; it has %s", t.Name, clip(target), strings.Join(t.Others(from), ", "))
}

// add adds a member, under a unique name.
func (t *Team) add(m Member) (Member, error) {
	if len(t.Members) >= MaxMembers {
		return m, fmt.Errorf("the team %s has %d members already; end one first", t.Name, MaxMembers)
	}
	name := Normalise(m.Name)
	if name == "" {
		return m, fmt.Errorf("invalid teammate name %q: use letters, digits and hyphens", clip(m.Name))
	}
	m.Name = unique(name, func(name string) bool { return t.Member(name) != nil })
	m.ID = m.Name + "@" + t.Name
	if m.Color == "" {
		m.Color = colors[len(t.Members)%len(colors)]
	}
	t.Members = append(t.Members, m)
	return m, nil
}

// colors are assigned to members in the order they join.
var colors = []string{"white", "blue", "green", "yellow", "magenta", "cyan", "red"}

// Normalise returns the form of a name used for teams, members and their files: lower-case
// letters, digits and single hyphens. It is empty if nothing remains.
func Normalise(name string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(name) {
		if b.Len() >= maxName {
			break
		}
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap = false
			b.WriteRune(r)
			continue
		}
		gap = true
	}
	return strings.Trim(b.String(), "-")
}

// unique returns the name, with a number appended if it is taken.
func unique(name string, taken func(string) bool) string {
	for n, free := 2, name; ; n++ {
		if !taken(free) {
			return free
		}
		free = fmt.Sprintf("%s-%d", name, n)
	}
}

// clip shortens untrusted text for an error message.
func clip(s string) string {
	if r := []rune(strings.ToValidUTF8(s, "")); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
