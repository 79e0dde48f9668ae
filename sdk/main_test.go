package sdk_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestMain builds adze, and makes a directory for a user without settings, with a script in
// place of the model.
func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "sdk")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir) // ok: it is in the temporary directory
	bin := filepath.Join(dir, "bin")
	out, err := exec.Command("go", "build", "-o", filepath.Join(bin, "adze"), "adze/cmd/adze").CombinedOutput()
	if err != nil {
		return 1, fmt.Errorf("%w: %s", err, out)
	}
	home, work := filepath.Join(dir, "home"), filepath.Join(dir, "work")
	for _, d := range []string{home, work} {
		if err := os.Mkdir(d, 0o755); err != nil {
			return 1, err
		}
	}
	for name, value := range map[string]string{"HOME": home, "ADZE_HOME": filepath.Join(home, ".adze"), "PATH": bin + string(os.PathListSeparator) + os.Getenv("PATH")} {
		if err := os.Setenv(name, value); err != nil {
			return 1, err
		}
	}
	if err := os.Chdir(work); err != nil {
		return 1, err
	}
	return m.Run(), nil
}
