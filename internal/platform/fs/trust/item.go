package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"adze/internal/platform/text/jsonc"
)

// An Item is a part of a workspace that runs a program, reads files elsewhere or widens
// permissions. It is approved by content: a changed item is a different item.
type Item struct {
	Kind string // hook, server, helper, setting, include or file
	Name string // event, server name, settings key or path
	Text string // full text, as displayed
}

// Hook returns the item for a hook.
func Hook(event, matcher string, handler json.RawMessage) Item {
	name := event
	if matcher != "" {
		name += "(" + matcher + ")"
	}
	return Item{"hook", name, canonical(handler)}
}

// Server returns the item for an MCP server.
func Server(name string, config json.RawMessage) Item { return Item{"server", name, canonical(config)} }

// NoServer returns the item for the decision not to start a server.
func NoServer(name string, config json.RawMessage) Item {
	return Item{"server", name, "not started: " + canonical(config)}
}

// Helper returns the item for a setting that is a command.
func Helper(key string, value json.RawMessage) Item { return Item{"helper", key, canonical(value)} }

// Setting returns the item for a setting that widens permissions: a rule, variable, directory,
// list item, object member or any other value. dir is the base for relative paths in it,
// relative to the workspace.
func Setting(key, dir string, value json.RawMessage) Item {
	if dir != "." {
		key += " in " + dir
	}
	return Item{"setting", key, canonical(value)}
}

// Include returns the item for a file outside the workspace that its instructions may include.
// It is approved by its path.
func Include(path string) Item { return Item{"include", path, "shown to the model"} }

// NoInclude returns the item for the decision not to include a file.
func NoInclude(path string) Item { return Item{"include", path, "not shown to the model"} }

// A Limit is a restrictive setting of a workspace. The user relied on it when they trusted the
// workspace, so it stays in effect until they approve its removal.
type Limit struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
	// Dir is the base for relative paths in it, and File is the file it was in, both relative
	// to the workspace.
	Dir  string `json:"dir"`
	File string `json:"file"`
}

const kindFile = "file"

// File returns the item for a settings file that is the user's own with exactly this content.
// path must not contain symlinks.
func File(path string, data []byte) Item { return Item{kindFile, path, contentHash(data)} }

func contentHash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func canonical(raw json.RawMessage) string { return string(jsonc.Canonical(raw)) }

func (it Item) hash() string {
	h := sha256.New()
	for _, s := range []string{it.Kind, it.Name, it.Text} {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))
}
