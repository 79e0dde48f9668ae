//go:build unix

package bash

import (
	"encoding/base64"
	"os"
	"strings"
	"testing"

	"adze/internal/msg"
	"adze/internal/platform/proc/task"
)

// Proves SHOUT-05.
func TestPictures(t *testing.T) {
	b := newBench(t, nil)
	data := strings.Repeat("picture", 50_000) // more than is kept in memory
	uri := "data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte(data))
	if err := os.WriteFile(b.root+"/uri", []byte(uri+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	res := run(t, b, input("cat uri"))
	if len(res.Parts) != 1 || res.Body != nil {
		t.Fatalf("%d parts, body %v", len(res.Parts), res.Body)
	}
	image, ok := res.Parts[0].(*msg.Image)
	if !ok || image.MediaType != "image/png" || string(image.Data) != data {
		t.Errorf("%T", res.Parts[0])
	}
	for _, command := range []string{"echo data:image/png;base64,x!", "echo 'data:image/svg+xml;base64,AAAA'", "echo 'data:image/png,AAAA'", "echo a; head -c 40 uri"} {
		if res := run(t, b, input(command)); len(res.Parts) != 1 {
			t.Errorf("%q: %d parts", command, len(res.Parts))
		} else if _, ok := res.Parts[0].(*msg.Text); !ok {
			t.Errorf("%q is taken for a picture", command)
		}
	}
	if left, _ := os.ReadDir(b.root); len(left) != 1 {
		t.Errorf("files are left: %v", left)
	}
}

// TestManyTasksLeaveNothing runs two hundred tasks, thirty-two at a time, and checks for leaks.
// TestMain counts goroutines.
//
// Proves SHBG-06.
func TestManyTasksLeaveNothing(t *testing.T) {
	b := newBench(t, nil)
	before := openFiles(t)
	for done := 0; done < 200; done += task.MaxRunning {
		for range task.MaxRunning {
			run(t, b, background("exec sleep 1000"))
		}
		for _, tk := range b.tasks.List() {
			tk.Stop()
		}
		for range task.MaxRunning {
			if n := <-b.notices; n.Status != task.Killed {
				t.Fatalf("%+v", n)
			}
		}
	}
	b.tasks.Close()
	if after := openFiles(t); after > before+8 {
		t.Errorf("%d files were open, %d are", before, after)
	}
}

// openFiles returns the number of files this process has open, or 0 if unknown.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}
