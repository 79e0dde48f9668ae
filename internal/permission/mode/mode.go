// Package mode defines the permission modes, which decide about calls that no rule covers.
package mode

import (
	"fmt"
	"slices"
	"strings"

	"adze/internal/platform/text/rank"
)

// A Mode decides about calls that no rule covers.
type Mode string

// The modes.
const (
	Default     Mode = "default"           // allows reads, asks about the rest
	AcceptEdits Mode = "acceptEdits"       // also allows edits in the working directories
	Plan        Mode = "plan"              // allows only calls that change nothing
	Auto        Mode = "auto"              // like acceptEdits, without broad allow rules; a judge answers the prompts
	DontAsk     Mode = "dontAsk"           // denies instead of asking
	Bypass      Mode = "bypassPermissions" // allows instead of asking
)

// All returns the modes a user can choose.
func All() []Mode { return []Mode{Default, AcceptEdits, Plan, Auto, DontAsk, Bypass} }

// About returns a short description of the mode, or "" if the mode does not exist.
func (m Mode) About() string {
	switch m {
	case Default:
		return "allows reads and asks before anything else"
	case AcceptEdits:
		return "also allows edits in the working directories; asks before commands"
	case Plan:
		return "read-only: the model explores and proposes a plan"
	case Auto:
		return "a model answers the prompts; allows edits in the working directories"
	case DontAsk:
		return "denies anything that would need a prompt"
	case Bypass:
		return "allows everything without asking, unless a rule denies it"
	}
	return ""
}

// Parse returns the mode with the given name. Its error lists the modes and suggests the
// closest one.
func Parse(name string) (Mode, error) {
	if name == "manual" { // another common name
		return Default, nil
	}
	if slices.Contains(All(), Mode(name)) {
		return Mode(name), nil
	}
	var names []string
	for _, m := range All() {
		names = append(names, string(m))
	}
	err := fmt.Errorf("unknown permission mode %q: choose one of %s", name, strings.Join(names, ", "))
	if near := rank.Closest(name, names, 1); len(near) > 0 {
		err = fmt.Errorf("%w; did you mean %s?", err, near[0])
	}
	return "", err
}

// Next returns the mode after m in the mode-cycling key's order. Allowed reports whether a mode
// more permissive than the usual ones can be chosen.
func (m Mode) Next(allowed func(Mode) bool) Mode {
	order := []Mode{Default, AcceptEdits, Plan}
	for _, more := range []Mode{Auto, Bypass} {
		if allowed(more) {
			order = append(order, more)
		}
	}
	i := slices.Index(order, m) // -1 if m is not in the order, so the first mode follows
	return order[(i+1)%len(order)]
}

// strictness lists the modes, strictest first.
var strictness = [...]Mode{Plan, DontAsk, Default, AcceptEdits, Auto, Bypass}

// Stricter returns the stricter of two modes. An empty mode is ignored; an unknown one is the
// strictest.
func Stricter(a, b Mode) Mode {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	case slices.Index(strictness[:], b) < slices.Index(strictness[:], a):
		return b
	}
	return a
}

// AcceptsEdits reports whether the mode allows edits inside the working directories.
func (m Mode) AcceptsEdits() bool { return m == AcceptEdits || m == Auto || m == Bypass }

// Unattended reports whether the mode allows edits that nobody sees.
func (m Mode) Unattended() bool { return m == Auto || m == Bypass }
