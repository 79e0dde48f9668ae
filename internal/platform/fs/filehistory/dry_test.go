package filehistory

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDryRewindChangesNothing(t *testing.T) {
	p := newProject(t)
	p.outside("f", "one\n")
	p.Begin("m1")
	p.edit("f", "one\ntwo\n")
	before := p.files()
	snapshots := len(p.snapshots)
	report, err := p.Rewind(t.Context(), "m1", Options{DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Report{
		Stats: Stats{Files: 1, Insertions: 1}, Paths: []string{p.path("f")},
		Changes: []FileChange{{Path: p.path("f"), Insertions: 1}},
	}, report); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, p.files()); diff != "" {
		t.Error(diff)
	}
	if len(p.snapshots) != snapshots {
		t.Error("it left a trace")
	}
}
