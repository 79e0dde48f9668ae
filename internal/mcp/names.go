package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// maxName is how many characters the name of a tool has at most.
const maxName = 64

// Names returns what the tools or prompts of a server are called, by the server's own names for them: mcp__<server>__<tool> with
// other characters than letters, digits, '_' and '-' replaced by '_'. A name that would be too long, or that another
// tool has or would get as well, ends in a hash. The order of the tools does not matter.
func Names(server string, tools []string) map[string]string {
	prefix := "mcp__" + mapped(server) + "__"
	plain := make(map[string][]string, len(tools)) // tools by the name they would have
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

// mapped returns a name with the characters that names of tools have.
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

// hashed cuts a name and adds a hash of the whole.
func hashed(name, whole string) string {
	sum := sha256.Sum256([]byte(whole))
	return name[:min(len(name), maxName-9)] + "_" + hex.EncodeToString(sum[:4])
}
