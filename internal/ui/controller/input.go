package controller

import (
	"context"

	"adze/internal/msg"
	"adze/internal/platform/term/clipboard"
	"adze/internal/ui/edit"
	"adze/internal/ui/keys"
)

// InputConfig configures text input. Each function may be nil.
type InputConfig struct {
	// Bindings returns the current key bindings, which may change; nil means the defaults.
	Bindings func() *keys.Map
	// Vim reports whether vim mode is enabled, and which two characters end the insertion; both
	// may change.
	Vim func() (on bool, escape string)
	// Remote is true if the terminal is on another machine.
	Remote bool
	// History lists entries of earlier sessions, oldest first. Remember stores an entry,
	// including unsent ones.
	History  []string
	Remember func(text string, sent bool)
	// LoadDraft returns a session's unsent input, or nil, and SaveDraft stores it.
	LoadDraft func(session string) []byte
	SaveDraft func(session string, data []byte)
	// Clipboard returns the clipboard content. Pictures stores the images of messages; nil
	// disables images. Home is the user's home directory.
	Clipboard func(ctx context.Context) (clipboard.Content, error)
	Pictures  Pictures
	Home      string
}

// Pictures stores the images of messages being composed. It is safe for concurrent use.
type Pictures interface {
	// Read stores the image in a file, and Take stores image data.
	Read(ctx context.Context, path string) (edit.Image, error)
	Take(ctx context.Context, data []byte) (edit.Image, error)
	// Part returns an image as a message part.
	Part(image edit.Image) (msg.Part, error)
}
