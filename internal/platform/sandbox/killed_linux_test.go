package sandbox

import (
	"bufio"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"
)

// trialBase names the environment variable that makes the test below run as the program under
// test.
const trialBase = "ADZE_TEST_TRIAL_BASE"

// TestSelfTestOfAKilledProgram checks that a program killed at any moment during its sandbox's
// self-test leaves no process behind.
//
// Proves PERM-61.
func TestSelfTestOfAKilledProgram(t *testing.T) {
	if base := os.Getenv(trialBase); base != "" {
		os.Stdout.WriteString("begins\n")
		s := New(Config{Roots: func() []string { return []string{base} }, Home: base, Only: Bubblewrap})
		s.Tier() // ok: killed
		return
	}
	const kills = 60
	base := visibleDir(t)
	for range kills {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), trialBase+"="+base, "TMPDIR="+base)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.IntN(40_000)) * time.Microsecond)
		cmd.Process.Kill() // ok: may have ended
		cmd.Wait()         // ok: killed
		for deadline := time.Now().Add(time.Minute); running(base); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("a process is left")
			}
		}
	}
}
