package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"adze/internal/app/artifacts"
	"adze/internal/commands"
	"adze/internal/platform/fs/filehistory"
	"adze/internal/platform/text/amount"
	"adze/internal/session"
	"adze/internal/session/archive"
	"adze/internal/session/store"
	"adze/internal/setup"
)

// rewindFiles restores a session's files to their state before a given message.
func (o *runOptions) rewindFiles(ctx context.Context, env *Env) error {
	p := openLeniently(env, o.project)
	if p.HomeErr != nil {
		return setup.Errorf("%v", p.HomeErr)
	}
	home, name := p.Home, o.spec.Session.Resume
	id, message := strings.ToLower(name), o.rewind
	var later []string
	var changes int64
	if info, err := archive.Find(home, env.Dir, name); err == nil { // a title, or an ID prefix
		id = info.ID
		if c, err := store.Load(info.Path, store.LoadOptions{}); err == nil { // otherwise the file history must know the message
			message, later = commands.MessageNamed(c.Entries, message)
			changes = session.FileChanges(c.State)
		}
	}
	dir := artifacts.HistoryDir(home, id)
	if _, err := os.Stat(dir); err != nil && later == nil && changes == 0 {
		if !p.Values().Files.History {
			return setup.Errorf("session %s has no file history: the setting fileHistory.enabled is false", id)
		}
		return setup.Errorf("session %s has changed no files, or is not in this state home (%s)", id, home)
	}
	h, err := filehistory.Open(dir, changes, nil)
	if err != nil {
		return setup.Errorf("%v", err)
	}
	defer h.Close() // ok: restored files are on disk
	report, err := h.Rewind(ctx, message, filehistory.Options{Force: o.force, Later: later})
	var conflict *filehistory.Conflict
	var incomplete *filehistory.Incomplete
	switch {
	case errors.As(err, &incomplete):
		return fmt.Errorf("%w. Nothing was restored; --force restores the files that are known for sure", err)
	case errors.As(err, &conflict):
		return fmt.Errorf("%w. Nothing was restored; --force restores these files too", err)
	case err != nil:
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d insertions, %d deletions\n", amount.Of(report.Files, "file", "files"), report.Insertions, report.Deletions)
	for _, path := range report.Paths {
		fmt.Fprintf(&b, "  %s\n", path)
	}
	if report.Damaged {
		b.WriteString("The file history is damaged: files may have changed that are not listed here.\n")
	}
	if len(report.Left) > 0 {
		b.WriteString("Left unchanged, because their earlier content is uncertain:\n")
	}
	for _, path := range report.Left {
		fmt.Fprintf(&b, "  %s\n", path)
	}
	for _, l := range report.Later {
		fmt.Fprintln(&b, commands.LaterText(l, func(path string) string { return path }))
	}
	b.WriteString("Changes made by shell commands are not tracked.\n")
	if report.Undo != "" {
		fmt.Fprintf(&b, "To undo this: adze --resume %s --rewind-files %s\n", id, report.Undo)
	}
	return env.show(b.String())
}
