package catalog

import (
	"iter"
	"slices"
	"strconv"
	"strings"
)

// LongSuffix selects the long-context variant of a model. It is never sent.
const LongSuffix = "[1m]"

// cutSuffix splits a bracketed suffix, including the brackets, off a name. The suffix is empty
// if the name has none or if nothing precedes it.
func cutSuffix(name string) (plain, suffix string) {
	i := strings.IndexByte(name, '[')
	if i <= 0 || !strings.HasSuffix(name, "]") {
		return name, ""
	}
	return name[:i], name[i:]
}

// An alias is a short name for a vendor's model.
type alias struct{ name, id string }

// Aliases returns the short names that need no provider prefix.
func (t Table) Aliases() []string {
	var names []string
	if v := t.vendor(); v != nil {
		for _, a := range v.aliases {
			names = append(names, a.name)
		}
	}
	return names
}

// vendor returns the vendor whose aliases need no provider prefix, or nil.
func (t Table) vendor() *vendor {
	if t.provider == "" {
		return &vendors[0]
	}
	return vendorOf(t.provider)
}

// AliasesOf returns the names under which a user can select the model with that ID.
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

// unaliased returns the ID for v's alias name, or name itself.
func (v *vendor) unaliased(name string) string {
	for _, a := range v.aliases {
		if strings.EqualFold(a.name, name) {
			return a.id
		}
	}
	return name
}

// cutProvider splits a name such as anthropic/opus. It returns false if no vendor's models are
// served by that provider.
func cutProvider(name string) (provider, rest string, ok bool) {
	provider, rest, ok = strings.Cut(name, "/")
	if ok && rest != "" && vendorOf(provider) != nil {
		return provider, rest, true
	}
	return "", name, false
}

// undecorated yields progressively plainer forms of an ID as written by clouds and gateways,
// such as "us.anthropic.claude-opus-4-6-v1:0", "claude-sonnet-4-5@20250929",
// "anthropic/claude-opus-4.6" and "gpt-5.4-2026-03-05".
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

// dashed returns an ID with dashes instead of dots in its version, as some gateways write it.
func dashed(id string) string { return strings.ReplaceAll(id, ".", "-") }

// undated returns the index of the date at the end of a name such as gpt-5-4-2026-03-05, or -1.
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

// decoration reports whether the last word of an ID is a date or serving variant rather than
// part of the model's name.
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

// successor returns the latest model of id's family if id is of a later generation.
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

// generation splits an ID such as claude-opus-5-5 or gpt-6-1-terra into its family and a number
// that increases with its version.
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
