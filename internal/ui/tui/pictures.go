package tui

import (
	"context"
	"errors"
	"time"

	"adze/internal/platform/term/clipboard"
	"adze/internal/ui/edit"
	"adze/internal/ui/keys"
	"adze/internal/ui/tui/compose"
)

// attachDropped replaces pasted image paths with the images, if the paste consists only of such
// paths.
func (f *Front) attachDropped(pasted string) {
	store := f.cfg.Typing.Pictures
	if store == nil {
		return
	}
	for _, d := range compose.Drops(pasted, f.cfg.Typing.Home) {
		f.Background(func(ctx context.Context) func() {
			image, err := store.Read(ctx, d.Path)
			return func() {
				if err == nil && f.keyboard.AttachFor(d.Text, image) { // otherwise it stays a path
					f.outbox.edited()
				}
			}
		})
	}
}

// pasteClipboard inserts the clipboard content.
func (f *Front) pasteClipboard() {
	store, read := f.cfg.Typing.Pictures, f.cfg.Typing.Clipboard
	if store == nil || read == nil {
		return
	}
	f.Background(func(ctx context.Context) func() {
		c, err := read(ctx)
		var image edit.Image
		if err == nil && c.Image != nil {
			image, err = store.Take(ctx, c.Image)
		}
		return func() { f.insertClipboard(c, image, err) }
	})
}

// insertClipboard inserts content read from the clipboard.
func (f *Front) insertClipboard(c clipboard.Content, image edit.Image, err error) {
	switch {
	case errors.Is(err, clipboard.ErrNoProgram):
		f.Say("The clipboard cannot be read: install wl-clipboard, xclip or xsel, or give the path of the image.")
	case err != nil:
		f.Fail(err)
	case c.Image != nil:
		f.keyboard.Attach(image)
	case c.Text != "":
		f.press(context.Background(), keys.Event{Kind: keys.Paste, Text: c.Text, At: time.Now()}, true)
	default:
		f.Say("The clipboard is empty.")
	}
	f.outbox.edited()
}
