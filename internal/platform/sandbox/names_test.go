package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSecretPlaces checks that each credential file in a home directory is hidden.
//
// Proves PERM-61.
func TestSecretPlaces(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker", ".netrc", ".git-credentials", ".config/gh", ".config/gcloud", ".adze/credentials.json"}
	for i, name := range want {
		want[i] = filepath.Join(home, name)
		if err := os.MkdirAll(want[i], 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(home, "work"), 0o700); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, secrets(home)); diff != "" {
		t.Error(diff)
	}
}
