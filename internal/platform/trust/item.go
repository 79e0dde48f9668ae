package trust

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// An Item is something of a workspace that would be run. It is approved by what it is: when any of it
// changes, it is another one.
type Item struct {
	Kind string // hook, server or helper
	Name string // an event, the name of a server, or the key of a setting
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

// Helper returns the item of a setting that is a command.
func Helper(key string, value json.RawMessage) Item { return Item{"helper", key, canonical(value)} }

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
