package sessions

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/app/artifacts"
	"adze/internal/feature/deferred"
	"adze/internal/msg"
	"adze/internal/session/archive"
	"adze/internal/session/store"
	"adze/internal/setup"
	"adze/internal/ui/markdown"
)

// exportSession writes a session in a format for sharing.
func exportSession(_ context.Context, t *Task) error {
	if len(t.Args) > 1 {
		return setup.Errorf("name one session; a title of several words needs quotes")
	}
	info, err := t.find(t.Args[0])
	if err != nil {
		return err
	}
	o := archive.ExportOptions{Format: t.Format, Secrets: t.Secrets, Seen: deferred.Forwarders().See, Render: markdown.HTML}
	if o.Format == "" {
		o.Format = archive.FormatOf(t.Output)
	}
	if t.Output == "" || t.Output == "-" {
		return archive.Export(t.Stdout, info, o)
	}
	path := t.Output
	if !filepath.IsAbs(path) {
		path = filepath.Join(t.Dir, path)
	}
	if _, err := os.Lstat(path); err == nil && !t.Force {
		return fmt.Errorf("%s already exists; --force overwrites it", t.Output)
	}
	return archive.ExportFile(path, info, o)
}

func forkSession(_ context.Context, t *Task) error {
	if len(t.Args) > 1 {
		return setup.Errorf("name one session; a title of several words needs quotes")
	}
	info, err := t.find(t.Args[0])
	if err != nil {
		return err
	}
	opt := store.Options{Home: t.Home, Dir: t.Dir, Session: msg.NewID(), Version: t.Version}
	if info.Dir != "" {
		opt.Dir = info.Dir
	}
	if _, err := store.Fork(info.Path, opt, t.At); err != nil {
		return err
	}
	if err := t.Inherit(info, opt.Session, opt.Dir); err != nil {
		t.Say(err.Error())
	}
	return t.Print(opt.Session + "\n")
}

func renameSession(_ context.Context, t *Task) error {
	title, err := store.CheckTitle(strings.Join(t.Args[1:], " "))
	if err != nil {
		return setup.Errorf("%v", err)
	}
	info, err := t.find(t.Args[0])
	if err != nil {
		return err
	}
	return store.Annotate(info.Path, store.Title(title))
}

func tagSession(_ context.Context, t *Task) error {
	info, err := t.find(t.Args[0])
	if err != nil {
		return err
	}
	tag := strings.Join(t.Args[1:], " ")
	if tag != "" {
		if tag, err = store.CheckTitle(tag); err != nil {
			return setup.Errorf("%v", err)
		}
	}
	return store.Annotate(info.Path, store.Tag(tag))
}

// removeSessions removes sessions after asking about each.
func removeSessions(_ context.Context, t *Task) error {
	var infos []*archive.Info
	for _, what := range t.Args {
		info, err := t.find(what)
		if err != nil {
			return err // before anything is removed
		}
		infos = append(infos, info)
	}
	if !t.Force && !t.StdinTerminal {
		return setup.Errorf("cannot ask for confirmation without a terminal; --force removes without asking")
	}
	for _, info := range infos {
		if !t.Force {
			yes, err := t.Confirm(fmt.Sprintf("Delete session %s (%s, %s messages) permanently?", info.ID, info.Name(), messages(info)))
			if err != nil || !yes {
				return err
			}
		}
		if err := artifacts.Remove(t.Home, info); err != nil {
			return err
		}
		if err := t.Show(fmt.Sprintf("removed %s (%s)\n", info.ID, info.Name())); err != nil {
			return err
		}
	}
	return nil
}
