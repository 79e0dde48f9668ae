package filehistory

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRewindToMessageWithoutChanges checks that rewinding to a message that changed nothing, in
// an earlier process, is equivalent to rewinding to the next message that did (D12, F2).
func TestRewindToMessageWithoutChanges(t *testing.T) {
	p := newProject(t)
	p.outside("f", "f0")
	p.Begin("aaaa-1")
	p.Begin("aaaa-2")
	p.reopen() // nothing was recorded
	p.Begin("bbbb-1")
	p.edit("f", "f1")
	p.reopen()
	p.Begin("bbbb-2")
	p.reopen()

	for _, tt := range []struct {
		id    string
		later []string
		want  string // expected file content or error
	}{
		{"aaaa-1", []string{"aaaa-2", "bbbb-1", "bbbb-2"}, "f0"},
		{"aaaa-2", []string{"bbbb-1", "bbbb-2"}, "f0"},
		{"bbbb-2", []string{}, "f1"},
		{"cccc-1", []string{}, "f1"},
		{"bbbb-1", nil, "f0"},
		{"cccc-1", nil, `no message "cccc-1" to go back to; the last ones are`},
		{"bbbb", nil, "several messages have an id that begins with"},
		{"bbb", nil, "no message"},
	} {
		report, err := p.Rewind(t.Context(), tt.id, Options{Later: tt.later})
		if err != nil {
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v", tt.id, err)
			}
			continue
		}
		if got := p.files()["f"]; got != tt.want {
			t.Errorf("%s: %q, want %q", tt.id, got, tt.want)
		}
		if (report.Undo == "") != (len(report.Paths) == 0) {
			t.Errorf("%s: %+v", tt.id, report)
		}
		if report.Undo == "" {
			continue
		}
		if _, err := p.Rewind(t.Context(), report.Undo[:len("rewind-")+5], Options{}); err != nil || p.files()["f"] != "f1" {
			t.Errorf("undo of %s by the beginning of its id: %v, %v", tt.id, err, p.files())
		}
	}
}

// TestRewindTooLongAgo checks that changes of the oldest messages are dropped, and that a
// rewind to a message before that does not use a later message.
func TestRewindTooLongAgo(t *testing.T) {
	p := newProject(t)
	var later []string
	for i := range maxSnapshots + 1 {
		later = append(later, fmt.Sprint("message-", i))
		p.Begin(later[i])
		p.edit("f", fmt.Sprint("content ", i))
	}
	if _, err := p.Rewind(t.Context(), later[0], Options{Later: later[1:]}); err == nil || !strings.Contains(err.Error(), "too long ago") {
		t.Error(err)
	}
	if _, err := p.Rewind(t.Context(), later[1], Options{Later: later[2:]}); err != nil || p.files()["f"] != "content 0" {
		t.Error(err, p.files())
	}
}

// TestChanges checks that each message's changes are reported per file, even after later
// changes.
func TestChanges(t *testing.T) {
	p := newProject(t)
	p.outside("f", "a\nb\n")
	p.outside("bin", "x\x00y")
	p.Begin("m1")
	p.edit("f", "a\nB\nc\n")
	p.edit("new", "1\n")
	p.Begin("m2")
	p.Begin("m3")
	p.edit("f", "a\n")
	p.edit("bin", "z\x00y")
	p.edit("same", "s")
	p.outside("same", "s2")
	p.reopen()
	got := p.Changes([]string{"m1", "m2", "m3", "none"})
	want := map[string][]FileChange{
		"m1": {{Path: p.path("f"), Insertions: 2, Deletions: 1}, {Path: p.path("new"), Insertions: 1}},
		"m3": {{Path: p.path("bin"), Binary: true}, {Path: p.path("f"), Deletions: 2}, {Path: p.path("same"), Insertions: 1}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	report, err := p.Rewind(t.Context(), "m3", Options{DryRun: true, Force: true})
	if err != nil {
		t.Fatal(err)
	}
	want["m3"][2].Foreign = true
	if diff := cmp.Diff(want["m3"], report.Changes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var off *History
	if off.Changes([]string{"m1"}) != nil {
		t.Error("a history that is not kept tells of changes")
	}
}
