package task

import (
	"fmt"
	"strings"
	"time"
)

const (
	// quiet is how long a task must be silent after printing an apparent question.
	quiet = 45 * time.Second
	// look is the interval of the check.
	look = 5 * time.Second
)

// watch announces, once per silence, that a background task seems to be waiting for input that
// it cannot get.
func (task *Task) watch() {
	tick := time.NewTicker(look)
	defer tick.Stop()
	size, since, told := task.Output.Size(), time.Now(), false
	for {
		select {
		case <-task.done:
			return
		case <-tick.C:
		}
		if now := task.Output.Size(); now != size {
			size, since, told = now, time.Now(), false
			continue
		}
		if told || time.Since(since) < quiet {
			continue
		}
		told = true
		tail, _ := task.Output.Tail(4 * noticeChars)
		if asks(lastLine(tail)) {
			task.table.notify(Notice{
				ID: task.ID, CallID: task.CallID, Status: Running, OutputFile: task.Output.Path(), Tail: lastLines(tail),
				Summary: fmt.Sprintf("Background command %q has printed nothing for %v and seems to wait for an answer, which it cannot get: stop it, and run it so that it does not ask", task.Title, quiet),
			})
			task.table.announced(0)
		}
	}
}

// lastLine returns the line at the cursor.
func lastLine(tail []byte) string {
	text := strings.TrimSpace(string(tail))
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// asks reports whether a line looks like a prompt for input.
func asks(line string) bool {
	line = strings.ToLower(strings.TrimSpace(line))
	for _, hint := range []string{"(y/n)", "[y/n]", "(yes/no", "[yes/no", "y/n?", "press enter", "press any key", "press return", "are you sure", "continue?", "proceed?", "overwrite?"} {
		if strings.Contains(line, hint) {
			return true
		}
	}
	for _, hint := range []string{"password", "passphrase", "username", "passcode"} {
		if strings.Contains(line, hint) && strings.HasSuffix(line, ":") {
			return true
		}
	}
	return false
}
