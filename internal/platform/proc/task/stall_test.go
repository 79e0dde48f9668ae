package task

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Proves TASK-06.
func TestStalledTaskIsAnnounced(t *testing.T) {
	for text, want := range map[string]int{
		"Fetching\nOverwrite settings? (y/n) ": 1,
		"Password: ":                           1,
		"Are you sure you want to continue?\n": 1,
		"the password was accepted\n":          0,
		"listening on port 8080\n":             0,
		"":                                     0,
	} {
		synctest.Test(t, func(t *testing.T) {
			var l listener
			table := New(t.TempDir(), l.hear)
			task := begin(t, table)
			if err := task.ToBackground(); err != nil {
				t.Fatal(err)
			}
			task.Output.Write([]byte(text)) // ok: it is read below
			time.Sleep(quiet - look)
			synctest.Wait()
			if n := len(l.heard()); n != 0 {
				t.Errorf("%q: %d notices before the time", text, n)
			}
			time.Sleep(10 * quiet)
			synctest.Wait()
			if n := len(l.heard()); n != want {
				t.Fatalf("%q: %d notices", text, n)
			}
			for _, n := range l.heard() {
				if n.Status != Running || n.ID != task.ID || Announced(n.Text(), task.ID) {
					t.Errorf("%q: %+v", text, n)
				}
			}
			if want > 0 { // the task continues and asks again
				task.Output.Write([]byte("\nAnd this one? [y/N] ")) // ok: as above
				time.Sleep(2 * quiet)
				synctest.Wait()
				if n := len(l.heard()); n != want+1 {
					t.Errorf("%q: %d notices after the second question", text, n)
				}
			}
			task.End(Completed, "exit code 0")
			synctest.Wait()
			notices := l.heard()
			if last := notices[len(notices)-1]; last.Status != Completed || !Announced("x"+last.Text()+"y", task.ID) || Announced(last.Text(), "b0") {
				t.Errorf("%+v", last)
			}
		})
	}
}

// heard returns the notices so far.
func (l *listener) heard() []Notice {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.notices)
}
