package change

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"adze/internal/platform/text/edit"
	"adze/internal/tool"
)

// Display returns a change as a Diff for the user.
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

// Preview returns a proposed change. Whole means that the hunks are complete.
func Preview(path string, created bool, hunks []edit.Hunk, whole bool) tool.Diff {
	d := Display(path, created, hunks)
	d.Partial = !whole || slices.ContainsFunc(hunks, func(h edit.Hunk) bool { return slices.ContainsFunc(h.Lines, edit.IsCut) })
	return d
}

// maxOriginal is the maximum size of the previous content in a structured result.
const maxOriginal = 256 << 10

// Original returns the previous content as text, or nil if it is long or did not exist, and its
// hash.
func (o OldContent) Original() (text *string, hash string) {
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

// maxDifference limits the lines describing the user's changes.
const maxDifference = 60

// Difference describes to the model how the user changed its proposed text, which is called
// name.
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

// Redisplay returns the Diff of an earlier call from its structured result.
func Redisplay(structured json.RawMessage) tool.Display {
	var out struct {
		Type            string      `json:"type"`
		FilePath        string      `json:"filePath"`
		OriginalFile    *string     `json:"originalFile"`
		OriginalHash    string      `json:"originalHash"`
		StructuredPatch []edit.Hunk `json:"structuredPatch"`
	}
	if json.Unmarshal(structured, &out) != nil || out.FilePath == "" {
		return nil
	}
	for _, h := range out.StructuredPatch {
		if slices.Contains(h.Lines, "") {
			return nil // not a unified diff
		}
	}
	return Display(out.FilePath, out.Type != "update" && out.OriginalFile == nil && out.OriginalHash == "", out.StructuredPatch)
}
