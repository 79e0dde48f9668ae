package cli

import (
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"aead.dev/minisign"

	"adze/internal/settings"
)

// TestReportNewer checks that nothing is asked unless update.check is on, and then once a day.
//
// Proves X-076.
func TestReportNewer(t *testing.T) {
	t.Parallel()
	public, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		text := []byte("1.1.0\n")
		if strings.HasSuffix(r.URL.Path, ".minisig") {
			text = minisign.SignWithComments(private, text, "channel stable of adze", "")
		}
		w.Write(text)
	}))
	t.Cleanup(server.Close)
	home := t.TempDir()
	now := time.Now()
	check := func(version, inline string) (said []string) {
		var out strings.Builder
		env := &Env{
			Getenv: func(name string) string { return map[string]string{"ADZE_HOME": home, "HOME": home}[name] }, Dir: t.TempDir(),
			Stderr: &out, Version: version, Downloads: server.URL, ReleaseKey: public.String(), Now: func() time.Time { return now },
		}
		p, _ := settings.Open(env.source(settings.Source{Inline: inline})) // ok: the test checks what is said
		reportNewer(t.Context(), env, p)
		return slices.DeleteFunc(strings.Split(out.String(), "\n"), func(line string) bool { return line == "" })
	}
	if said := check("1.0.0", `{}`); len(said) > 0 || asked.Load() > 0 {
		t.Errorf("not turned on: %q, %d requests", said, asked.Load())
	}
	const on = `{"update": {"check": true}}`
	if said := check("1.0.0", on); len(said) != 1 || !strings.Contains(said[0], "adze 1.1.0 is available") {
		t.Errorf("turned on: %q", said)
	}
	before := asked.Load()
	if said := check("1.0.0", on); len(said) > 0 || asked.Load() != before {
		t.Errorf("again on the same day: %q", said)
	}
	now = now.Add(25 * time.Hour)
	if said := check("1.1.0", on); len(said) > 0 || asked.Load() == before {
		t.Errorf("the next day, without a newer version: %q, %d requests", said, asked.Load()-before)
	}
}

func TestReportReplaced(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "adze")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path+".new", []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	write("old")
	var out strings.Builder
	env := &Env{Program: path, Stderr: &out}
	report := reportReplaced(env)
	if report(); out.Len() > 0 {
		t.Errorf("unchanged: %q", out.String())
	}
	write("new")
	if report(); !strings.Contains(out.String(), "adze was updated") {
		t.Errorf("replaced: %q", out.String())
	}
}
