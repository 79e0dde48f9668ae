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

// imageInserter inserts images into the message. Slow work runs in the background.
type imageInserter struct{ *Front }

// dropped replaces pasted image paths with the images, if the paste consists only of such
// paths.
func (f imageInserter) dropped(pasted string) {
	store := f.cfg.Typing.Pictures
	if store == nil {
		return
	}
	for _, d := range compose.Drops(pasted, f.cfg.Typing.Home) {
		f.runInBackground(func() func() {
			image, err := store.Read(f.ctx, d.Path)
			return func() {
				if err == nil && f.keyboard.AttachFor(d.Text, image) { // otherwise it stays a path
					f.edited()
				}
			}
		})
	}
}

// paste inserts the clipboard content.
func (f imageInserter) paste() {
	store, read := f.cfg.Typing.Pictures, f.cfg.Typing.Clipboard
	if store == nil || read == nil {
		return
	}
	f.runInBackground(func() func() {
		c, err := read(f.ctx)
		var image edit.Image
		if err == nil && c.Image != nil {
			image, err = store.Take(f.ctx, c.Image)
		}
		return func() { f.pasted(c, image, err) }
	})
}

// pasted inserts content read from the clipboard.
func (f imageInserter) pasted(c clipboard.Content, image edit.Image, err error) {
	switch {
	case errors.Is(err, clipboard.ErrNoProgram):
		view(f).Say("The clipboard cannot be read: install wl-clipboard, xclip or xsel, or give the path of the image.")
	case err != nil:
		view(f).Fail(err)
	case c.Image != nil:
		f.keyboard.Attach(image)
	case c.Text != "":
		keyHandler(f).press(context.Background(), keys.Event{Kind: keys.Paste, Text: c.Text, At: time.Now()}, true)
	default:
		view(f).Say("The clipboard is empty.")
	}
	f.edited()
}
