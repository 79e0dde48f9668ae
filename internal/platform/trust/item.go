package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"adze/internal/platform/jsonc"
)

// An Item is something of a workspace that runs a program, reads from elsewhere or widens what is allowed. It is
// approved by its content: a changed item is another one.
type Item struct {
	Kind string // hook, server, helper, setting, include or file
	Name string // an event, the name of a server, the key of a setting, or a path
	Text string // all of it, as it is shown
}

// Hook returns the item of a hook.
func Hook(event, matcher string, handler json.RawMessage) Item {
	name := event
	if matcher != "" {
		name += "(" + matcher + ")"
	}
	return Item{"hook", name, canonical(handler)}
}

// Server returns the item of a server.
func Server(name string, config json.RawMessage) Item { return Item{"server", name, canonical(config)} }

// NoServer returns the item that says that the server is not to be started.
func NoServer(name string, config json.RawMessage) Item {
	return Item{"server", name, "not started: " + canonical(config)}
}

// Helper returns the item of a setting that is a command.
func Helper(key string, value json.RawMessage) Item { return Item{"helper", key, canonical(value)} }

// Setting returns the item of a setting that widens what is allowed: a rule, a variable, a directory, an item of a list,
// a member of an object or any other value. Dir is what paths in it are relative to, seen from the workspace.
func Setting(key, dir string, value json.RawMessage) Item {
	if dir != "." {
		key += " in " + dir
	}
	return Item{"setting", key, canonical(value)}
}

// Include returns the item of a file outside the workspace that its instructions may include; it is approved
// by its path.
func Include(path string) Item { return Item{"include", path, "shown to the model"} }

// NoInclude returns the item that says that they may not include it.
func NoInclude(path string) Item { return Item{"include", path, "not shown to the model"} }

// A Limit is a setting of a workspace that forbids something. The user relied on it when they trusted the workspace, so
// that it stays until they approve of its removal.
type Limit struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
	// Dir is what paths in it are relative to, and File the file it was in, both seen from the workspace.
	Dir  string `json:"dir"`
	File string `json:"file"`
}

const kindFile = "file"

// File returns the item of a settings file that is the user's own with exactly this content. Path has no links.
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
