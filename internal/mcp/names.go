package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// maxName is the maximum length of a tool name in characters.
const maxName = 64

// Names returns adze's names for a server's tools or prompts, by the server's own names:
// mcp__<server>__<tool> with characters other than letters, digits, '_' and '-' replaced by
// '_'. A name that would be too long or not unique ends in a hash. The result does not depend
// on the order of tools.
func Names(server string, tools []string) map[string]string {
	prefix := "mcp__" + mapped(server) + "__"
	plain := make(map[string][]string, len(tools)) // tools by the name without a hash
	all := slices.Compact(slices.Sorted(slices.Values(tools)))
	for _, tool := range all {
		name := prefix + mapped(tool)
		plain[name] = append(plain[name], tool)
	}
	names := make(map[string]string, len(all))
	taken := make(map[string]bool, len(all))
	for name, wanted := range plain {
		if len(name) > maxName {
			continue
		}
		if len(wanted) == 1 {
			names[wanted[0]], taken[name] = name, true
		} else if exact := strings.TrimPrefix(name, prefix); slices.Contains(wanted, exact) {
			names[exact], taken[name] = name, true
		}
	}
	for _, tool := range all {
		if names[tool] != "" {
			continue
		}
		name := hashed(prefix+mapped(tool), server+"\x00"+tool)
		for salt := "\x00"; taken[name]; salt += "\x00" {
			name = hashed(prefix+mapped(tool), server+salt+tool)
		}
		names[tool], taken[name] = name, true
	}
	return names
}

// mapped replaces characters not allowed in tool names.
func mapped(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return "_"
	}
	return name
}

// hashed truncates a name and adds a hash of the whole.
func hashed(name, whole string) string {
	sum := sha256.Sum256([]byte(whole))
	return name[:min(len(name), maxName-9)] + "_" + hex.EncodeToString(sum[:4])
}
