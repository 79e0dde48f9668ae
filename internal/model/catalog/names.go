package catalog

import (
	"strconv"
	"strings"
)

// longSuffix selects the long-context variant of a model. It is never sent.
const longSuffix = "[1m]"

// cutSuffix splits off what stands in brackets at the end of a name, with the brackets. Without such an
// end, or with nothing before it, the suffix is empty.
func cutSuffix(name string) (plain, suffix string) {
	i := strings.IndexByte(name, '[')
	if i <= 0 || !strings.HasSuffix(name, "]") {
		return name, ""
	}
	return name[:i], name[i:]
}

// aliases are the short names. "best" is the most capable model open to everyone.
var aliases = [...]struct{ name, id string }{
	{"default", "claude-opus-5-5"},
	{"best", "claude-fable-5-1"},
	{"fable", "claude-fable-5-1"},
	{"opus", "claude-opus-5-5"},
	{"sonnet", "claude-sonnet-5-5"},
	{"haiku", "claude-haiku-5-5"},
}

// Aliases returns the short names.
func Aliases() []string {
	var names []string
	for _, a := range aliases {
		names = append(names, a.name)
	}
	return names
}

// AliasesOf returns the names that a user may give the model of that id.
func AliasesOf(id string) []string {
	var names []string
	for _, name := range Aliases() {
		if m, ok := (Table{}).Lookup(name); ok && m.ID == id {
			names = append(names, name)
		}
	}
	return names
}

func alias(name string) (id string, ok bool) {
	for _, a := range aliases {
		if strings.EqualFold(a.name, name) {
			return a.id, true
		}
	}
	return "", false
}

// cutProvider splits a name such as anthropic/opus. The provider is one of the table.
func cutProvider(name string) (provider, rest string, ok bool) {
	provider, rest, ok = strings.Cut(name, "/")
	if ok && rest != "" {
		for i := range vendors {
			if vendors[i].provider == provider {
				return provider, rest, true
			}
		}
	}
	return "", name, false
}

// undecorated reduces the ways in which clouds and gateways write an id to the plain one:
// "us.anthropic.claude-opus-4-6-v1:0", "claude-sonnet-4-5@20250929", "anthropic/claude-opus-4.6".
func undecorated(name string) string {
	name = strings.ToLower(name)
	for i := range vendors {
		if at := strings.LastIndex(name, vendors[i].prefix); at >= 0 {
			name = name[at:]
			break
		}
	}
	name, _, _ = strings.Cut(name, "@")
	name, _, _ = strings.Cut(name, ":")
	name = strings.ReplaceAll(name, ".", "-")
	for {
		i := strings.LastIndexByte(name, '-')
		if i < 0 || !decoration(name[i+1:]) {
			return name
		}
		name = name[:i]
	}
}

// decoration reports whether the last word of an id says when or how it is served, not what it is.
func decoration(word string) bool {
	if word == "latest" || len(word) == len("20250929") && digits(word) {
		return true
	}
	version, ok := strings.CutPrefix(word, "v")
	return ok && digits(version)
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// successor returns the latest model of the family of id, if id is of a later generation.
func successor(id string) (Model, bool) {
	for i := range vendors {
		v := &vendors[i]
		family, version, ok := v.generation(id)
		if !ok {
			continue
		}
		var latest *line
		latestVersion := 0
		for j := range v.lines {
			if f, n, ok := v.generation(v.lines[j].id); ok && f == family && n > latestVersion {
				latest, latestVersion = &v.lines[j], n
			}
		}
		if latest == nil || version <= latestVersion {
			return Model{}, false
		}
		m := v.model(latest)
		m.Name, m.Known = id, false
		m.Price, m.Cutoff, m.Retires = nil, "", ""
		return m, true
	}
	return Model{}, false
}

// generation splits an id such as claude-opus-5-5 into its family and a number that grows with its
// version.
func (v *vendor) generation(id string) (family string, version int, ok bool) {
	rest, ok := strings.CutPrefix(id, v.prefix)
	if !ok {
		return "", 0, false
	}
	family, rest, ok = strings.Cut(rest, "-")
	if !ok {
		return "", 0, false
	}
	major, minor, hasMinor := strings.Cut(rest, "-")
	if !hasMinor {
		minor = "0"
	}
	x, errX := strconv.ParseUint(major, 10, 16)
	y, errY := strconv.ParseUint(minor, 10, 16)
	return family, int(x)<<16 | int(y), errX == nil && errY == nil
}
