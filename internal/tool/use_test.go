package tool

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVerdictOnlyGetsStricter(t *testing.T) {
	var v Verdict
	v.Decide(Allow, "rule", "listed")
	v.Decide(Ask, "mode", "default")
	v.Decide(Allow, "hook", "fine")
	v.Decide(Ask, "other", "again")
	if diff := cmp.Diff(Verdict{Decision: Ask, By: "mode", Reason: "default"}, v); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	v.Decide(Deny, "rule", "no")
	v.Decide(Allow, "user", "yes")
	if diff := cmp.Diff(Verdict{Decision: Deny, By: "rule", Reason: "no"}, v); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFatal(t *testing.T) {
	cause := errors.New("disk gone")
	err := fmt.Errorf("running: %w", Fatal(cause))
	if !IsFatal(err) || !errors.Is(err, cause) || err.Error() != "running: disk gone" {
		t.Errorf("got %v", err)
	}
	if IsFatal(cause) || IsFatal(nil) {
		t.Error("an ordinary error ends the run")
	}
}
