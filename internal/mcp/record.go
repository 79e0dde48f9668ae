package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adze/internal/mcp/roster"
)

// A Record stores servers' tools across processes, so that the user can be notified of changed
// tools.
type Record interface {
	// Compare stores a digest for each of a server's tools by name. It returns the previous
	// digests that differ.
	Compare(ctx context.Context, server string, digests map[string]string) (before map[string]string, err error)
}

// compare returns how a server's tools differ from the recorded ones, one line each.
func (b *hub) compare(e *roster.Entry, tools []Tool) []string {
	if b.cfg.Record == nil {
		return nil
	}
	now := make(map[string]string, len(tools))
	for i := range tools {
		now[tools[i].Name] = digest(&tools[i])
	}
	before, err := b.cfg.Record.Compare(b.ctx, recordKey(e), now)
	if err != nil {
		return []string{fmt.Sprintf("checking the tools of server %s for changes: %v", e.Name, err)}
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(before)) {
		lines = append(lines, fmt.Sprintf("the tool %s of the server %s has changed: its %s changed", name, e.Name, difference(before[name], now[name])))
	}
	return lines
}

// maxReported limits the tool changes reported to the user, and maxChanges the ones shown on
// request.
const maxReported, maxChanges = 5, 200

// report notifies the user of tool changes. The caller holds the lock.
func (b *hub) report(sv *server, changes []string) {
	for _, line := range changes {
		switch sv.reported++; {
		case sv.reported <= maxReported:
			b.say(sv, line)
		case sv.reported == maxReported+1:
			b.say(sv, fmt.Sprintf("more tools of the server %s changed; /mcp %s shows them", sv.entry.Name, sv.entry.Name))
		}
	}
	all := append(slices.Clip(sv.changes), changes...)
	sv.changes = all[max(0, len(all)-maxChanges):]
}

// aspects names the parts of a digest, in order.
func aspects() []string { return []string{"description", "input", "annotations"} }

// digest returns a digest that distinguishes versions of a tool.
func digest(t *Tool) string {
	hints := t.Title + "\x00" + t.Hint
	for _, b := range []*bool{t.ReadOnly, t.Destructive, t.OpenWorld} {
		switch {
		case b == nil:
			hints += "\x00"
		default:
			hints += fmt.Sprint("\x00", *b)
		}
	}
	var parts []string
	for _, text := range []string{t.Description, string(t.Schema), hints} {
		sum := sha256.Sum256([]byte(text))
		parts = append(parts, hex.EncodeToString(sum[:8]))
	}
	return strings.Join(parts, ".")
}

// difference names the aspects that differ between two digests.
func difference(before, now string) string {
	b, n := strings.Split(before, "."), strings.Split(now, ".")
	var what []string
	for i, name := range aspects() {
		if i >= len(b) || i >= len(n) || b[i] != n[i] {
			what = append(what, name)
		}
	}
	return strings.Join(what, " and ")
}
