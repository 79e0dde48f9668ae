package inprocess_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/sdk"
	"adze/sdk/inprocess"
)

func TestMain(m *testing.M) {
	inprocess.Init()
	os.Exit(m.Run())
}

// TestSession runs a session in this process, whose command runs in the sandbox of this program.
//
// Proves X-202.
func TestSession(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	script := filepath.Join(dir, "model.txt")
	text := "use Bash {\"command\":\"echo made > made.txt; cat made.txt\"}\n---\nexpect result toolu_1_1 \"made\"\nsay Done."
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	asked := 0
	o := sdk.Options{
		Start: inprocess.Start, Dir: dir, Env: []string{"HOME=" + home, "ADZE_HOME=" + home + "/.adze", "PATH=" + os.Getenv("PATH")}, Model: "replay:" + script,
		Permit: func(_ context.Context, c sdk.Call) (sdk.Decision, error) {
			asked++
			return sdk.Allow(), nil
		},
	}
	r, err := sdk.Run(t.Context(), "Make it.", o)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "made.txt")); r.Text != "Done." || string(data) != "made\n" || err != nil || asked != 1 {
		t.Errorf("the answer is %q, the file %q (%v), and %d calls needed a permission", r.Text, data, err, asked)
	}
	o.Args = []string{"--no-such-flag"}
	if _, err := sdk.Run(t.Context(), "x", o); err == nil || !strings.Contains(err.Error(), "no-such-flag") {
		t.Errorf("with a wrong flag: %v", err)
	}
}
