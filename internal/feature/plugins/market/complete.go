package market

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/domain/plugin"
	"adze/internal/platform/text/jsonscan"
)

// brings lists the manifest fields for plugin components: path lists, each with the directory
// used by default, and objects or paths of files containing them.
var brings = []struct{ field, folder string }{
	{"skills", "skills"}, {"commands", "commands"}, {"agents", "agents"}, {"outputStyles", "output-styles"}, {"hooks", ""}, {"mcpServers", ""}, {"lspServers", ""},
}

// complete writes the entry's plugin description into tree as a manifest. If the plugin has its
// own manifest, the entry adds components, or, if it is not strict, lists all of them.
func (e *Entry) complete(tree string) error {
	root, err := os.OpenRoot(tree)
	if err != nil {
		return err
	}
	defer root.Close()
	own, err := ownManifest(root)
	if err != nil {
		return err
	}
	names := slices.ContainsFunc(brings, func(b struct{ field, folder string }) bool { return !jsonscan.IsNull(e.raw[b.field]) })
	if own != nil && e.strict && !names {
		return nil
	}
	manifest := map[string]json.RawMessage{}
	for field, value := range e.raw {
		switch field {
		case "name", "source", "strict":
		case "version", "description", "author", "homepage", "repository", "license", "keywords", "category", "tags":
			// Marketplace texts are not part of the plugin's content: they may change without
			// changing its hash.
		default:
			manifest[field] = value
		}
	}
	switch {
	case own != nil:
		var said map[string]json.RawMessage
		if json.Unmarshal(own, &said) != nil || said == nil {
			return nil // the reader reports the error
		}
		manifest = e.join(root, said)
	case len(manifest) == 0:
		return nil
	default:
		manifest["name"] = e.raw["name"]
	}
	data, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return err
	}
	if err := root.RemoveAll(".adze-plugin"); err != nil {
		return err
	}
	if err := root.Mkdir(".adze-plugin", 0o755); err != nil {
		return err
	}
	return root.WriteFile(filepath.FromSlash(".adze-plugin/plugin.json"), data, 0o644)
}

// ownManifest returns the plugin's own manifest, or nil. If it is too large, reading it later
// reports the error.
func ownManifest(root *os.Root) ([]byte, error) {
	for _, name := range []string{".adze-plugin/plugin.json", ".claude-plugin/plugin.json"} {
		local := filepath.FromSlash(name)
		info, err := root.Lstat(local)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			info, err = root.Stat(local)
		}
		if err != nil {
			return nil, fmt.Errorf("%s cannot be read, or leads out of the plugin", name)
		}
		if !info.Mode().IsRegular() || info.Size() > plugin.MaxManifest {
			return []byte{}, nil
		}
		return root.ReadFile(local)
	}
	return nil, nil
}

// join returns the plugin's manifest extended by the components in the entry.
func (e *Entry) join(root *os.Root, own map[string]json.RawMessage) map[string]json.RawMessage {
	for _, b := range brings {
		value := e.raw[b.field]
		switch {
		case !e.strict && jsonscan.IsNull(value):
			delete(own, b.field)
		case !e.strict:
			own[b.field] = value
		case jsonscan.IsNull(value):
		case b.folder == "":
			own[b.field] = encoded(append(items(own[b.field]), items(value)...))
		default:
			own[b.field] = joinPaths(root, b.folder, own[b.field], value)
		}
	}
	return own
}

// joinPaths returns the paths listed by the plugin, its default directory if it lists none, and
// the further ones.
func joinPaths(root *os.Root, folder string, own, further json.RawMessage) json.RawMessage {
	inFolder := func(item json.RawMessage) bool {
		written, _ := jsonscan.String(item)
		name, err := plugin.Local(written)
		return err == nil && (name == folder || strings.HasPrefix(name, folder+"/"))
	}
	info, err := root.Stat(folder)
	there := err == nil && info.IsDir()
	list := paths(own)
	if there && (jsonscan.IsNull(own) || folder == "skills" && !slices.ContainsFunc(list, inFolder)) {
		// The whole directory is already used, so drop further paths inside it.
		list = append(list, encoded("./"+folder))
		return encoded(append(list, slices.DeleteFunc(paths(further), inFolder)...))
	}
	return encoded(append(list, paths(further)...))
}

// paths returns a path or list of paths as a list. Commands may be an object instead, whose
// members each name their source.
func paths(value json.RawMessage) []json.RawMessage {
	var members map[string]json.RawMessage
	if jsonscan.IsNull(value) || json.Unmarshal(value, &members) != nil {
		return items(value)
	}
	var list []json.RawMessage
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if source := named(members[name], "source"); source != "" {
			list = append(list, encoded(source))
		}
	}
	return list
}

// items returns the elements of a list, or a single value as the only element.
func items(value json.RawMessage) (list []json.RawMessage) {
	if jsonscan.IsNull(value) {
		return nil
	}
	if json.Unmarshal(value, &list) == nil {
		return list
	}
	return []json.RawMessage{value}
}

// encoded returns a value as JSON.
func encoded(v any) json.RawMessage {
	data, _ := json.Marshal(v) // ok: strings and JSON that was parsed before
	return data
}
