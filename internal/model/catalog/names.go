package catalog

import (
	"iter"
	"slices"
	"strconv"
	"strings"
)

// LongSuffix selects the long-context variant of a model. It is never sent.
const LongSuffix = "[1m]"

// cutSuffix splits off what stands in brackets at the end of a name, with the brackets. Without such an
// end, or with nothing before it, the suffix is empty.
func cutSuffix(name string) (plain, suffix string) {
	i := strings.IndexByte(name, '[')
	if i <= 0 || !strings.HasSuffix(name, "]") {
		return name, ""
	}
	return name[:i], name[i:]
}

// An alias is a short name for a model of a vendor.
type alias struct{ name, id string }

// Aliases returns the short names that need no provider before them.
func (t Table) Aliases() []string {
	var names []string
	if v := t.vendor(); v != nil {
		for _, a := range v.aliases {
			names = append(names, a.name)
		}
	}
	return names
}

// vendor returns the vendor whose aliases need no provider before them, or nil.
func (t Table) vendor() *vendor {
	if t.provider == "" {
		return &vendors[0]
	}
	return vendorOf(t.provider)
}

// AliasesOf returns the names that a user may give the model of that id.
func (t Table) AliasesOf(id string) []string {
	var names []string
	for i := range vendors {
		prefix := vendors[i].provider + "/"
		if &vendors[i] == t.vendor() {
			prefix = ""
		}
		for _, a := range vendors[i].aliases {
			if a.id == id {
				names = append(names, prefix+a.name)
			}
		}
	}
	return names
}

// vendorOf returns the vendor whose models a provider serves, or nil.
func vendorOf(provider string) *vendor {
	for i := range vendors {
		if v := &vendors[i]; v.provider == provider || slices.Contains(v.hosts, provider) {
			return v
		}
	}
	return nil
}

// unaliased returns the id of the model that v calls name, or name.
func (v *vendor) unaliased(name string) string {
	for _, a := range v.aliases {
		if strings.EqualFold(a.name, name) {
			return a.id
		}
	}
	return name
}

// cutProvider splits a name such as anthropic/opus. The provider serves the models of a vendor.
func cutProvider(name string) (provider, rest string, ok bool) {
	provider, rest, ok = strings.Cut(name, "/")
	if ok && rest != "" && vendorOf(provider) != nil {
		return provider, rest, true
	}
	return "", name, false
}

// undecorated yields the plainer forms of the ways in which clouds and gateways write an id, down to the plain one:
// "us.anthropic.claude-opus-4-6-v1:0", "claude-sonnet-4-5@20250929", "anthropic/claude-opus-4.6", "gpt-5.4-2026-03-05".
func undecorated(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		name := strings.ToLower(name)
		for i := range vendors {
			if at := strings.LastIndex(name, vendors[i].prefix); at >= 0 {
				name = name[at:]
				break
			}
		}
		name, _, _ = strings.Cut(name, "@")
		name, _, _ = strings.Cut(name, ":")
		name = dashed(name)
		for yield(name) {
			i := strings.LastIndexByte(name, '-')
			if i < 0 || !decoration(name[i+1:]) {
				if i = undated(name); i < 0 {
					return
				}
			}
			name = name[:i]
		}
	}
}

// dashed returns an id with dashes in its version, as gateways may write it.
func dashed(id string) string { return strings.ReplaceAll(id, ".", "-") }

// undated returns where the date begins at the end of a name such as gpt-5-4-2026-03-05, or -1.
func undated(name string) int {
	const date = "-2026-03-05"
	at := len(name) - len(date)
	if at <= 0 || !digits(strings.ReplaceAll(name[at:], "-", "")) {
		return -1
	}
	for i := range len(date) {
		if (date[i] == '-') != (name[at+i] == '-') {
			return -1
		}
	}
	return at
}

// decoration reports whether the last word of an id says when or how it is served, not what it is.
func decoration(word string) bool {
	if word == "latest" || digits(word) && (len(word) == len("20250929") || len(word) == len("001")) {
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

// generation splits an id such as claude-opus-5-5 or gpt-6-1-terra into its family and a number that grows with its
// version.
func (v *vendor) generation(id string) (family string, version int, ok bool) {
	rest, ok := strings.CutPrefix(dashed(id), v.prefix)
	if !ok {
		return "", 0, false
	}
	words := strings.Split(rest, "-")
	from := slices.IndexFunc(words, digits)
	if from < 0 {
		return "", 0, false
	}
	to := from + 1
	minor := uint64(0)
	major, err := strconv.ParseUint(words[from], 10, 16)
	if err == nil && to < len(words) && digits(words[to]) {
		minor, err = strconv.ParseUint(words[to], 10, 16)
		to++
	}
	return strings.Join(slices.Delete(words, from, to), "-"), int(major)<<16 | int(minor), err == nil
}
