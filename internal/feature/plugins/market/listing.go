package market

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"adze/internal/domain/plugin"
	"adze/internal/platform/text/jsonscan"
)

// listingNames are the locations of a marketplace's listing; the first that exists is used.
var listingNames = [...]string{".adze-plugin/marketplace.json", ".claude-plugin/marketplace.json"}

// Listing limits.
const (
	maxListing = 4 << 20 // bytes
	maxPlugins = 5000
	maxText    = 2000
)

// A Listing is the content of a marketplace.
type Listing struct {
	plugin.Market
	Owner, Description string
	Plugins            []Entry
	Problems           []plugin.Problem
}

// Find returns the entry for a plugin, or nil.
func (l *Listing) Find(name string) *Entry {
	for i := range l.Plugins {
		if l.Plugins[i].Name == name {
			return &l.Plugins[i]
		}
	}
	return nil
}

// An Entry is a plugin listed by a marketplace.
type Entry struct {
	Name, Version, Description, Author, Category, Homepage string
	// Refused is the reason the plugin can't be installed; nil if it can.
	Refused error

	source   plugin.Source // set if outside the marketplace
	relative string        // directory inside the marketplace
	strict   bool          // the plugin's own manifest, if any, takes precedence
	raw      map[string]json.RawMessage
}

// Source returns the plugin's location.
func (e *Entry) Source() string {
	if e.relative != "" {
		return "./" + e.relative
	}
	return e.source.String()
}

// reserved reports whether a marketplace must not use this name because it could be mistaken
// for something built in.
func reserved(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case "builtin", "built-in", "bundled", "managed", "inline", "local", "user", "project", "official":
		return true
	}
	return name == "adze" || strings.HasPrefix(name, "adze-") || strings.HasPrefix(name, "adze.") || strings.HasPrefix(name, "adze_")
}

// parseListing parses a marketplace listing found at file. If paths is true, it may name local
// paths.
func parseListing(file string, data []byte, paths bool) (*Listing, error) {
	var top map[string]json.RawMessage
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &top); err != nil {
		return nil, fmt.Errorf("%s: not a marketplace: %w", file, err)
	}
	l := &Listing{}
	problem := func(field, format string, args ...any) {
		l.Problems = append(l.Problems, plugin.Problem{File: file, Field: field, Text: fmt.Sprintf(format, args...)})
	}
	name, _ := jsonscan.String(top["name"])
	if err := plugin.CheckName(name); err != nil {
		return nil, plugin.Problem{File: file, Field: "name", Text: err.Error()}
	}
	if reserved(name) {
		return nil, plugin.Problem{File: file, Field: "name", Text: fmt.Sprintf("a marketplace must not be called %q: the name is reserved", name)}
	}
	l.Name, l.Owner, l.Description = name, named(top["owner"], "name"), text(top, "description")
	var meta map[string]json.RawMessage
	if jsonscan.IsNull(top["metadata"]) || json.Unmarshal(top["metadata"], &meta) != nil {
		meta = nil
	}
	if l.Description == "" {
		l.Description = text(meta, "description")
	}
	base := text(meta, "pluginRoot")
	seen := map[string]string{}
	err := jsonscan.List(top["plugins"], func(value []byte) error {
		if len(l.Plugins) == maxPlugins {
			return fmt.Errorf("there are more than %d plugins", maxPlugins)
		}
		e, err := parseEntry(value, base, paths)
		if err != nil {
			problem("plugins", "%v: it is left out", err)
			return nil
		}
		if other, ok := seen[strings.ToLower(e.Name)]; ok {
			problem("plugins", "%s is there twice, or %s is taken for it: the first counts", e.Name, other)
			return nil
		}
		seen[strings.ToLower(e.Name)] = e.Name
		l.Plugins = append(l.Plugins, e)
		return nil
	})
	if err != nil {
		return nil, plugin.Problem{File: file, Field: "plugins", Text: err.Error()}
	}
	return l, nil
}

