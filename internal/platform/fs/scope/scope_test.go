package scope

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestParse(t *testing.T) {
	for name, want := range map[string]Scope{
		"user": User, "userSettings": User, "project": Project, "localSettings": Local, "flag": Flag, "policySettings": Managed,
	} {
		if got, err := Parse(name); got != want || err != nil {
			t.Errorf("Parse(%q) = %q, %v, want %q", name, got, err, want)
		}
	}
	for _, name := range []string{"", "session", "cliArg", "Settings", "User", "host"} {
		if got, err := Parse(name); err == nil {
			t.Errorf("Parse(%q) = %q, want an error", name, got)
		}
	}
}

func TestCompare(t *testing.T) {
	want := []Scope{Managed, Flag, CLI, Command, Session, Local, Project, User, Host, ""}
	got := slices.Clone(want)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
	slices.SortFunc(got, Compare)
	if !slices.Equal(got, want) {
		t.Errorf("in order of precedence: %q, want %q", got, want)
	}
}

func TestText(t *testing.T) {
	for s, want := range map[Scope]string{Managed: "the managed policy", CLI: "the command line", "x": "x"} {
		if got := s.Text(); got != want {
			t.Errorf("Text of %q = %q, want %q", string(s), got, want)
		}
	}
	for s, want := range map[Scope]string{User: "user", Managed: "policy", Session: "session"} {
		if got := s.Short(); got != want {
			t.Errorf("Short of %q = %q, want %q", string(s), got, want)
		}
	}
}
