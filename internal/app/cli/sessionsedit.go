package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/app/settings"
	"adze/internal/app/setup"
	"adze/internal/app/wire"
	"adze/internal/msg"
	"adze/internal/session/archive"
	"adze/internal/session/store"
)

// exportSession writes a session in a format to share.
func exportSession(_ context.Context, t *sessionTask) error {
	if len(t.args) > 1 {
		return setup.Errorf("name one session; a title of several words needs quotes")
	}
	info, err := t.find(t.args[0])
	if err != nil {
		return err
	}
	o := archive.ExportOptions{Format: t.format, Secrets: t.secrets}
	if o.Format == "" {
		o.Format = archive.FormatOf(t.output)
	}
	if t.output == "" || t.output == "-" {
		return archive.Export(t.env.Stdout, info, o)
	}
	path := t.output
	if !filepath.IsAbs(path) {
		path = filepath.Join(t.env.Dir, path)
	}
	if _, err := os.Lstat(path); err == nil && !t.force {
		return fmt.Errorf("%s already exists; --force overwrites it", t.output)
	}
	return archive.ExportFile(path, info, o)
}

func forkSession(ctx context.Context, t *sessionTask) error {
	if len(t.args) > 1 {
		return setup.Errorf("name one session; a title of several words needs quotes")
	}
	info, err := t.find(t.args[0])
	if err != nil {
		return err
	}
	opt := store.Options{Home: t.home, Dir: t.env.Dir, Session: msg.NewID(), Version: t.env.Version}
	if info.Dir != "" {
		opt.Dir = info.Dir
	}
	if _, err := store.Fork(info.Path, opt, t.at); err != nil {
		return err
	}
	p := openLeniently(t.env, settings.Source{})
	if err := wire.Inherit(ctx, p, info, opt.Session, opt.Dir); err != nil {
		t.env.Say(err.Error())
	}
	return t.env.print(opt.Session + "\n")
}

func renameSession(_ context.Context, t *sessionTask) error {
	title, err := store.CheckTitle(strings.Join(t.args[1:], " "))
	if err != nil {
		return setup.Errorf("%v", err)
	}
	info, err := t.find(t.args[0])
	if err != nil {
		return err
	}
	return store.Annotate(info.Path, store.Title(title))
}

func tagSession(_ context.Context, t *sessionTask) error {
	info, err := t.find(t.args[0])
	if err != nil {
		return err
	}
	tag := strings.Join(t.args[1:], " ")
	if tag != "" {
		if tag, err = store.CheckTitle(tag); err != nil {
			return setup.Errorf("%v", err)
		}
	}
	return store.Annotate(info.Path, store.Tag(tag))
}

// removeSessions removes sessions, and asks about each first.
func removeSessions(_ context.Context, t *sessionTask) error {
	var infos []*archive.Info
	for _, what := range t.args {
		info, err := t.find(what)
		if err != nil {
			return err // before anything is removed
		}
		infos = append(infos, info)
	}
	if !t.force && !t.env.StdinTerminal {
		return setup.Errorf("cannot ask for confirmation without a terminal; --force removes without asking")
	}
	in := bufio.NewReader(t.env.Stdin)
	for _, info := range infos {
		if !t.force {
			yes, err := t.confirm(in, info)
			if err != nil || !yes {
				return err
			}
		}
		var beside []string
		if wire.IsKept(t.home, info) {
			beside = wire.Belongings(t.home, info.ID)
		}
		if err := store.Remove(info.Path, beside...); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := t.env.show(fmt.Sprintf("removed %s (%s)\n", info.ID, info.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (t *sessionTask) confirm(in *bufio.Reader, info *archive.Info) (bool, error) {
	if err := t.env.show(fmt.Sprintf("Delete session %s (%s, %s messages) permanently? [y/N] ", info.ID, info.Name(), messages(info))); err != nil {
		return false, err
	}
	answer, err := in.ReadString('\n')
	if err != nil && answer == "" {
		return false, nil // no answer is a no
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", nil
}
