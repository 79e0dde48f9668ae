package cli

import (
	"fmt"
	"strings"

	"adze/internal/app/cli/sessions"
)

// sessionReference returns the page on sessions, generated from the command's table.
func sessionReference() string {
	var b strings.Builder
	b.WriteString("# Sessions\n\nGenerated from the program's tables with `go test ./internal/app/cli -update`.\n\n" +
		"Every conversation is a session: a file of JSON lines under `~/.local/state/adze/projects/<folder>/<id>.jsonl`, which adze only appends to. " +
		"`adze --continue` continues the most recent session of the folder, `adze --resume SESSION` any other. SESSION is an id, a title, " +
		"the beginning of either (at least four characters, if it is unique), or the path of a `.jsonl` file. " +
		"Sessions of the current folder come before those of others.\n\n| Command | What it does |\n|---|---|\n")
	for _, a := range sessions.Actions() {
		fmt.Fprintf(&b, "| `adze sessions %s` | %s |\n", strings.TrimSpace(a.Name+" "+a.Args), a.Doc)
	}
	b.WriteString("\n## Flags\n\n| Flag | What it does |\n|---|---|\n")
	for _, f := range (&sessionsOptions{}).flags() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.ReplaceAll(f.Usage(), "|", "\\|"), f.Doc)
	}
	b.WriteString(`
## What is kept, and for how long

- A prompt, an answer and a result are in the file as soon as they are complete. While an answer arrives, its text is saved
  about every second in ` + "`<id>.jsonl.partial`" + `: if adze is killed, ` + "`--continue`" + ` and ` + "`--resume`" + ` restore what was saved as an
  interrupted answer. What arrived after that is lost, and so are calls in that answer and unfinished reasoning. A power failure
  can also take what was saved of an answer that was arriving, and messages since the last call that could change something
  or the end of the last turn.
- A line that was cut off by a crash is moved to ` + "`<id>.jsonl.torn`" + ` when the session is next opened, with a notice. A line that
  cannot be read is skipped and counted.
- Nothing is removed unless you ask: neither by age (see ` + "`cleanupPeriodDays`" + `) nor by size. Files are not rotated. Of a file of
  more than 50 MB only the end is loaded, from the last compaction or the first prompt in it; the rest stays in the file.
- One process writes a session at a time. A second one is told which process has it, and can fork the session.
- Lists come from an index, ` + "`~/.local/state/adze/projects/.index`" + `, which is checked against the files and can be removed at any time.
- Search covers messages, thinking, tool inputs and tool results; any white space matches any other.
- Exports replace what looks like a secret: keys of known services, private keys, passwords in URLs, and random values
  beside names such as token or password. Read an export before you share it: not every secret can be recognised.
`)
	return b.String()
}
