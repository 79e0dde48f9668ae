// Package environ keeps the environment that the process was started with, and says which variables are
// secrets. Which programs get them is left to those who start programs.
package environ

import (
	"os"
	"runtime"
	"slices"
	"strings"

	"adze/internal/platform/osproc"
	"adze/internal/platform/redact"
)

// Variables are the environment variables that the process was started with. It does not change.
type Variables struct {
	entries []string
	hidden  map[string]string // those that the process itself no longer has
}

// Take returns the environment of the process and removes the secrets from it, so that programs inherit
// none by accident and that, where the system allows it, none can be read from outside.
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
			os.Unsetenv(name) // ok: the system gave it this name
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

// fold returns a name in the form in which names are compared.
func fold(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

// sensitive reports whether there is a secret in the value of a variable.
func sensitive(name, value string) bool {
	return value != "" && (osproc.SecretName(name) || strings.HasSuffix(strings.ToUpper(name), "_HEADERS") || redact.String(value) != value)
}

// isProxy reports whether a variable names a proxy. The standard library reads those itself.
func isProxy(name string) bool { return strings.HasSuffix(strings.ToUpper(name), "_PROXY") }

// Secret reports whether a variable is a secret, by its name or because its value looks like the key of a
// known service.
func Secret(name, value string) bool {
	return osproc.SecretName(name) || redact.HasKey(value) || strings.HasPrefix(name, "GIT_CONFIG_VALUE_") && redact.String(value) != value
}

// Withhold returns env without secrets, except the variables that keep names, and the names of those that it
// left out. A name in keep may end in *.
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
		// Git fails if one of the values is missing that it was promised.
		rest = slices.DeleteFunc(rest, func(entry string) bool { return strings.HasPrefix(entry, "GIT_CONFIG_COUNT=") })
	}
	return rest, withheld
}

// WithoutPasswords returns env without the variables whose value is a URL with a password, except those that keep names.
func WithoutPasswords(env, keep []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, value, _ := strings.Cut(entry, "=")
		return redact.HasURLPassword(value) && !slices.ContainsFunc(keep, func(k string) bool { return names(k, name) })
	})
}

// names reports whether a pattern, a name or the beginning of one with *, stands for a name.
func names(pattern, name string) bool {
	if start, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(fold(name), fold(start))
	}
	return fold(pattern) == fold(name)
}
