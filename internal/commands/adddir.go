package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/permission"
	"adze/internal/platform/fs/scope"
	"adze/internal/session"
	"adze/internal/session/store"
)

func addDirCommand() Command {
	return Command{Name: "add-dir", Kind: Change, Args: "PATH", Doc: "add a working directory for this session",
		Run: addDir, Complete: func(r *Registry, arg string) []string {
			if arg == "" || !strings.Contains(arg, "/") {
				arg = "./" + arg
			}
			return slices.DeleteFunc(r.entriesLike(arg), func(path string) bool { return !strings.HasSuffix(path, "/") })
		}}
}

// addDir adds a working directory.
func addDir(ctx context.Context, r *Registry, name string) (Answer, error) {
	switch {
	case name == "":
		return nil, errors.New("usage: /add-dir PATH")
	case !r.Terminal:
		return nil, ErrTerminal
	}
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, err
		}
		name = filepath.Join(home, rest)
	}
	path := absolute(r.Dir, name)
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("no directory %s", path)
	case !info.IsDir():
		return nil, fmt.Errorf("%s is not a directory; its parent directory is %s", path, filepath.Dir(path))
	case path == r.Dir || slices.Contains(r.Permission.Dirs(), path):
		return Say(path + " is a working directory already."), nil
	}
	u := permission.Update{Type: permission.AddDirectories, Directories: []string{path}, Destination: scope.Session}
	if err := r.Permission.Apply(ctx, []permission.Update{u}); err != nil {
		return nil, err
	}
	page := Say(path + " is a working directory for this session. The setting permissions.additionalDirectories makes it one for good.")
	if r.Log != nil {
		if err := r.Log.Note(store.Dirs(r.Permission.Dirs())); err != nil {
			page.Add(Notice("it is not kept for when the session is resumed: " + err.Error()))
		}
	}
	return page, r.Session.Submit(ctx, session.Notify{Text: "The user has added a working directory: " + path})
}
