package sandbox

import (
	"slices"
	"strings"
)

// maxViolations bounds what the model reads about the limits a command met.
const maxViolations = 10

// signs are the words in which programs complain about a limit of the sandbox, and what was refused.
var signs = [...]struct{ words, what string }{
	{"read-only file system", "writing"},
	{"operation not permitted", "an operation"},
	{"temporary failure in name resolution", "looking up a name"},
	{"could not resolve host", "looking up a name"},
	{"network is unreachable", "the network"},
	{"couldn't connect to server", "the network"},
	{"address family not supported", "a socket"},
}

// denial is what programs say of what is kept from them where nothing is mounted: it looks like a lack of
// permission.
const denial = "permission denied"

// violations returns the lines of a program's output in which it seems to have met the sandbox.
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

// report returns what the model is told about the limits a command met. Nothing in it can end the
// block.
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
		"except .git and what else programs obey, it cannot read secrets, and it reaches only the network hosts that are allowed. " +
		"Do not work around it. If the task needs more, tell the user what: " +
		"they can allow it in the settings under sandbox.\n</sandbox-violations>"
}

// compact returns the lines without repetitions, in their order.
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
