package archive

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"adze/internal/msg"
	"adze/internal/platform/term"
	"adze/internal/platform/text/jsonscan"
	"adze/internal/platform/text/redact"
	"adze/internal/session/store"
)

// A Format is an export format.
type Format string

// The formats. JSON includes every record, even of unknown kinds; the others include only
// readable text.
const (
	Markdown Format = "markdown"
	JSON     Format = "json"
	HTML     Format = "html"
)

// ExportOptions configures an export.
type ExportOptions struct {
	Format Format
	// Secrets keeps text that looks like a secret; otherwise it is redacted.
	Secrets bool
	// Seen returns a call as readers should see it: the tool actually called, even if the model
	// called it through another. If nil, calls are shown as the model wrote them.
	Seen func(*msg.ToolUse) *msg.ToolUse
	// Render returns Markdown as HTML in which the Markdown's own elements are escaped. If nil,
	// HTML contains texts as they were written.
	Render func(markdown string) string
}

// Export writes the session at info.Path to w. It streams the log, so the log's size does not
// matter.
func Export(w io.Writer, info *Info, o ExportOptions) error {
	f, err := os.Open(info.Path)
	if err != nil {
		return fmt.Errorf("exporting session: %w", err)
	}
	defer f.Close()
	out := bufio.NewWriterSize(w, 64<<10)
	clean := redact.Field
	if o.Secrets {
		clean = func(_, value string) string { return value }
	}
	switch o.Format {
	case JSON:
		err = exportJSON(out, f, info, clean)
	case Markdown:
		err = exportText(f, &markdown{page{w: out, clean: clean}}, info, o.Seen)
	case HTML:
		err = exportText(f, &html{page{w: out, clean: clean}, o.Render}, info, o.Seen)
	default:
		return fmt.Errorf("exporting session: unknown format %q; choose markdown, json or html", o.Format)
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("exporting session: %w", err)
	}
	return nil
}

// A printer writes a session in a human-readable format.
type printer interface {
	begin(info *Info)
	said(e *msg.Entry)
	// answered is called with an answer and the available results of its calls, by ID.
	answered(e *msg.Entry, results map[string]*msg.ToolResult)
	compacted()
	end(unreadable int)
}

// page holds the state shared by both printers. The bufio.Writer keeps write errors.
type page struct {
	w     *bufio.Writer
	clean func(name, value string) string
}

func (p *page) print(parts ...string) {
	for _, s := range parts {
		p.w.WriteString(s) // ok: Flush reports the error
	}
}

// text returns s without secrets and invisible characters.
func (p *page) text(s string) string { return p.value("", s) }

// value is like text for the value of a field.
func (p *page) value(name, s string) string { return p.clean(name, visible(s)) }

// visible returns s without control characters other than line breaks and tabs.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return -1
		}
		return r
	}, term.Strip(s))
}

// unreadableText returns a sentence about n unreadable lines.
func unreadableText(n int) string {
	if n == 1 {
		return "One line of the transcript cannot be read."
	}
	return fmt.Sprintf("%d lines of the transcript cannot be read.", n)
}

// exportText prints a log. An answer is held back until the results of its calls have been
// read.
func exportText(r io.Reader, p printer, info *Info, seen func(*msg.ToolUse) *msg.ToolUse) error {
	p.begin(info)
	unreadable := 0
	var answer *msg.Entry
	flush := func(results map[string]*msg.ToolResult) {
		if answer != nil {
			p.answered(answer, results)
			answer = nil
		}
	}
	for rec, err := range store.Records(r) {
		if err != nil {
			return err
		}
		switch {
		case rec.Type == "":
			unreadable++
		case rec.Type == "system" && rec.Subtype == "compact_boundary":
			flush(nil)
			p.compacted()
		}
		if !rec.Message() {
			continue
		}
		e, err := rec.Entry()
		if err != nil {
			unreadable++
			continue
		}
		if e.Message.Role == msg.Assistant {
			flush(nil)
			e.Message = Seen(e.Message, seen)
			answer = &e
			continue
		}
		results := map[string]*msg.ToolResult{}
		rest := e
		rest.Message.Parts = nil
		for _, part := range e.Message.Parts {
			if result, ok := part.(*msg.ToolResult); ok && answer != nil {
				results[result.ID] = result
			} else {
				rest.Message.Parts = append(rest.Message.Parts, part)
			}
		}
		flush(results)
		if !e.Hidden && len(rest.Message.Parts) > 0 {
			p.said(&rest)
		}
	}
	flush(nil)
	p.end(unreadable)
	return nil
}

// facts returns the session's metadata, printed before its messages.
func facts(info *Info) [][2]string {
	var all [][2]string
	add := func(name, value string) {
		if value != "" {
			all = append(all, [2]string{name, value})
		}
	}
	add("Session", info.ID)
	add("Folder", info.Dir)
	add("Branch", info.Branch)
	add("Tag", info.Tag)
	if !info.Created.IsZero() {
		add("Started", info.Created.UTC().Format("2006-01-02 15:04 UTC"))
	}
	add("Last change", info.Modified.UTC().Format("2006-01-02 15:04 UTC"))
	return all
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// A field is a field of a call's input.
type field struct{ name, value string }

// inputFields returns a call's input in the order the model wrote it.
func inputFields(u *msg.ToolUse) []field {
	if u.Malformed != "" {
		return []field{{"input", u.Malformed}}
	}
	var all []field
	c := jsonscan.Lazy(u.Input)
	for key := range c.Members {
		f := field{name: string(key)}
		if c.Kind() == '"' {
			f.value = c.String()
		} else {
			f.value = string(c.Skip())
		}
		all = append(all, f)
	}
	return all
}

// summary returns the first non-empty line of a call's input, shortened.
func summary(fields []field) string {
	for _, f := range fields {
		line, _, _ := strings.Cut(strings.TrimSpace(f.value), "\n")
		if line != "" {
			return shorten(line, 100)
		}
	}
	return ""
}

func shorten(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return string(runes[:n-1]) + "…"
}
