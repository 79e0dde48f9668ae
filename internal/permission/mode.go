package permission

import "adze/internal/permission/mode"

// A Mode decides about calls that no rule covers.
type Mode = mode.Mode

// The modes; see [mode.Mode].
const (
	Default     = mode.Default
	AcceptEdits = mode.AcceptEdits
	Plan        = mode.Plan
	Auto        = mode.Auto
	DontAsk     = mode.DontAsk
	Bypass      = mode.Bypass
)

// Modes returns the modes a user can choose.
func Modes() []Mode { return mode.All() }

// Stricter returns the stricter of two modes; see [mode.Stricter].
func Stricter(a, b Mode) Mode { return mode.Stricter(a, b) }

// ParseMode returns the mode with the given name. Its error lists the modes and suggests the
// closest one.
func ParseMode(name string) (Mode, error) { return mode.Parse(name) }
