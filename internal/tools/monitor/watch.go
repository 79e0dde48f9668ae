package monitor

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"adze/internal/platform/proc/task"
	"adze/internal/platform/text/amount"
)

const (
	// look is the polling interval of a watch.
	look = 500 * time.Millisecond
	// Notices are at least minPause apart, and up to maxPause while lines keep coming, because
	// each notice wakes the model.
	minPause = 3 * time.Second
	maxPause = time.Minute
	// Limits of a notice.
	maxLines, maxLine, maxText = 20, 500, 4000
	// maxRead is the maximum number of bytes read between two notices; the rest is only
	// counted.
	maxRead = 256 << 10
)

// A watch reports the lines that a task prints.
type watch struct {
	task  *task.Task
	about string
	limit time.Duration

	told  int64         // offset up to which lines were reported
	last  time.Time     // time of the last notice
	pause time.Duration // minimum time until the next
}

func newWatch(t *task.Task, about string, limit time.Duration) *watch {
	return &watch{task: t, about: about, limit: limit, pause: minPause}
}

// run watches until the task ends, and kills it at the time limit.
func (w *watch) run() {
	tick := time.NewTicker(look)
	defer tick.Stop()
	over := time.NewTimer(w.limit)
	defer over.Stop()
	for {
		select {
		case <-w.task.Done():
			return
		case <-over.C:
			w.tell()
			task.StopBecause(w.task, fmt.Sprintf("The watch ended because its time of %v was up. Start it again if you still need it.", w.limit))
			<-w.task.Done()
			return
		case now := <-tick.C:
			w.look(now)
		}
	}
}

// look reports new lines if the last notice is old enough.
func (w *watch) look(now time.Time) {
	since := now.Sub(w.last)
	if !w.last.IsZero() && since < w.pause {
		return
	}
	if !w.tell() {
		return
	}
	if w.last.IsZero() || since > 2*w.pause { // idle for a while
		w.pause = minPause
	} else {
		w.pause = min(2*w.pause, maxPause)
	}
	w.last = now
}

// tell reports new complete lines, and returns whether there were any.
func (w *watch) tell() bool {
	size := w.task.Output.Size()
	from := max(w.told, size-maxRead)
	data := make([]byte, size-from)
	n, err := w.task.Output.ReadAt(data, from)
	if err != nil && err != io.EOF {
		return false // the end of the task reports the file
	}
	end := bytes.LastIndexByte(data[:n], '\n') + 1
	if end == 0 {
		return false
	}
	skipped := from - w.told
	w.told = from + int64(end)
	text, count := lines(data[:end])
	what := amount.Of(count, "new line", "new lines")
	if skipped > 0 {
		what = "more than " + what
	}
	task.Announce(w.task, fmt.Sprintf("Monitor %q: %s", w.about, what), text, w.told)
	return true
}

// lines returns the last lines that fit into a notice, and the number of lines.
func lines(data []byte) (text string, count int) {
	all := strings.Split(strings.TrimSuffix(strings.ToValidUTF8(string(data), "\uFFFD"), "\n"), "\n")
	count = len(all)
	shown := all[max(0, count-maxLines):]
	size := 0
	for i := len(shown) - 1; i >= 0; i-- {
		shown[i] = clip(shown[i])
		if size += len(shown[i]) + 1; size > maxText {
			shown = shown[i+1:]
			break
		}
	}
	text = strings.Join(shown, "\n")
	if left := count - len(shown); left > 0 {
		text = fmt.Sprintf("[%s before these]\n%s", amount.Of(left, "line", "lines"), text)
	}
	return text, count
}

// clip shortens a long line.
func clip(line string) string {
	if utf8.RuneCountInString(line) <= maxLine {
		return line
	}
	return string([]rune(line)[:maxLine]) + "…"
}
