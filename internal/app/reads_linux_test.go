package app

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestSettingsAreReadOnce checks that settings and trust are read once before the first turn of
// an interactive conversation.
func TestSettingsAreReadOnce(t *testing.T) {
	p := newPlace(t)
	p.env.Now = time.Now
	p.Write("home/.adze/settings.json", `{"cleanupPeriodDays":365}`)
	p.Write("work/.adze/settings.json", `{"env":{"A":"b"}}`)
	p.Write("work/CLAUDE.md", "Be brief.")
	if code, _, said := p.run("trust", "--yes", p.Path("work")); code != 0 {
		t.Fatal(said)
	}
	files := []string{"home/.adze/settings.json", "home/.adze/trust.json", "work/.adze/settings.json"}
	watch, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(watch)
	names := map[int]string{}
	for _, file := range files {
		id, err := unix.InotifyAddWatch(watch, p.Path(file), unix.IN_OPEN)
		if err != nil {
			t.Fatal(err)
		}
		names[id] = file
	}

	p.env.Stdin, p.env.StdinTerminal, p.env.StdoutTerminal = strings.NewReader("hi\n"), true, true
	if code, out, said := p.run("--plain", "--model", "replay:"+p.Path("model.replay")); code != 0 || !strings.Contains(out, "Hello.") {
		t.Fatalf("exit code %d, %s, %s", code, out, said)
	}

	opened := map[string]int{}
	events := make([]byte, 64<<10)
	n, err := unix.Read(watch, events)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < n; at += unix.SizeofInotifyEvent { // events of a watched file have no name
		opened[names[int(events[at])]]++
	}
	for _, file := range files {
		if opened[file] != 1 {
			t.Errorf("%s was read %d times", file, opened[file])
		}
	}
}
