package trust

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// An Item is something of a workspace that would be run or read from elsewhere. It is approved by what it is:
// when any of it changes, it is another one.
type Item struct {
	Kind string // hook, server, helper, include or file
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

// Include returns the item of a file outside the workspace that its instructions may include; it is approved
// by its path.
func Include(path string) Item { return Item{"include", path, "shown to the model"} }

// NoInclude returns the item that says that they may not include it.
func NoInclude(path string) Item { return Item{"include", path, "not shown to the model"} }

const kindFile = "file"

// File returns the item of a settings file that is the user's own with exactly this content. Path has no links.
func File(path string, data []byte) Item { return Item{kindFile, path, contentHash(data)} }

func contentHash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// canonical writes JSON so that order and space do not matter.
func canonical(raw json.RawMessage) string {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return string(raw)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return string(raw)
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

func (it Item) hash() string {
	h := sha256.New()
	for _, s := range []string{it.Kind, it.Name, it.Text} {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))
}
