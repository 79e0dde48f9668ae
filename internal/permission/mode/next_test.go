package mode

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNext checks that the key cycles through the usual modes, and includes more permissive
// ones only if they can be chosen.
//
// Proves PERM-21.
func TestNext(t *testing.T) {
	for _, tt := range []struct {
		from    Mode
		allowed []Mode
		want    []Mode
	}{
		{Default, nil, []Mode{AcceptEdits, Plan, Default}},
		{Default, []Mode{Auto}, []Mode{AcceptEdits, Plan, Auto, Default}},
		{Default, []Mode{Auto, Bypass}, []Mode{AcceptEdits, Plan, Auto, Bypass, Default}},
		{DontAsk, nil, []Mode{Default, AcceptEdits}},
		{Bypass, nil, []Mode{Default}},
	} {
		m := tt.from
		var got []Mode
		for range tt.want {
			m = m.Next(func(m Mode) bool {
				for _, a := range tt.allowed {
					if a == m {
						return true
					}
				}
				return false
			})
			got = append(got, m)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("from %s with %v: %s", tt.from, tt.allowed, diff)
		}
	}
}
