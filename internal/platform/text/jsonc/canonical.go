package jsonc

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Canonical normalizes order, whitespace and escapes in JSON. If an object has two members
// whose names differ at most in case, Canonical returns raw unchanged, because parsers disagree
// about which of them counts.
func Canonical(raw []byte) []byte {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if ambiguous(raw) || dec.Decode(&v) != nil {
		return bytes.Clone(raw)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return bytes.Clone(raw)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// ambiguous reports whether any object in the text has two members with the same name, ignoring
// case.
func ambiguous(raw []byte) bool {
	if !bytes.ContainsRune(raw, '{') {
		return false
	}
	n, err := Parse(raw)
	return err != nil || n != nil && n.ambiguous()
}

func (n *Node) ambiguous() bool {
	seen := make(map[string]bool, len(n.Members))
	for _, m := range n.Members {
		name := fold(m.Name)
		if seen[name] || m.Value.ambiguous() {
			return true
		}
		seen[name] = true
	}
	for _, item := range n.Items {
		if item.ambiguous() {
			return true
		}
	}
	return false
}

// fold maps names that encoding/json treats as the same field to the same string.
func fold(name string) string { return strings.ToLower(strings.ToUpper(name)) }
