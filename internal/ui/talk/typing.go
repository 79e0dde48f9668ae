package talk

import (
	"context"

	"adze/internal/msg"
	"adze/internal/platform/clipboard"
	"adze/internal/ui/edit"
	"adze/internal/ui/keys"
)

// Typing is what the user types with. Each function may be nil.
type Typing struct {
	// Bindings returns the keys that are in force, which may change; nil means the usual ones.
	Bindings func() *keys.Map
	// Vim reports whether text is edited as in vim, and which two characters end the insertion; both may change.
	Vim func() (on bool, escape string)
	// Remote says that the terminal is on another machine.
	Remote bool
	// History is what was entered in earlier sessions, oldest first. Remember stores an entry; one that was not sent is
	// kept, too.
	History  []string
	Remember func(text string, sent bool)
	// LoadDraft returns what was typed in a session and not sent, or nil, and SaveDraft stores it.
	LoadDraft func(session string) []byte
	SaveDraft func(session string, data []byte)
	// Clipboard returns what the clipboard holds. Pictures keeps the pictures of messages; nil if they have none. Home is the
	// home directory of the user.
	Clipboard func(ctx context.Context) (clipboard.Content, error)
	Pictures  Pictures
	Home      string
}

// Pictures keeps the pictures of messages that are being typed. Several goroutines may use it.
type Pictures interface {
	// Read keeps the picture in a file, and Take one that is there already.
	Read(ctx context.Context, path string) (edit.Image, error)
	Take(ctx context.Context, data []byte) (edit.Image, error)
	// Part returns a picture as a part of a message.
	Part(image edit.Image) (msg.Part, error)
}
