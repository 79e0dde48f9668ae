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
	points := p.Points()
	report, err := p.Rewind(t.Context(), "m1", Options{Dry: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Report{Stats: Stats{Files: 1, Insertions: 1}, Paths: []string{p.path("f")}}, report); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, p.files()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(points, p.Points()); diff != "" {
		t.Errorf("it left a trace: %s", diff)
	}
}
