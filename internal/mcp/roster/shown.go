package roster

import (
	"strings"

	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/text/redact"
)

// Written returns the entry for display, with variable names in place of their values. Values
// of variables and headers are masked unless they only name variables, and so are apparent
// secrets elsewhere.
func (e *Entry) Written() *Entry {
	w := *e
	if e.Raw != nil {
		src := Source{Scope: e.Scope, File: e.File, Getenv: func(name string) string { return "${" + name + "}" }}
		if e.Scope == Plugin {
			src.Option = func(name string) (string, bool) { return "${user_config." + name + "}", true }
		}
		w = *src.Entry(e.Given, e.Raw)
	}
	w.URL, w.HeadersHelper = redact.String(w.URL), redact.String(w.HeadersHelper)
	w.Args = masked(w.Args)
	w.Env, w.Headers = maskedValues(w.Env), maskedValues(w.Headers)
	return &w
}

// Summary briefly describes the command or address of an entry, without secrets.
func (e *Entry) Summary() string {
	w := e.Written()
	if e.Remote() {
		return w.URL
	}
	return strings.TrimSpace(w.Command + " " + strings.Join(w.Args, " "))
}

const mask = "***"

// masked returns arguments with the values of secret-looking flags masked.
func masked(args []string) []string {
	shown := make([]string, 0, len(args))
	secret := false
	for _, arg := range args {
		name, value, assigned := strings.Cut(arg, "=")
		named := strings.HasPrefix(arg, "-") && osproc.SecretName(strings.ReplaceAll(strings.TrimLeft(name, "-"), "-", "_"))
		switch {
		case secret && !strings.HasPrefix(arg, "-") && !strings.Contains(arg, "${"):
			arg = mask
		case named && assigned && !strings.Contains(value, "${"):
			arg = name + "=" + mask
		}
		secret = named && !assigned
		shown = append(shown, redact.String(arg))
	}
	return shown
}

func maskedValues(values map[string]string) map[string]string {
	shown := map[string]string{}
	for name, value := range values {
		if !strings.Contains(value, "${") {
			value = mask
		}
		shown[name] = redact.String(value)
	}
	return shown
}
