//go:build unix

package change_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"adze/internal/msg"
	"adze/internal/tool"
)

// TestAfterAFormatter checks that a formatter that runs after a change does not make the next
// change fail.
//
// Proves NOTE-02.
func TestAfterAFormatter(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			w := newWorld(t, k)
			w.read(k.file)
			after := func(hook func()) string {
				t.Helper()
				call := w.bind(k.input(k.file))
				res, err := call.Run(t.Context(), func(tool.Progress) {})
				if err != nil {
					t.Fatal(err)
				}
				hook()
				if err := w.Files.After(t.Context(), &tool.Use{Call: call}, &res); err != nil {
					t.Fatal(err)
				}
				return msg.PlainText(res.Parts)
			}
			if text := after(func() {}); strings.Contains(text, "hook") {
				t.Errorf("without a formatter: %q", text)
			}
			w.write(k.file, k.before)
			w.read(k.file)
			touched := func() {
				now := time.Now().Add(time.Hour)
				if err := os.Chtimes(w.path(k.file), now, now); err != nil {
					t.Fatal(err)
				}
			}
			if text := after(touched); strings.Contains(text, "hook") {
				t.Errorf("after a hook that only touches the file: %q", text)
			}
			w.write(k.file, k.before)
			w.read(k.file)
			// The formatter restores the previous content, so that the same change can be made
			// again.
			if text := after(func() { w.write(k.file, k.before) }); !strings.Contains(text, "changed by a hook") {
				t.Errorf("the result lacks the change: %q", text)
			}
			if text := after(func() {}); strings.Contains(text, "hook") || w.content(k.file) != k.after {
				t.Errorf("the change after that: %q, content %q", text, w.content(k.file))
			}
			w.write(k.file, k.before)
			w.read(k.file)
			if text := after(func() {
				if err := os.Remove(w.path(k.file)); err != nil {
					t.Fatal(err)
				}
			}); strings.Contains(text, "hook") {
				t.Errorf("after a hook that removes the file: %q", text)
			}
		})
	}
}
