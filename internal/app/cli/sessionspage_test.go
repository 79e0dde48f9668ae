package cli

import (
	"fmt"
	"strings"

	"adze/internal/app/sessions"
)

// sessionReference is the page on sessions, made of the table of the command.
func sessionReference() string {
	var b strings.Builder
	b.WriteString("# Sessions\n\nMade from the program's own tables; `go test ./internal/app/cli -update` updates it.\n\n" +
		"Every conversation is a session: a file of JSON lines under `~/.adze/projects/<folder>/<id>.jsonl`, to which adze only ever adds. " +
		"`adze --continue` continues the most recent session of the folder, `adze --resume SESSION` any other. SESSION is an id, a title, " +
		"the beginning of either (at least four characters, if no other session begins like it), or the path of a `.jsonl` file. " +
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

- A message is in the file before it is shown, so a crash loses nothing that was seen. A line that was cut off by a crash
  is moved to ` + "`<id>.jsonl.torn`" + ` when the session is next opened, and said so. A line that cannot be read is skipped and counted.
- Nothing is removed unasked: not by age (see ` + "`cleanupPeriodDays`" + `) and not by size. Files are not rotated. Of a file of more than
  50 MB the end is loaded, from the last compaction or the first prompt in it; the rest stays in the file.
- One process writes a session at a time. A second one is told which process has it, and can fork the session.
- Lists come from an index, ` + "`~/.adze/projects/.index`" + `, which is checked against the files and can be removed at any time.
- Search finds what was said, thought, asked of tools and answered by them; any white space matches any other.
- Exports replace what looks like a secret: keys of known services, private keys, passwords in URLs, and random values
  beside names such as token or password. Read an export before you hand it on: not every secret can be told from its form.
`)
	return b.String()
}
