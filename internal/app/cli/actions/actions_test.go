package actions

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/app/cli/flags"
)

func table() Table[*string] {
	do := func(_ context.Context, done *string) error { *done += "done"; return nil }
	return Table[*string]{
		{Name: "list", Doc: "list them", Run: do},
		{Name: "remove", Alias: "rm", Args: "NAME", Doc: "remove one", Least: 1, Most: 1, Run: do},
		{Name: "add", Args: "NAME...", Doc: "add some", Least: 1, Most: Any, Run: do},
	}
}

func TestFind(t *testing.T) {
	for _, tt := range []struct{ name, want, problem string }{
		{"list", "list", ""},
		{"rm", "remove", ""},
		{"", "", "unknown command: adze thing ; usage: adze thing list|remove|add"},
		{"lst", "", "unknown command: adze thing lst; did you mean list?"},
		{"quite-another", "", "unknown command: adze thing quite-another; usage: adze thing list|remove|add"},
	} {
		a, err := table().Find("thing", tt.name)
		switch {
		case tt.problem != "":
			if err == nil || err.Error() != tt.problem {
				t.Errorf("%q: %v", tt.name, err)
			}
		case err != nil || a.Name != tt.want:
			t.Errorf("%q: %+v, %v", tt.name, a, err)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name string
		n    int
		ok   bool
	}{{"list", 0, true}, {"list", 1, false}, {"remove", 0, false}, {"remove", 1, true}, {"remove", 2, false}, {"add", 0, false}, {"add", 9, true}} {
		a, err := table().Find("thing", tt.name)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Check("thing", tt.n); (err == nil) != tt.ok {
			t.Errorf("%s with %d: %v", tt.name, tt.n, err)
		}
	}
}

func TestHelp(t *testing.T) {
	want := []flags.Action{{Name: "list", Doc: "list them"}, {Name: "remove", Args: "NAME", Doc: "remove one"}, {Name: "add", Args: "NAME...", Doc: "add some"}}
	if diff := cmp.Diff(want, table().Help()); diff != "" {
		t.Error(diff)
	}
}
