package sandbox

import (
	"slices"
	"strings"
)

// maxViolations is the maximum number of violations reported to the model.
const maxViolations = 10

// signs are error texts of programs that run into a sandbox limit, and the refused operations.
var signs = [...]struct{ words, what string }{
	{"read-only file system", "writing"},
	{"operation not permitted", "an operation"},
	{"temporary failure in name resolution", "looking up a name"},
	{"could not resolve host", "looking up a name"},
	{"network is unreachable", "the network"},
	{"couldn't connect to server", "the network"},
	{"address family not supported", "a socket"},
}

// denial is the error text for refused operations without mounts: it looks like a missing
// permission.
const denial = "permission denied"

// violations returns the output lines that suggest a sandbox limit.
func violations(printed string, t Tier) []string {
	var seen []string
	for line := range strings.Lines(printed) {
		line = strings.TrimSpace(line)
		lower := strings.ToLower(line)
		for _, sign := range signs {
			if strings.Contains(lower, sign.words) || t != Bubblewrap && strings.Contains(lower, denial) {
				seen = append(seen, "refused "+sign.what+": "+clipped(line))
				break
			}
		}
		if len(seen) == maxViolations {
			break
		}
	}
	return seen
}

// report returns the message to the model about the limits a command ran into. Nothing in it
// can terminate the block.
func report(seen []string) string {
	if len(seen) == 0 {
		return ""
	}
	seen = compact(seen)
	more := ""
	if len(seen) > maxViolations {
		seen, more = seen[:maxViolations], "\n…"
	}
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	return "<sandbox-violations>\n" + escape.Replace(strings.Join(seen, "\n")) + more +
		"\nThe command ran in a sandbox: it may write in the working directories and in $TMPDIR, " +
		"except .git and other protected files, it cannot read secrets, and it reaches only allowed network hosts. " +
		"Do not work around it. If the task needs more access, tell the user which: " +
		"they can allow it in the settings under sandbox.\n</sandbox-violations>"
}

// compact returns the lines without duplicates, in order.
func compact(lines []string) []string {
	var once []string
	for _, line := range lines {
		if !slices.Contains(once, line) {
			once = append(once, line)
		}
	}
	return once
}

func clipped(line string) string {
	if r := []rune(line); len(r) > 200 {
		return string(r[:199]) + "…"
	}
	return line
}