// text returns a string member of an object, truncated.
func text(members map[string]json.RawMessage, field string) string {
	s, _ := jsonscan.String(members[field])
	return shorten(s)
}

func shorten(s string) string {
	if len(s) > maxText {
		return strings.ToValidUTF8(s[:maxText], "") + "…"
	}
	return s
}

// named returns a string, or the string in the given member of an object.
func named(value json.RawMessage, member string) string {
	if s, ok := jsonscan.String(value); ok {
		return shorten(s)
	}
	var members map[string]json.RawMessage
	if len(value) == 0 || json.Unmarshal(value, &members) != nil {
		return ""
	}
	return text(members, member)
}

// parseEntry parses a plugin entry. It returns an error if the entry has no usable name.
func parseEntry(value []byte, base string, paths bool) (Entry, error) {
	e := Entry{strict: true}
	if err := json.Unmarshal(value, &e.raw); err != nil || e.raw == nil {
		return Entry{}, errors.New("an entry is not an object")
	}
	name, _ := jsonscan.String(e.raw["name"])
	if err := plugin.CheckName(name); err != nil {
		return Entry{}, err
	}
	e.Name, e.Version, e.Description = name, text(e.raw, "version"), text(e.raw, "description")
	e.Author, e.Category, e.Homepage = named(e.raw["author"], "name"), text(e.raw, "category"), text(e.raw, "homepage")
	e.strict = string(e.raw["strict"]) != "false"
	e.source, e.relative, e.Refused = decode(e.raw["source"])
	if e.Refused == nil && e.relative != "" {
		relative := e.relative
		if base != "" && !strings.HasPrefix(relative, ".") {
			relative = strings.TrimSuffix(base, "/") + "/" + relative
		}
		e.relative, e.Refused = plugin.Local(relative)
	} else if e.Refused == nil {
		e.Refused = checkSource(e.source, paths)
		if e.source.Kind != plugin.Git {
			e.Refused = errors.New("a plugin is a folder of the marketplace, or a git repository")
		}
	}
	if e.Refused != nil {
		e.Refused = fmt.Errorf("source: %w", e.Refused)
	}
	return e, nil
}

// decode parses a source: a path in the marketplace, or an object.
func decode(raw json.RawMessage) (src plugin.Source, relative string, err error) {
	if s, ok := jsonscan.String(raw); ok {
		if s == "" || strings.Contains(s, ":") {
			return src, "", fmt.Errorf("%q is not a path in the marketplace", shorten(s))
		}
		return src, s, nil
	}
	var o map[string]json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &o) != nil || o == nil {
		return src, "", errors.New("it must be a path or an object")
	}
	kind := text(o, "source")
	src = plugin.Source{Kind: plugin.Git, At: text(o, "url"), Ref: text(o, "ref"), SHA: text(o, "sha")}
	switch kind {
	case "github":
		repo, ok := repository(text(o, "repo"))
		if !ok {
			return src, "", fmt.Errorf("%q is not of the form OWNER/REPOSITORY", text(o, "repo"))
		}
		src.At = repo
	case "url", "git", "git-subdir":
		if repo, ok := repository(src.At); ok {
			src.At = repo
		}
		src.At = localPath(src.At)
	case "directory":
		src = plugin.Source{Kind: plugin.Directory, At: text(o, "path")}
		return src, "", nil
	case "npm", "pip", "archive", "command", "file":
		return src, "", fmt.Errorf("plugins from %s are not supported; use a git repository or a directory", kind)
	default:
		return src, "", fmt.Errorf("the kind %q is not known", kind)
	}
	if p := text(o, "path"); p != "" {
		if src.Path, err = plugin.Local(p); err != nil {
			return src, "", fmt.Errorf("path: %w", err)
		}
		src.Path = path.Clean(src.Path)
	}
	return src, "", checkSHA(src.SHA)
}
