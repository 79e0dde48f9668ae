package transcript

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"adze/internal/model/cost"
	"adze/internal/msg"
	"adze/internal/session/store"
)

// TestSaveCostAtOnce checks that the stored cost is the newest one when the conversations of a
// session end their turns at the same time.
//
// Proves SESS-42.
func TestSaveCostAtOnce(t *testing.T) {
	cfg := Config{
		Home: t.TempDir(), Dir: t.TempDir(), NoSync: true, Now: time.Now,
		Facts: func(string) cost.Facts { return cost.Facts{} },
		Say:   func(s string) { t.Error(s) },
	}
	session, err := Open(t.Context(), cfg, Spec{})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	entry := msg.Entry{ID: "e", Message: msg.UserText("hi")}
	if err := session.Log.Append(entry); err != nil {
		t.Fatal(err)
	}
	saves := []func(){session.SaveCost()}
	for _, id := range []string{"a1", "a2", "a3"} {
		agent, err := Open(t.Context(), cfg, Spec{Ephemeral: true})
		if err != nil {
			t.Fatal(err)
		}
		saves = append(saves, agent.BookUnder(session, id, "an agent"))
	}
	var turns sync.WaitGroup
	for _, save := range saves {
		turns.Go(func() {
			for range 50 {
				session.Ledger().Book("m", msg.Usage{Input: 1}, cost.Times{})
				save()
			}
		})
	}
	turns.Wait()
	got, err := store.LastCost(cfg.Home, cfg.Dir, session.ID)
	if err != nil || got == nil || got.Usage.Input != 200 {
		t.Errorf("saved in %s: %+v, %v", filepath.Base(session.Path()), got, err)
	}
}
