package task

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Proves SHBG-07.
func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l listener
		table := New(t.TempDir(), l.hear)
		heard := func(n int) func() bool {
			return func() bool {
				l.mu.Lock()
				defer l.mu.Unlock()
				return len(l.notices) >= n
			}
		}
		if table.Await(t.Context(), heard(1)) {
			t.Error("nothing runs, and there is more to come")
		}
		quick, server := begin(t, table), begin(t, table)
		server.Limit = time.Minute
		for _, task := range []*Task{quick, server} {
			if err := task.ToBackground(); err != nil {
				t.Fatal(err)
			}
		}
		time.AfterFunc(time.Second, func() { quick.End(Completed, "exit code 0") })
		began := time.Now()
		if !table.Await(t.Context(), heard(1)) || time.Since(began) != time.Second {
			t.Errorf("after %v: %+v", time.Since(began), l.notices)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if !table.Await(ctx, heard(2)) || server.Stopped() {
			t.Error("the end of the context did not end the wait alone")
		}
		go func() {
			<-server.Context().Done()
			server.End(Failed, "signal: killed")
		}()
		table.Await(t.Context(), heard(2))
		if took := time.Since(began); took != time.Minute || len(l.notices) != 2 || l.notices[1].Status != Killed || !strings.Contains(l.notices[1].Remark, "had run for 1m0s") {
			t.Errorf("after %v: %+v", took, l.notices)
		}
		if table.Await(t.Context(), heard(3)) {
			t.Error("everything was announced, and there is more to come")
		}
	})
}
