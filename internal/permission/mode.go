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
	Auto        Mode = "auto"              // a classifier answers
	DontAsk     Mode = "dontAsk"           // what would be asked is denied
	Bypass      Mode = "bypassPermissions" // what would be asked is allowed
	// Bubble is for forks of a session, whose questions go to the parent; it cannot be chosen by name.
	Bubble Mode = "bubble"
)

// Modes returns the modes a person can choose.
func Modes() []Mode { return []Mode{Default, AcceptEdits, Plan, Auto, DontAsk, Bypass} }

// Next returns the mode that follows m when a person goes through them, of those that are available.
func (m Mode) Next(mayAuto, mayBypass bool) Mode {
	cycle := []Mode{Default, AcceptEdits, Plan}
	if mayAuto {
		cycle = append(cycle, Auto)
	}
	if mayBypass {
		cycle = append(cycle, Bypass)
	}
	return cycle[(slices.Index(cycle, m)+1)%len(cycle)]
}

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
