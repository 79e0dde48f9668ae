package about

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"time"

	"adze/internal/commands"
	"adze/internal/msg"
	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/text/amount"
	"adze/internal/session/archive"
	"adze/internal/session/store"
)

func filesCommand() commands.Command {
	return commands.Command{Name: "files", Doc: "list the files that the model has seen in this conversation",
		Run: func(_ context.Context, r *commands.Registry, _ string) (commands.Answer, error) {
			if r.Files.State == nil {
				return commands.Say("The model has seen no file."), nil
			}
			return filesPage(r.Files.State.Recent(), r.Files.Short), nil
		}}
}

const maxFiles = 100 // maximum number of files listed

// filesPage lists files, most recently seen first.
func filesPage(seen []filestate.Entry, short func(string) string) commands.Page {
	if len(seen) == 0 {
		return commands.Say("The model has seen no file.")
	}
	p := commands.Say("The model has seen " + amount.Of(len(seen), "file", "files") + ":")
	table := commands.Table{Columns: []commands.Column{{Name: "File", Cut: true}, {Name: "seen"}, {Name: "now"}}}
	for _, e := range seen[:min(maxFiles, len(seen))] {
		part := "all of it"
		switch {
		case !e.Shown:
			part = "no longer in the context"
		case !e.Complete && e.Lines > 0:
			part = fmt.Sprintf("lines %d to %d of %d", e.Offset, e.Offset+e.Lines-1, e.Total)
		case !e.Complete:
			part = "a part"
		}
		table.Rows = append(table.Rows, []string{short(e.Path), part, sinceSeen(e)})
	}
	p.Add(table)
	if more := len(seen) - maxFiles; more > 0 {
		p.Add(commands.Text("And " + amount.Of(more, "other", "others") + "."))
	}
	return p
}

// maxCompared is the maximum size of a file whose contents are compared, in bytes.
const maxCompared = 10 << 20

// sinceSeen describes whether a file has changed since the model saw it. If the stamp differs,
// or is unknown as in a resumed session, the contents are compared.
func sinceSeen(e filestate.Entry) string {
	info, err := os.Stat(e.Path)
	switch {
	case err != nil:
		return "cannot be read"
	case filestate.StampOf(info) == e.Stamp:
		return "as seen"
	case e.Hash == [sha256.Size]byte{} || !info.Mode().IsRegular() || info.Size() > maxCompared:
		return "changed since"
	}
	data, err := os.ReadFile(e.Path)
	switch {
	case err != nil:
		return "cannot be read"
	case sha256.Sum256(data) == e.Hash:
		return "as seen"
	}
	return "changed since"
}

func tagCommand() commands.Command {
	return commands.Command{Name: "tag", Kind: commands.Change, Args: "[TAG|remove]", Doc: "tag this session, or show or remove its tag; lists of sessions show tags",
		Run:      func(_ context.Context, r *commands.Registry, arg string) (commands.Answer, error) { return tag(r, arg) },
		Complete: func(*commands.Registry, string) []string { return []string{"remove"} }}
}

// tag shows or changes the tag of the session.
func tag(r *commands.Registry, name string) (commands.Answer, error) {
	if r.Log == nil {
		return nil, commands.ErrNotKept
	}
	switch name {
	case "":
		info, err := archive.Describe(r.Log.Path())
		if err != nil || info.Tag == "" {
			return commands.Say("The session has no tag. /tag TAG gives it one."), nil
		}
		return commands.Say("The session has the tag " + info.Tag + ". /tag remove removes it."), nil
	case "remove":
		return commands.Say("The session has no tag now."), r.Log.Note(store.Tag(""))
	}
	name, err := store.CheckTitle(name)
	if err != nil {
		return nil, errors.New("a tag must be some words without control characters")
	}
	return commands.Say("The session has the tag " + name + " now."), r.Log.Note(store.Tag(name))
}

func branchCommand(inherit func(ctx context.Context, from *archive.Info, fork string) error) commands.Command {
	return commands.Command{Name: "branch", Aliases: []string{"fork"}, Kind: commands.Change, Args: "[TITLE]", Terminal: true,
		Doc: "copy this conversation and continue in the copy; this one stays as it is",
		Run: func(ctx context.Context, r *commands.Registry, title string) (commands.Answer, error) {
			return branch(ctx, r, title, inherit)
		}}
}

// branch copies the session and changes to the copy.
func branch(ctx context.Context, r *commands.Registry, title string, inherit func(context.Context, *archive.Info, string) error) (commands.Answer, error) {
	if r.Log == nil {
		return nil, commands.ErrNotKept
	}
	if title != "" {
		var err error
		if title, err = store.CheckTitle(title); err != nil {
			return nil, err
		}
	}
	if err := r.Log.Sync(); err != nil {
		return nil, err
	}
	info, err := archive.Describe(r.Log.Path())
	if err != nil {
		return nil, errors.New("there is nothing to copy yet")
	}
	opt := store.Options{Home: r.Home, Dir: r.Dir, Session: msg.NewID(), Version: r.Version}
	path, err := store.Fork(info.Path, opt, "")
	if err != nil {
		return nil, err
	}
	if title != "" {
		if err := store.Annotate(path, store.Title(title)); err != nil {
			return nil, fmt.Errorf("the copy %s has no title: %w", opt.Session, err)
		}
	}
	if inherit != nil {
		if err := inherit(ctx, info, opt.Session); err != nil {
			return nil, fmt.Errorf("%w; /resume %s continues it all the same", err, opt.Session)
		}
	}
	return commands.Switch{Session: opt.Session}, nil
}

func usageCommand() commands.Command {
	return commands.Command{Name: "usage", Doc: "show the cost of this session and of today's sessions, and the rate limits",
		Run: func(ctx context.Context, r *commands.Registry, _ string) (commands.Answer, error) {
			a, err := r.Run(ctx, "cost", "")
			p, ok := a.(commands.Page)
			if err != nil || !ok || r.Home == "" {
				return a, err
			}
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			now := r.Now()
			y, m, day := now.Date()
			s, err := archive.Measure(ctx, r.Home, archive.StatsOptions{Since: time.Date(y, m, day, 0, 0, 0, 0, now.Location()), Zone: now.Location()})
			if err != nil {
				return nil, err
			}
			text := amount.Of(s.Sessions, "session", "sessions")
			if s.Sessions > 0 {
				text += ", cost " + price(s.Sum)
			}
			p.Blocks = append([]commands.Block{commands.Text("Today: " + text + ". /stats shows other days. This session:")}, p.Blocks...)
			return p, nil
		}}
}
