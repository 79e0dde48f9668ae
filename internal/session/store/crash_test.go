//go:build unix

package store

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"adze/internal/model/cost"
	"adze/internal/msg"
)

// TestMain lets the test binary run as its own child: a writer to be killed, or a writer with a
// file size limit.
func TestMain(m *testing.M) {
	switch os.Getenv("STORE_TEST_CHILD") {
	case "write":
		childWrites()
	case "full":
		childFillsUp()
	default:
		flag.Parse()
		os.Exit(m.Run())
	}
}

func childLog() *Log {
	l, err := Open(Options{Home: os.Getenv("STORE_TEST_HOME"), Dir: "/work/app", Session: os.Getenv("STORE_TEST_SESSION"), NoSync: true})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	return l
}

func child(t *testing.T, role, home, session string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "STORE_TEST_CHILD="+role, "STORE_TEST_HOME="+home, "STORE_TEST_SESSION="+session)
	cmd.Stderr = os.Stderr
	return cmd
}

// childWrites runs a busy session: messages, notes and syncs without end. It prints each
// acknowledged message in a long line, so that the pipe fills up and the child blocks on its
// reader.
func childWrites() {
	l := childLog()
	ledger := cost.New(func(string) cost.Facts { return cost.Facts{} })
	for i := 0; ; i++ {
		ledger.AddLines(1, 0)
		err := l.Append(linked(i))
		if i%3 == 0 {
			err = errors.Join(err, l.Note(Title(fmt.Sprint("title ", i))), l.Note(Cost{ledger}))
		}
		if i%5 == 0 {
			err = errors.Join(err, l.Sync())
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Printf("%-1000d\n", i)
	}
}

// linked returns message i of a conversation.
func linked(i int) msg.Entry {
	e := text(fmt.Sprint(i), strings.Repeat("x", 9000))
	if i > 0 {
		e.Parent = fmt.Sprint(i - 1)
	}
	return e
}

var kills = flag.Int("kills", 300, "how often a busy session is killed")

// TestKill kills a busy session at random times. Each time it can be resumed and continued, and
// contains everything that was acknowledged and nothing that was not written.
//
// Proves SESS-12.
func TestKill(t *testing.T) {
	const together = 4
	home := t.TempDir()
	for worker := range together {
		t.Run(fmt.Sprint(worker), func(t *testing.T) {
			t.Parallel()
			torn := 0
			for k := range *kills / together {
				if killOne(t, home, fmt.Sprintf("s%d-%d", worker, k)) {
					torn++
				}
			}
			t.Logf("%d of %d logs had a torn end", torn, *kills/together)
		})
	}
}

// killOne kills a writer at a random time and compares the log with its output.
func killOne(t *testing.T, home, session string) (torn bool) {
	t.Helper()
	cmd := child(t, "write", home, session)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for range 1 + rand.IntN(50) {
		lines.Scan()
	}
	moment := time.Duration(rand.IntN(300)) * time.Microsecond
	for began := time.Now(); time.Since(began) < moment; {
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	acknowledged := strings.TrimSpace(lines.Text())
	for lines.Scan() { // output before it was killed
		acknowledged = strings.TrimSpace(lines.Text())
	}
	cmd.Wait() // ok: it was killed

	opt := Options{Home: home, Dir: "/work/app", Session: session, NoSync: true}
	l, c, err := Resume(opt, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	checkPrefix(t, c, acknowledged)
	next := linked(len(c.Entries))
	if err := errors.Join(l.Append(next), l.Close()); err != nil {
		t.Fatal(err)
	}
	again, err := Load(l.Path(), LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	checkPrefix(t, again, next.ID)
	os.Remove(l.Path()) // ok: thousands of them need much space
	return l.torn != nil
}

// checkPrefix checks that c holds a prefix of the conversation that includes the acknowledged
// message.
func checkPrefix(t *testing.T, c *Contents, acknowledged string) {
	t.Helper()
	if c.Bad != 0 || c.Torn {
		t.Fatalf("%d bad lines, torn %t", c.Bad, c.Torn)
	}
	found := false
	for i, e := range c.Entries {
		if e.ID != fmt.Sprint(i) || len(e.Message.Text()) != 9000 {
			t.Fatalf("record %s at %d", e.ID, i)
		}
		found = found || e.ID == acknowledged
	}
	if !found {
		t.Fatalf("record %q was acknowledged and is not among %d", acknowledged, len(c.Entries))
	}
}

// childFillsUp writes with a file size limit, then without.
func childFillsUp() {
	signal.Ignore(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	l := childLog()
	small := before
	small.Cur = 25_000
	set := func(limit *syscall.Rlimit) {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, limit); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	set(&small)
	failed := 0
	for i := range 5 {
		err := l.Append(text(fmt.Sprint(i), strings.Repeat("x", 9000)))
		if err != nil && !errors.Is(err, syscall.EFBIG) {
			fmt.Println(err)
		}
		if err != nil {
			failed++
		}
	}
	info, _ := os.Stat(l.Path())
	fmt.Println("failed", failed, "state", len(l.unsaved) > 0, "whole", info.Size()%int64(len(l.buf)) == 0)
	set(&before)
	fmt.Println(errors.Join(l.Append(text("5", strings.Repeat("x", 9000))), l.Close()))
}

// Proves SESS-12.
func TestFileSizeLimit(t *testing.T) {
	home := t.TempDir()
	out, err := child(t, "full", home, "s").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(out), "failed 3 state true whole true\n<nil>\n"; got != want {
		t.Errorf("the child says %q, want %q", got, want)
	}
	c := load(t, filepath.Join(Projects(home), "-work-app", "s.jsonl"))
	if len(c.Entries) != 6 {
		t.Errorf("%d entries", len(c.Entries))
	}
	checkPrefix(t, c, "5")
}

// TestLockOfAnotherProcess also checks that a lock ends with its process.
func TestLockOfAnotherProcess(t *testing.T) {
	home := t.TempDir()
	cmd := child(t, "write", home, "s")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	bufio.NewScanner(out).Scan()
	opt := Options{Home: home, Dir: "/work/app", Session: "s"}
	_, err = Open(opt)
	var locked *LockedError
	if !errors.As(err, &locked) {
		t.Errorf("error %v", err)
	} else if locked.PID != 0 && locked.PID != cmd.Process.Pid {
		t.Errorf("process %d has the lock, not %d", cmd.Process.Pid, locked.PID)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait() // ok: it was killed
	l, err := Open(opt)
	if err != nil {
		t.Fatalf("after its end: %v", err)
	}
	l.Close() // ok: nothing was written
}
