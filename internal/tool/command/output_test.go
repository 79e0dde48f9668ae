package command

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/proc/task"
	"adze/internal/tool"
)

// Proves SHOUT-02.
func TestProgressOnAVirtualClock(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		tk, err := task.New(dir, nil).Begin(t.Context(), task.Shell, "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer tk.End(task.Completed, "")
		events := make(chan tool.Output, 100)
		var last tool.Output
		o := newOutput(tk.Output)
		stop := o.watch("make", func(p tool.Progress) { events <- p.Display.(tool.Output) })
		count := func(d time.Duration) int {
			time.Sleep(d)
			synctest.Wait()
			n := len(events)
			for range n {
				last = <-events
			}
			return n
		}
		if n := count(1950 * time.Millisecond); n != 0 {
			t.Errorf("%d events before there is anything to say", n)
		}
		if n := count(3 * time.Second); n != 3 {
			t.Errorf("%d events in three silent seconds", n)
		}
		io.WriteString(tk.Output, strings.Repeat("line\n", 10))
		if n := count(100 * time.Millisecond); n != 1 {
			t.Errorf("%d events for new output", n)
		}
		if last.Text != "line\nline\nline\nline\nline" || last.Lines != 10 || last.Elapsed < 5*time.Second {
			t.Errorf("%+v", last)
		}
		stop()
	})
}

func TestEndingWords(t *testing.T) {
	tests := []struct {
		name string
		e    ending
		want string
	}{
		{"deaf", ending{Exit: osproc.Exit{Code: -1, Cancelled: true, Running: true, Duration: 1234 * time.Millisecond}},
			"The command was interrupted after 1.2s. The output is incomplete; its changes up to then remain.\nIt has not ended yet, and is killed within seconds."},
		{"too much", ending{Exit: osproc.Exit{Code: -1, Cancelled: true, Duration: time.Second}, lost: task.ErrFull},
			"The command was ended after 1s because it printed more than 1 GB."},
		{"disk full", ending{Exit: osproc.Exit{Code: -1, Cancelled: true, Duration: time.Second}, lost: errors.New("no space left on device")},
			"The command was ended after 1s because its output could not be kept: no space left on device."},
		{"undone", ending{Remarks: Remarks{Undone: ".env was moved away", Note: "The working directory is /work."}},
			".env was moved away\nThe working directory is /work."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.e.words()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !tt.e.failed() {
				t.Error("not an error")
			}
		})
	}
}

func TestTexts(t *testing.T) {
	for _, problem := range catalogue.Check() {
		t.Error(problem)
	}
}
