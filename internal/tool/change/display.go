package change

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"adze/internal/platform/edit"
	"adze/internal/tool"
)

// Display returns a change as the user sees it.
func Display(path string, created bool, hunks []edit.Hunk) tool.Diff {
	d := tool.Diff{Path: path, Created: created, Hunks: make([]tool.Hunk, 0, len(hunks))}
	for _, h := range hunks {
		d.Hunks = append(d.Hunks, tool.Hunk(h))
		for _, line := range h.Lines {
			switch line[0] {
			case '+':
				d.Added++
			case '-':
				d.Removed++
			}
		}
	}
	return d
}

// Preview returns a change that is only proposed. Whole says that the hunks are all of it.
func Preview(path string, created bool, hunks []edit.Hunk, whole bool) tool.Diff {
	d := Display(path, created, hunks)
	d.Partial = !whole || slices.ContainsFunc(hunks, func(h edit.Hunk) bool { return slices.ContainsFunc(h.Lines, edit.IsCut) })
	return d
}

// maxOriginal is the size up to which the content before is part of a structured result.
const maxOriginal = 256 << 10

// Original returns the content before as text, or nil if it is long or there was none, and its hash.
func (o Old) Original() (text *string, hash string) {
	switch {
	case !o.Exists:
		return nil, ""
	case len(o.Data) <= maxOriginal:
		sum := sha256.Sum256(o.Data)
		s := strings.ToValidUTF8(string(o.Data), "\uFFFD")
		return &s, hex.EncodeToString(sum[:])
	}
	return nil, o.Entry.HashText()
}

// maxDifference bounds the lines that tell what the user changed.
const maxDifference = 60

// Difference tells the model what the user made of the text it proposed, which is called name.
func Difference(name, proposed, written string) string {
	hunks, _ := edit.Diff([]byte(proposed), []byte(written))
	if len(hunks) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, " The difference to your %s:", name)
	shown := 0
	for _, h := range hunks {
		for _, line := range h.Lines {
			if shown++; shown > maxDifference {
				b.WriteString("\n(and more)")
				return b.String()
			}
			b.WriteString("\n" + line)
		}
	}
	return b.String()
}
