package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/session/archive"
	"adze/internal/session/store"
)

func clearCommand() Command {
	return Command{Name: "clear", Kind: Work, Doc: "start a new conversation; this one is kept on disk",
		Run: func(_ context.Context, r *Registry, _ string) (Answer, error) {
			if r.Terminal {
				s := Switch{}
				if len(r.Session.Conversation()) > 0 {
					s.Said = "Cleared. /resume brings the conversation back."
				}
				return s, nil
			}
			return Operation{Op: session.Clear{}, Entries: true}, nil
		}}
}

func renameCommand() Command {
	return Command{Name: "rename", Kind: Change, Args: "TITLE", Doc: "give this session a title",
		Run: func(_ context.Context, r *Registry, title string) (Answer, error) {
			if strings.TrimSpace(title) == "" {
				return nil, errors.New("usage: /rename TITLE")
			}
			if err := r.Rename(title); err != nil {
				return nil, err
			}
			return Say("The session is now called " + title + "."), nil
		}}
}

func exportCommand() Command {
	return Command{Name: "export", Kind: Change, Args: "[FILE]", Doc: "write this session to a file: .md, .html or .json",
		Run: func(_ context.Context, r *Registry, name string) (Answer, error) {
			path, err := r.Export(name)
			if err != nil {
				return nil, err
			}
			return Say("Written to " + r.Files.Short(path)), nil
		}}
}

// ErrNotKept is returned if the session has no transcript.
var ErrNotKept = errors.New("this session is not saved on disk")

// Rename sets the session's title.
func (r *Registry) Rename(title string) error {
	title, err := store.CheckTitle(title)
	if err != nil {
		return err
	}
	if r.Log == nil {
		return ErrNotKept
	}
	return r.Log.Note(store.Title(title))
}

// Entitle returns the title of the session. If it has none, a title is derived from about, and
// stored if keep is true. No model is used.
func (r *Registry) Entitle(about string, keep bool) (string, error) {
	if r.Log != nil {
		if title := r.Log.Titled(); title != "" {
			return title, nil
		}
	}
	title := store.TitleOf(about)
	if title == "" || !keep || r.Log == nil {
		return title, nil
	}
	return title, r.Log.Note(store.AutoTitle(title))
}

// Export writes the session to a new file, in the format of its extension, and returns the
// path. If name is empty, it chooses one.
func (r *Registry) Export(name string) (string, error) {
	if r.Log == nil {
		return "", ErrNotKept
	}
	id := r.Session.ID()
	if name == "" {
		name = "adze-" + id[:min(shownID, len(id))] + ".md"
	}
	path := absolute(r.Dir, name)
	if _, err := os.Lstat(path); err == nil {
		return "", fmt.Errorf("%s already exists; choose another name", path)
	}
	info, err := archive.Describe(r.Log.Path())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", errors.New("there is nothing to export yet")
	case err != nil:
		return "", err
	}
	return path, archive.ExportFile(path, info, archive.ExportOptions{Format: archive.FormatOf(path), Render: r.Env.HTML, Seen: func(u *msg.ToolUse) *msg.ToolUse {
		return r.Session.Pool().Forwarded(u)
	}})
}
