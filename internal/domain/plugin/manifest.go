package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"adze/internal/platform/text/jsonscan"
)

// maxText bounds a string in a manifest, and maxItems a list.
const (
	maxText  = 2000
	maxItems = 256
)

// A manifest is a plugin.json, or the marketplace entry that replaces it. Paths are kept as
// written.
type manifest struct {
	name string
	Manifest
	// A nil list is absent.
	skills, commands, agents, styles []string
	// hooks, servers and languages hold objects, or file paths as JSON strings.
	hooks, servers, languages []json.RawMessage
}

// object returns the members of an object. If a name is repeated, the last member wins. Unlike
// decoding into a struct, names are case-sensitive.
func object(data []byte) (map[string]json.RawMessage, error) {
	if members, ok := quickObject(data); ok {
		return members, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &members); err != nil {
		if jsonKind(data) != '{' && json.Valid(data) {
			return nil, errors.New("it must be an object")
		}
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if members == nil {
		return nil, errors.New("it must be an object")
	}
	return members, nil
}

// quickObject returns the members of a well-formed object as subslices of data. It is a fast
// path for the many objects read at startup.
func quickObject(data []byte) (map[string]json.RawMessage, bool) {
	members := map[string]json.RawMessage{}
	err := jsonscan.Object(data, func(name, value []byte) error {
		if !utf8.Valid(name) {
			return errors.New("it is not UTF-8")
		}
		members[string(name)] = value
		return nil
	})
	return members, err == nil
}

// jsonKind returns the first character of a value, or 0.
func jsonKind(value []byte) byte {
	if value = bytes.TrimLeft(value, " \t\r\n"); len(value) > 0 {
		return value[0]
	}
	return 0
}

// parseManifest parses a manifest. An invalid field is reported as a Problem with an empty
// File; the other fields are still used.
func parseManifest(data []byte) (manifest, []Problem, error) {
	members, err := object(data)
	if err != nil {
		return manifest{}, nil, err
	}
	var problems []Problem
	problem := func(field, format string, args ...any) {
		problems = append(problems, Problem{Field: field, Text: fmt.Sprintf(format, args...)})
	}
	var m manifest
	text := func(field string) string {
		value := members[field]
		if jsonscan.IsNull(value) {
			return ""
		}
		s, ok := jsonscan.String(value)
		if !ok {
			problem(field, "it must be a text")
		}
		return shorten(s)
	}
	m.name, m.Version, m.Description = text("name"), text("version"), text("description")
	m.Homepage, m.License = text("homepage"), text("license")
	m.Author, m.Repository = named(members["author"], "name"), named(members["repository"], "url")
	if keywords, ok := list(members["keywords"]); ok {
		m.Keywords = keywords
	} else {
		problem("keywords", "they must be a list of texts")
	}
	for _, l := range []struct {
		field string
		to    *[]string
	}{{"skills", &m.skills}, {"commands", &m.commands}, {"agents", &m.agents}, {"outputStyles", &m.styles}} {
		value := members[l.field]
		if l.field == "commands" && jsonKind(value) == '{' {
			value = sources(value, func(name string) { problem("commands", "%s has no path to a file in source: it is not used", name) })
		}
		paths, ok := list(value)
		if !ok {
			problem(l.field, "it must be a path or a list of at most %d paths", maxItems)
			paths = []string{} // don't fall back to the default: the author meant something else
		}
		*l.to = paths
	}
	for _, l := range []struct {
		field string
		to    *[]json.RawMessage
	}{{"hooks", &m.hooks}, {"mcpServers", &m.servers}, {"lspServers", &m.languages}} {
		values, ok := pathsOrObjects(members[l.field])
		if !ok {
			problem(l.field, "it must be a path, an object, or a list of these")
		}
		*l.to = values
	}
	m.Options = options(members["userConfig"], problem)
	if !jsonscan.IsNull(members["dependencies"]) && jsonKind(members["dependencies"]) == '[' && string(bytes.TrimSpace(members["dependencies"])) != "[]" {
		problem("dependencies", "other plugins are not installed with it: install them yourself")
	}
	return m, problems, nil
}

// shorten truncates a string to maxText.
func shorten(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "") + "…"
}

