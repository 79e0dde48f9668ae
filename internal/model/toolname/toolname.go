// Package toolname makes the names of tools fit for providers that restrict them, and finds the tool again that a
// restricted name stands for.
package toolname

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"adze/internal/msg"
)

// Most is how long a restricted name is at most.
const Most = 64

// sum is how many digits of a hash end a name that had to be changed.
const sum = 20

// Restrict returns name as 1 to 64 letters, digits, _ and -. A name that is like that stays as it is. No two names become
// the same: one that has to change ends in a hash of what it was, and so does one that only looks as if it had changed.
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

// Original returns the name of the tool that a restricted name stands for. One that stands for none of the tools is returned
// as it is: running the call says that there is no such tool.
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

// hashed reports whether a name ends as one that was changed.
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
