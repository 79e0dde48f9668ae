// Package toolname adapts tool names for providers that restrict them and maps restricted names
// back to the originals.
package toolname

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"adze/internal/msg"
)

// Most is the maximum length of a restricted name.
const Most = 64

// sum is the number of hash digits at the end of a changed name.
const sum = 20

// Restrict returns name as 1 to 64 letters, digits, _ and -. A valid name is unchanged. No two
// names collide: a changed name ends in a hash of the original, and a valid name that looks
// like a changed one is hashed too.
func Restrict(name string) string {
	if fits(name) && !hashed(name) {
		return name
	}
	plain := strings.Map(func(c rune) rune {
		if c < 0x80 && allowed(byte(c)) {
			return c
		}
		return '_'
	}, name)
	hash := sha256.Sum256([]byte(name))
	return plain[:min(len(plain), Most-sum-1)] + "_" + hex.EncodeToString(hash[:])[:sum]
}

// Original returns the tool name for a restricted name. If it matches none of the tools, it is
// returned unchanged: running the call then reports an unknown tool.
func Original(tools []msg.ToolSpec, name string) string {
	if !hashed(name) {
		return name
	}
	for i := range tools {
		if Restrict(tools[i].Name) == name {
			return tools[i].Name
		}
	}
	return name
}

func fits(name string) bool {
	for i := range len(name) {
		if !allowed(name[i]) {
			return false
		}
	}
	return name != "" && len(name) <= Most
}

func allowed(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

// hashed reports whether a name has the form of a changed name.
func hashed(name string) bool {
	at := len(name) - sum
	if at < 1 || name[at-1] != '_' {
		return false
	}
	for _, c := range []byte(name[at:]) {
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'f') {
			return false
		}
	}
	return true
}