// named returns a string, or the string in the given member of an object.
func named(value json.RawMessage, member string) string {
	if s, ok := jsonscan.String(value); ok {
		return shorten(s)
	}
	if members, err := object(value); err == nil {
		s, _ := jsonscan.String(members[member])
		return shorten(s)
	}
	return ""
}

// list returns a string or list of strings as a list, or nil if the value is null. It returns
// false for any other value.
func list(value json.RawMessage) ([]string, bool) {
	if jsonscan.IsNull(value) {
		return nil, true
	}
	if s, ok := jsonscan.String(value); ok {
		return []string{s}, true
	}
	all := []string{}
	err := jsonscan.List(value, func(value []byte) error {
		s, ok := jsonscan.String(value)
		if !ok || len(all) == maxItems {
			return errors.New("not a string")
		}
		all = append(all, s)
		return nil
	})
	return all, err == nil
}

// sources returns, as a JSON list, the paths in an object that maps command names to their
// sources. It calls left for commands without a path.
func sources(value json.RawMessage, left func(name string)) json.RawMessage {
	members, err := object(value)
	if err != nil {
		return value
	}
	paths := []string{}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if path := named(members[name], "source"); path != "" {
			paths = append(paths, path)
		} else {
			left(shorten(name))
		}
	}
	data, _ := json.Marshal(paths) // ok: strings can be encoded
	return data
}

// pathsOrObjects returns a path, an object, or a list of these. It returns false for any other
// value.
func pathsOrObjects(value json.RawMessage) ([]json.RawMessage, bool) {
	switch jsonKind(value) {
	case 0, 'n':
		return nil, true
	case '"', '{':
		return []json.RawMessage{value}, true
	}
	var all []json.RawMessage
	err := jsonscan.List(value, func(value []byte) error {
		if kind := jsonKind(value); kind != '"' && kind != '{' || len(all) == maxItems {
			return errors.New("it is neither a path nor an object")
		}
		all = append(all, value)
		return nil
	})
	return all, err == nil
}

// options returns the values a plugin asks the user for, in file order.
func options(value json.RawMessage, problem func(field, format string, args ...any)) []Option {
	if jsonscan.IsNull(value) {
		return nil
	}
	var all []Option
	seen := map[string]bool{}
	err := jsonscan.Object(value, func(name, value []byte) error {
		field := "userConfig." + shorten(string(name))
		o := Option{Name: string(name), Type: "string"}
		members, err := object(value)
		switch {
		case err != nil:
			problem(field, "%v", err)
			return nil
		case !isVariable(o.Name):
			problem(field, "the name of an option must be of letters, digits and underscores")
			return nil
		case seen[strings.ToUpper(o.Name)]:
			problem(field, "an option of the same name is there already")
			return nil
		case len(all) == maxItems:
			return errors.New("there are too many options")
		}
		seen[strings.ToUpper(o.Name)] = true
		text := func(member string) string { s, _ := jsonscan.String(members[member]); return shorten(s) }
		o.Title, o.Description = text("title"), text("description")
		switch t := text("type"); t {
		case "":
		case "string", "number", "boolean", "directory", "file":
			o.Type = t
		default:
			problem(field, "unknown type %q; treating it as a string", t)
		}
		if d := members["default"]; !jsonscan.IsNull(d) && len(d) <= maxText {
			o.Default = slices.Clone(d)
		}
		o.Required = string(members["required"]) == "true"
		o.Secret = string(members["sensitive"]) == "true"
		all = append(all, o)
		return nil
	})
	if err != nil {
		problem("userConfig", "%v", err)
	}
	return all
}

// isVariable reports whether an option name is valid as an environment variable.
func isVariable(name string) bool {
	for i, c := range []byte(name) {
		if letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'; !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && len(name) <= maxName
}
