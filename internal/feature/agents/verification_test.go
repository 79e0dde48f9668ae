package agents

import (
	"fmt"
	"strings"
	"testing"

	"adze/internal/agent"
	"adze/internal/platform/text/texts"
)

// Proves AGENT-60.
func TestContract(t *testing.T) {
	holds, busy := true, false
	c := &Contract{
		Holds: func() bool { return holds }, Busy: func() bool { return busy }, Language: func() texts.Language { return texts.English },
		Unrelated: Within(func() []string { return []string{"", "/scratch"} }),
	}
	change := func(names ...string) {
		for _, name := range names {
			c.Changed(t.Context(), name)
		}
	}
	stop := func(what string, want string) {
		t.Helper()
		v, err := c.Stop(t.Context(), agent.StopInput{})
		if err != nil || (v.Block == "") != (want == "") || !strings.Contains(v.Block, want) {
			t.Errorf("%s: %q, %v", what, v.Block, err)
		}
	}
	change("/p/a", "/p/a", "/p/b", "/scratch/c", "/scratch/d/e")
	stop("two files", "")
	change("/scratchy/c")
	holds = false
	stop("not asked for", "")
	holds, busy = true, true
	stop("a verifier is at work", "")
	busy = false
	stop("three files", "changed 3 files")
	stop("a second time", "")
	c.Ended()
	stop("another turn", "")
	change("/p/a", "/p/b", "/p/c")
	c.Judged()
	change("/p/a", "/p/b")
	stop("two files since the verdict", "")
	for i := range 1000 {
		change(fmt.Sprintf("/p/%d", i))
	}
	if v, _ := c.Stop(t.Context(), agent.StopInput{}); strings.Count(v.Block, "/p/") != shown {
		t.Errorf("%d files are named", strings.Count(v.Block, "/p/"))
	}
	none := (*Contract)(nil)
	none.Changed(t.Context(), "/p/a")
	none.Judged()
	none.Ended()
	if v, err := none.Stop(t.Context(), agent.StopInput{}); v != (agent.StopResult{}) || err != nil {
		t.Error("there is none, and it asks for something")
	}
}
