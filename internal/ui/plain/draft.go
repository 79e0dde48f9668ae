package plain

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"time"
)

// A draft is when what is typed is stored, and what was stored last.
type draft struct {
	due   <-chan time.Time // nil if all is stored
	saved []byte
}

// settled is how long after the last key what is typed is stored.
const settled = 500 * time.Millisecond

// changed notes that a key was pressed.
func (d *draft) changed() { d.due = time.After(settled) }

// saveDraft stores what is typed and not sent in a session.
func (k *keyboard) saveDraft(talk *Conversation) {
	k.draft.due = nil
	if k.typing.SaveDraft == nil || !k.byKey || talk == nil {
		return
	}
	data := k.Save()
	if bytes.Equal(data, k.draft.saved) {
		return
	}
	k.draft.saved = data
	k.typing.SaveDraft(talk.ID(), data)
}

// loadDraft brings back what was typed and not sent in a session, unless the user is typing already.
func (k *keyboard) loadDraft(talk *Conversation) {
	k.draft.saved = nil
	if k.typing.LoadDraft == nil || !k.byKey {
		return
	}
	data := k.typing.LoadDraft(talk.ID())
	if data == nil || !k.Empty() {
		return
	}
	if k.Load(data) == nil {
		k.draft.saved = data
	}
}

// openEditor lets the user edit the message in an editor.
func (f presses) openEditor() {
	text := f.keyboard.Text()
	edited, err := f.editText(text)
	if err != nil {
		f.out.fail(err)
		return
	}
	if edited = strings.TrimSuffix(edited, "\n"); edited != text {
		f.keyboard.Set(edited)
		f.keyboard.draft.changed()
	}
}

// editText returns what the user makes of a text in an editor.
func (f presses) editText(text string) (string, error) {
	file, err := os.CreateTemp("", "adze-message-*.md")
	if err != nil {
		return "", err
	}
	defer os.Remove(file.Name())
	_, err = file.WriteString(text)
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return "", err
	}
	f.keyboard.saveDraft(f.talk)
	if err := f.edit(file.Name()); err != nil {
		return "", err
	}
	data, err := os.ReadFile(file.Name())
	if err != nil {
		return "", fmt.Errorf("reading what was edited: %w", err)
	}
	return strings.ToValidUTF8(string(data), "\uFFFD"), nil
}
