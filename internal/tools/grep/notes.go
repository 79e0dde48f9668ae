package grep

import (
	"fmt"
	"strings"

	"adze/internal/platform/search"
)

// notes returns remarks for the model after the entries, a sentence or two each.
func (c *call) notes(o search.GrepOptions, found *search.GrepResult) []string {
	var notes []string
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	switch {
	case found.Entries == 0 && found.Cut:
		note("Offset %d is beyond the first 20 MB of lines, which are all that is kept. Use a narrower path or pattern.", o.Offset)
	case found.Entries == 0 && o.Offset > 0 && found.Matched > 0:
		note("There is nothing at offset %d: use a smaller one.", o.Offset)
	case found.Entries == 0 && found.Stopped == search.Complete:
		notes = append(notes, c.nothing(found))
	case found.Entries == 0:
		note("No matches.")
	case o.Mode == search.Files:
		note("(%s, the most recently modified first.)", plural(int64(found.Matched), "file"))
	case o.Mode == search.Count:
		note("(%s in %s.)", plural(found.Matches, "matching line"), plural(int64(found.Matched), "file"))
	}
	unit := "files"
	if o.Mode == search.Content {
		unit = "lines"
	}
	switch first := o.Offset + 1; {
	case found.Cut && found.Entries > 0:
		note("(The result is cut at 20 MB, after %s %d to %d. Use a narrower path or pattern.)", unit, first, o.Offset+found.Entries)
	case found.More && found.Entries > 0:
		note("(These are %s %d to %d; there are more. Use offset %d for the next, or a narrower pattern, glob or path.)", unit, first, o.Offset+found.Entries, o.Offset+found.Entries)
	case o.Offset > 0 && found.Entries > 0:
		note("(These are %s %d to %d, the last.)", unit, first, o.Offset+found.Entries)
	}
	switch found.Stopped {
	case search.TimedOut:
		note("(The result is partial: the search took too long and was stopped. Use a narrower path, glob or pattern.)")
	case search.Interrupted:
		note("(The result is partial: the search was interrupted.)")
	case search.Short:
		note("(The result is partial: the system has no free file descriptors.)")
	}
	if found.Binary > 0 && found.Entries == 0 {
		note("(%s passed over.)", was(found.Binary, "binary file"))
	}
	if found.Entries == 0 && c.hidden.Load() {
		note("(Files that a permission rule hides were not searched.)")
	}
	if found.Unreadable > 0 {
		note("(%s not be read.)", could(found.Unreadable, "file or directory", "files or directories"))
	}
	if o.Mode != search.Content && (c.in.After+c.in.Before+c.in.Context > 0 || c.in.Only) {
		note("(-A, -B, -C and -o were ignored: they are for output_mode content.)")
	}
	return notes
}

// nothing describes the search that had no match: the place may be wrong, not the pattern.
func (c *call) nothing(found *search.GrepResult) string {
	var filters []string
	if c.in.Glob != "" {
		filters = append(filters, "glob "+c.in.Glob)
	}
	if c.in.Type != "" {
		filters = append(filters, "type "+c.in.Type)
	}
	where := "in " + c.Shown()
	if c.Path == c.Dir {
		where = "here"
	}
	switch searched := found.Searched - found.Binary; {
	case searched > 0:
		return fmt.Sprintf("No matches in %s.", plural(int64(searched), "file"))
	case found.Searched > 0 || found.Unreadable > 0:
		return "No matches."
	case len(filters) == 0:
		return fmt.Sprintf("No file to search %s (ignored files are skipped).", where)
	default:
		text := fmt.Sprintf("No file to search: nothing %s matches %s (ignored files are skipped).", where, strings.Join(filters, " and "))
		if c.in.Path != "" && strings.Contains(c.in.Glob, "/") {
			text += " The glob is relative to path."
		}
		return text
	}
}

func plural(n int64, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return thousands(n) + " " + unit + "s"
}

// thousands formats n with commas between the thousands.
func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func was(n int, unit string) string {
	if n == 1 {
		return "1 " + unit + " was"
	}
	return plural(int64(n), unit) + " were"
}

func could(n int, one, many string) string {
	if n == 1 {
		return "1 " + one + " could"
	}
	return fmt.Sprintf("%d %s could", n, many)
}
