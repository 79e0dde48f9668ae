package permission

import (
	"fmt"
	"slices"
	"strings"

	"adze/internal/platform/spell"
)

// A Mode says what happens to a call that no rule decides.
type Mode string

// The modes.
const (
	Default     Mode = "default"           // what only reads is allowed, the rest is asked about
	AcceptEdits Mode = "acceptEdits"       // edits in the working directories are allowed too
	Plan        Mode = "plan"              // only what changes nothing
	Auto        Mode = "auto"              // as acceptEdits, without broad allow rules; meant for a classifier, which is not there yet
	DontAsk     Mode = "dontAsk"           // what would be asked is denied
	Bypass      Mode = "bypassPermissions" // what would be asked is allowed
)

// Modes returns the modes a user can choose.
func Modes() []Mode { return []Mode{Default, AcceptEdits, Plan, Auto, DontAsk, Bypass} }

// ParseMode returns the mode called name. Its error lists the modes and names the closest.
func ParseMode(name string) (Mode, error) {
	if name == "manual" { // what others call it
		return Default, nil
	}
	if slices.Contains(Modes(), Mode(name)) {
		return Mode(name), nil
	}
	var names []string
	for _, m := range Modes() {
		names = append(names, string(m))
	}
	err := fmt.Errorf("unknown permission mode %q: choose one of %s", name, strings.Join(names, ", "))
	if near := spell.Closest(name, names, 1); len(near) > 0 {
		err = fmt.Errorf("%w; did you mean %s?", err, near[0])
	}
	return "", err
}

// acceptsEdits reports whether the mode allows edits inside the working directories.
func (m Mode) acceptsEdits() bool { return m == AcceptEdits || m == Auto || m == Bypass }

// unattended reports whether the mode lets edits pass unseen.
func (m Mode) unattended() bool { return m == Auto || m == Bypass }
