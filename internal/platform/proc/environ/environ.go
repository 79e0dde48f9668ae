// Package environ captures the environment that the process was started with and identifies
// secret variables. Callers decide which programs get them.
package environ

import (
	"os"
	"runtime"
	"slices"
	"strings"

	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/text/redact"
)

// Variables is the environment that the process was started with. It is immutable.
type Variables struct {
	entries []string
	hidden  map[string]string // variables removed from the process environment
}

// Take returns the process environment and removes the secrets from it, so that child processes
// don't inherit them by accident and, where the system allows it, other processes can't read
// them.
func Take() *Variables {
	v := &Variables{entries: os.Environ(), hidden: map[string]string{}}
	for _, entry := range v.entries {
		name, value, _ := strings.Cut(entry, "=")
		if name != "" && sensitive(name, value) {
			v.hidden[fold(name)] = value
		}
	}
	if len(v.hidden) == 0 {
		return v
	}
	for _, entry := range v.entries {
		name, _, _ := strings.Cut(entry, "=")
		if _, ok := v.hidden[fold(name)]; ok && !isProxy(name) {
			os.Unsetenv(name) // ok: the name came from the system
		}
	}
	erase(sensitive)
	return v
}

// Get returns the value of a variable, or "".
func (v *Variables) Get(name string) string {
	if value, ok := v.hidden[fold(name)]; ok {
		return value
	}
	return os.Getenv(name)
}

// List returns all variables in the form NAME=value.
func (v *Variables) List() []string { return slices.Clone(v.entries) }

// fold normalizes a name for comparison.
func fold(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

// sensitive reports whether a variable's value contains a secret.
func sensitive(name, value string) bool {
	return value != "" && (osproc.SecretName(name) || strings.HasSuffix(strings.ToUpper(name), "_HEADERS") || redact.String(value) != value)
}

// isProxy reports whether a variable configures a proxy. The standard library reads these
// itself.
func isProxy(name string) bool { return strings.HasSuffix(strings.ToUpper(name), "_PROXY") }

// Secret reports whether a variable is a secret, by its name or because its value looks like a
// key for a known service.
func Secret(name, value string) bool {
	return osproc.SecretName(name) || redact.HasKey(value) || strings.HasPrefix(name, "GIT_CONFIG_VALUE_") && redact.String(value) != value
}

// Withhold returns env without secrets, and the names of the removed variables. Variables named
// in keep are not removed; a name in keep may end in *.
func Withhold(env, keep []string) (rest, withheld []string) {
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		if Secret(name, value) && !slices.ContainsFunc(keep, func(k string) bool { return names(k, name) }) {
			withheld = append(withheld, name)
		} else {
			rest = append(rest, entry)
		}
	}
	if slices.ContainsFunc(withheld, func(name string) bool { return strings.HasPrefix(name, "GIT_CONFIG_VALUE_") }) {
		// Git fails if GIT_CONFIG_COUNT promises more values than are present.
		rest = slices.DeleteFunc(rest, func(entry string) bool { return strings.HasPrefix(entry, "GIT_CONFIG_COUNT=") })
	}
	return rest, withheld
}

// WithoutPasswords returns env without variables whose value is a URL with a password, except
// the variables named in keep.
func WithoutPasswords(env, keep []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, value, _ := strings.Cut(entry, "=")
		return redact.HasURLPassword(value) && !slices.ContainsFunc(keep, func(k string) bool { return names(k, name) })
	})
}

// names reports whether pattern, a name or a prefix followed by *, matches name.
func names(pattern, name string) bool {
	if start, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(fold(name), fold(start))
	}
	return fold(pattern) == fold(name)
}
