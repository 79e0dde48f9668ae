package msg_test

import (
	"regexp"
	"testing"

	"adze/internal/msg"
)

// TestNewID checks that IDs are random version 4 UUIDs.
//
// Proves SESS-11.
func TestNewID(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for range 1000 {
		id := msg.NewID()
		if !form.MatchString(id) || seen[id] {
			t.Fatal(id)
		}
		seen[id] = true
	}
}
