// Package attach adds the files, directories and server resources that a message mentions to
// the message.
package attach

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"adze/internal/agent/exec"
	"adze/internal/msg"
	"adze/internal/platform/fs/paths"
	"adze/internal/platform/fs/textfile"
	"adze/internal/platform/text/amount"
	"adze/internal/platform/text/mention"
	"adze/internal/platform/text/texts"
	"adze/internal/prompt"
	"adze/internal/session"
	"adze/internal/tool"
)

const (
	// maxAttached is the maximum number of files and directories attached to a message.
	maxAttached = 20
	// maxListed is the maximum number of directory entries listed.
	maxListed = 1000
)

// Config configures attachments. All fields except MaxBytes, Resource and Refused are required.
type Config struct {
	// Dir returns the working directory. Home is the user's home directory.
	Dir  func() string
	Home string
	// Session returns the session. Tool is the name of its file-reading tool.
	Session func() *session.Session
	Tool    string
	// MaxBytes returns how much to attach of a file that is too large to read completely, in
	// whole lines; 0 means nothing.
	MaxBytes func() int
	// MayRead returns an error if the model may not read a directory. Hidden reports whether to
	// omit a directory entry.
	MayRead func(ctx context.Context, path string) error
	Hidden  func(path string) bool
	// Resource returns a function that reads the server resource with the given name, such as
	// server:uri, or nil if the server has no such resource. The name is a mention without its
	// at sign. May be nil.
	Resource func(name string) (read func(context.Context) exec.Outcome)
	// Language returns the language of texts for the model.
	Language func() texts.Language
	// If Attended is true, the user is notified of attachments.
	Attended bool
	// Refused is the reason why attachments are disabled, or empty.
	Refused string
}

// PromptHook returns a prompt hook that attaches the files and directories mentioned in a message.
// Each is read as if the model had requested it, so that permission rules, hooks and limits
// apply. Mentions of missing files stay text, and so do at signs in piped input, which others
// may have written.
func PromptHook(cfg Config) func(context.Context, session.Prompt) session.HookResult {
	return func(ctx context.Context, p session.Prompt) session.HookResult {
		if p.Quoted {
			return session.HookResult{}
		}
		a := attachments{Config: cfg, base: paths.Base{Dir: cfg.Dir(), Home: cfg.Home}}
		parts := p.Parts
		if p.Words != "" {
			parts = []msg.Part{&msg.Text{Text: p.Words}}
		}
		for _, part := range parts {
			if t, ok := part.(*msg.Text); ok {
				for _, m := range mention.Find(msg.OwnText(t.Text)) {
					a.add(ctx, m)
				}
			}
		}
		return a.hearing()
	}
}

// attachments collects the attachments of a message.
type attachments struct {
	Config
	base     paths.Base
	parts    []msg.Part
	attached []string
	missing  []string
	failed   []string
	cut      []string // notices about files attached in part
	more     int      // number not attached because there are too many
}

// add attaches the target of m.
func (a *attachments) add(ctx context.Context, m mention.Mention) {
	path, info, err := a.find(&m)
	switch {
	case errors.Is(err, fs.ErrNotExist) && a.resource(ctx, m):
	case errors.Is(err, fs.ErrNotExist):
		a.missing = append(a.missing, tool.OneLine(m.Text, 60))
	case err != nil:
		a.fail(m, err.Error())
	case len(a.attached) == maxAttached:
		a.more++
	case a.Refused != "":
		a.fail(m, a.Refused)
	case info.IsDir():
		a.directory(ctx, m, path)
	default:
		a.file(ctx, m, path)
	}
}

// find returns the file that m mentions. If a file with the complete name exists, a suffix that
// looks like a line range is part of the name.
func (a *attachments) find(m *mention.Mention) (path string, info os.FileInfo, err error) {
	name := m.Path
	if m.First > 0 {
		whole := strings.Trim(strings.TrimPrefix(m.Text, "@"), `"`)
		if path, err = a.base.Expand(whole); err == nil {
			if info, err = os.Stat(path); err == nil {
				m.Path, m.First, m.Last = whole, 0, 0
				return path, info, nil
			}
		}
	}
	if path, err = a.base.Expand(name); err != nil {
		return path, nil, err
	}
	if paths.IsUNC(path) { // a stat would already contact a server
		return path, nil, fs.ErrNotExist
	}
	info, err = os.Stat(path)
	var wrong *fs.PathError
	if errors.As(err, &wrong) && !errors.Is(err, fs.ErrPermission) {
		err = fs.ErrNotExist // the name is too long, or has a file as a parent directory
	}
	return path, info, err
}

// file attaches a file by calling the file-reading tool. If the file is too large for a call,
// it attaches the beginning.
func (a *attachments) file(ctx context.Context, m mention.Mention, path string) {
	o := a.read(ctx, path, m.First, m.Last)
	if o.Result.IsError && !o.Denied && !o.Rejected && m.First == 0 {
		if lines, total := a.fitting(ctx, path); lines > 0 && lines < total {
			o = a.read(ctx, path, 1, lines)
			a.cut = append(a.cut, fmt.Sprintf("%s is too large: its first %d of %s are attached.", m.Text, lines, amount.Of(total, "line", "lines")))
		}
	}
	a.take(m, o)
}

// read calls the file-reading tool. First 0 means the whole file.
func (a *attachments) read(ctx context.Context, path string, first, last int) exec.Outcome {
	in := map[string]any{"file_path": path}
	if first > 0 {
		in["offset"], in["limit"] = first, last-first+1
	}
	input, err := json.Marshal(in)
	if err != nil {
		return exec.Outcome{Result: &msg.ToolResult{IsError: true, Parts: []msg.Part{&msg.Text{Text: err.Error()}}}}
	}
	s := a.Session()
	use := msg.NewToolUse(fmt.Sprintf("attached_%d", len(a.attached)+len(a.failed)+1), a.Tool, string(input))
	return s.Executor().Execute(ctx, s.Pool(), use)
}

// fitting returns how many lines at the start of a file fit the limit, and how many lines the
// file has.
func (a *attachments) fitting(ctx context.Context, path string) (lines, total int) {
	if a.MaxBytes == nil {
		return 0, 0
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, 0
	}
	defer f.Close()
	text, err := textfile.Read(ctx, f, textfile.Range{First: 1, MaxBytes: a.MaxBytes(), Truncate: true})
	if err != nil || !text.Truncated {
		return 0, 0
	}
	return len(text.Lines), text.Total
}

// resource attaches a server resource, and reports whether m mentions one.
func (a *attachments) resource(ctx context.Context, m mention.Mention) bool {
	if a.Resource == nil {
		return false
	}
	read := a.Resource(strings.Trim(strings.TrimPrefix(m.Text, "@"), `"`))
	switch {
	case read == nil:
		return false
	case len(a.attached) == maxAttached:
		a.more++
	default:
		a.take(m, read(ctx))
	}
	return true
}

// take attaches the result of the call that read the target of m.
func (a *attachments) take(m mention.Mention, o exec.Outcome) {
	switch {
	case o.Rejected && o.Stop != "":
		// The user cannot stop a turn that has not started, and the model did not make this
		// call.
		a.failed = append(a.failed, m.Text+" is not attached: you said no.")
		a.parts = append(a.parts, msg.Reminder(prompt.NotAttached(a.Language(), m.Text, "the user does not want it to be read.")))
		return
	case o.Result.IsError:
		a.fail(m, firstSentence(msg.PlainText(o.Result.Parts)))
		return
	}
	label := prompt.Attached(a.Language(), m.Text)
	for _, part := range append(o.Result.Parts, o.Context...) {
		if t, ok := part.(*msg.Text); ok {
			text, _ := msg.ReminderText(part)
			if text == "" {
				text = msg.Neutralise(t.Text)
			}
			part = msg.Reminder(strings.TrimSpace(label + "\n" + text))
			label = ""
		}
		a.parts = append(a.parts, part)
	}
	if label != "" {
		a.parts = append(a.parts, msg.Reminder(label))
	}
	a.attached = append(a.attached, m.Text)
}

// firstSentence returns the reason in a denial. The rest is advice for a model that called a
// tool.
func firstSentence(text string) string {
	text = tool.OneLine(text, 300)
	if sentence, _, ok := strings.Cut(text, ". "); ok {
		return sentence + "."
	}
	return text
}

// directory attaches the names of a directory's entries.
func (a *attachments) directory(ctx context.Context, m mention.Mention, path string) {
	entries, err := a.list(ctx, path)
	if err != nil {
		a.fail(m, err.Error())
		return
	}
	var names []string
	more := 0
	for _, e := range entries {
		if a.Hidden(filepath.Join(path, e.Name())) {
			continue
		}
		if len(names) == maxListed {
			more++
			continue
		}
		name := e.Name()
		if e.IsDir() {
			name += "/"
		}
		if strings.ContainsFunc(name, unicode.IsControl) {
			name = strconv.Quote(name) // keep each name on one line
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		names = append(names, "(nothing)")
	}
	if more > 0 {
		names = append(names, fmt.Sprintf("… (%d more)", more))
	}
	a.parts = append(a.parts, msg.Reminder(prompt.AttachedDirectory(a.Language(), m.Text, names)))
	a.attached = append(a.attached, m.Text)
}

// list returns the entries of a directory if the model may read it. Both the check and the open
// use the path without symlinks.
func (a *attachments) list(ctx context.Context, path string) ([]fs.DirEntry, error) {
	set, err := a.base.Resolve(path)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Compact([]string{path, set.Real}) {
		if err := a.MayRead(ctx, name); err != nil {
			return nil, err
		}
	}
	dir, err := set.Open()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	slices.SortFunc(entries, func(x, y fs.DirEntry) int { return strings.Compare(x.Name(), y.Name()) })
	return entries, err
}

// fail tells the model and the user that m is not attached.
func (a *attachments) fail(m mention.Mention, reason string) {
	a.failed = append(a.failed, m.Text+" is not attached: "+reason)
	a.parts = append(a.parts, msg.Reminder(prompt.NotAttached(a.Language(), m.Text, reason)))
}

// hearing returns the additions to the message and the notices for the user. Successful
// attachments are reported only to an attending user.
func (a *attachments) hearing() session.HookResult {
	const named = 5
	h := session.HookResult{Context: a.parts, Notices: append(a.failed, a.cut...)}
	if len(a.attached) > 0 && a.Attended {
		h.Notices = append(h.Notices, "Attached "+strings.Join(a.attached, ", ")+".")
	}
	if n := len(a.missing); n > 0 {
		names := strings.Join(a.missing[:min(named, n)], ", ")
		if n > named {
			names += fmt.Sprintf(" and %d more", n-named)
		}
		h.Notices = append(h.Notices, "File not found, sent as text: "+names)
	}
	if a.more > 0 {
		h.Notices = append(h.Notices, fmt.Sprintf("Only the first %d files are attached; %s sent as text.", maxAttached, amount.Of(a.more, "mention was", "mentions were")))
	}
	return h
}
