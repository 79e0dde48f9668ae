//go:build unix

package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"aead.dev/minisign"
)

// A mirror is a server with releases, made from a copy of this repository.
type mirror struct {
	*httptest.Server
	dir    string
	source string
	config string
	key    string
}

func newMirror(t *testing.T) *mirror {
	t.Helper()
	m := &mirror{dir: t.TempDir(), source: checkout(t)}
	m.Server = httptest.NewServer(http.FileServer(http.Dir(m.dir)))
	t.Cleanup(m.Close)
	public, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := minisign.EncryptKey("correct horse", private)
	if err != nil {
		t.Fatal(err)
	}
	m.key = filepath.Join(t.TempDir(), "key")
	m.config = filepath.Join(t.TempDir(), "release.json")
	config, err := json.Marshal(config{
		Summary: "Coding agent for the terminal", License: "Apache-2.0", Maintainer: "Test", Downloads: m.URL, Key: public.String(),
		Channels: []string{"latest", "stable"}, NPM: "adze", Image: "adze",
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, data := range map[string][]byte{m.key: secret, m.config: config} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// checkout returns a clone of the repository with the changes of the work tree as a commit.
func checkout(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "source")
	sh(t, "..", `
		git clone -q --no-hardlinks . "$1"
		git ls-files -z --cached --others --exclude-standard | tar -c --null --ignore-failed-read -T - 2>/dev/null | tar -x -C "$1"
		git ls-files -z --deleted | (cd "$1" && xargs -0r rm -f)
		cd "$1"
		git add -A
		git -c user.name=t -c user.email=t@example.com commit -q --allow-empty -m test`, dir)
	return dir
}

// sh runs a script and returns its output.
func sh(t *testing.T, dir, script string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-euc", script, "sh"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// make makes a version for these platforms into a directory.
func (m *mirror) make(t *testing.T, source, out, version string, platforms ...string) {
	t.Helper()
	args := append([]string{"-source", source, "-o", out, "-config", m.config, "-key", m.key, version}, platforms...)
	if err := run(t.Context(), args); err != nil {
		t.Fatalf("releasing %s: %v", version, err)
	}
}

// publish makes a version for this platform and offers it in the channels.
func (m *mirror) publish(t *testing.T, version string) (dir string) {
	t.Helper()
	dir = filepath.Join(m.dir, "v"+version)
	m.make(t, m.source, dir, version, runtime.GOOS+"/"+runtime.GOARCH)
	sh(t, dir, `cp latest latest.minisig stable stable.minisig install.sh ..`)
	return dir
}

// TestRelease makes two versions and goes the way of a user: install, update, go back.
//
// Proves, CLI-02, CLI-03.
func TestRelease(t *testing.T) {
	t.Setenv("RELEASE_PASSWORD", "correct horse")
	m := newMirror(t)
	first := m.publish(t, "0.9.0")
	home := t.TempDir()
	env := append(os.Environ(), "HOME="+home, "ADZE_HOME="+home+"/.adze")
	adze := filepath.Join(home, ".local", "bin", "adze")
	do := func(want string, name string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Env, cmd.Dir = env, home
		out, err := cmd.CombinedOutput()
		if fails := strings.HasPrefix(want, "! "); (err != nil) != fails || !strings.Contains(string(out), strings.TrimPrefix(want, "! ")) {
			t.Errorf("%s %q: %v\n%swant %q", filepath.Base(name), args, err, out, want)
		}
	}
	script := filepath.Join(m.dir, "install.sh")
	do("Installed adze 0.9.0", "sh", script)
	do("0.9.0+", adze, "--version")
	do("project", adze, "demo", "--fast")
	do("adze 0.9.0 is up to date", adze, "update")
	do("! does not exist", adze, "update", "0.9.5")
	do("! no version to go back to", adze, "update", "--rollback")

	m.publish(t, "0.10.0-rc.1")
	do("adze 0.10.0-rc.1 is available in the channel stable", adze, "update", "--check")
	do(`"update": true`, adze, "update", "--check", "--json")
	do("adze is now version 0.10.0-rc.1 (before: 0.9.0)", adze, "update")
	do("0.10.0-rc.1+", adze, "--version")
	do("adze is now version 0.9.0", adze, "update", "--rollback")
	do("0.9.0+", adze, "--version")
	do("adze is now version 0.10.0-rc.1", adze, "update", "--rollback")
	do("adze is now version 0.9.0", adze, "update", "0.9.0")

	t.Run("bad downloads", func(t *testing.T) {
		sums := filepath.Join(m.dir, "v0.10.0-rc.1", "SHA256SUMS")
		good, err := os.ReadFile(sums)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(sums, append(good, "\n"...), 0o644); err != nil {
			t.Fatal(err)
		}
		do("! the signature of SHA256SUMS is wrong", "sh", script, "--prefix", home+"/other")
		do("! the signature of v0.10.0-rc.1/SHA256SUMS is wrong", adze, "update")
		if err := os.WriteFile(sums, good, 0o644); err != nil {
			t.Fatal(err)
		}
		archive := filepath.Join(m.dir, "v0.10.0-rc.1", "adze-0.10.0-rc.1-"+runtime.GOOS+"-"+runtime.GOARCH+".tar.gz")
		if err := os.Truncate(archive, 1000); err != nil {
			t.Fatal(err)
		}
		do("! the download is incomplete", "sh", script, "--prefix", home+"/other")
		do("! is incomplete or was changed", adze, "update")
		do("0.9.0+", adze, "--version")
		sh(t, m.dir, `cp v0.9.0/SHA256SUMS v0.9.0/SHA256SUMS.minisig v0.10.0-rc.1`)
		do("! for something else", "sh", script, "--prefix", home+"/other")
		if _, err := os.Stat(home + "/other"); err == nil {
			t.Error("a refused download left a directory")
		}
	})
	t.Run("packages", func(t *testing.T) { checkPackages(t, first) })
	t.Run("again", func(t *testing.T) {
		out := filepath.Join(t.TempDir(), "dist")
		m.make(t, checkoutOf(t, m.source), out, "0.9.0", runtime.GOOS+"/"+runtime.GOARCH)
		if diff := sh(t, ".", `diff -r "$1" "$2" && echo same`, first, out); diff != "same\n" {
			t.Error(diff)
		}
	})
}

// checkoutOf clones the commit of a checkout into another directory.
func checkoutOf(t *testing.T, source string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "another", "place")
	sh(t, source, `git clone -q . "$1"`, dir)
	return dir
}

// checkPackages looks into the packages of a release.
func checkPackages(t *testing.T, dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	all := strings.Join(names, "\n")
	for _, want := range []string{"NOTES.md", "PKGBUILD", "SHA256SUMS", "SHA256SUMS.minisig", "adze-0.9.0.cdx.json", "adze-npm-0.9.0.tgz", "adze.json", "adze.rb", "install.sh", "settings.schema.json"} {
		if !strings.Contains("\n"+all+"\n", "\n"+want+"\n") {
			t.Errorf("no %s in\n%s", want, all)
		}
	}
	schema, err := os.ReadFile(filepath.Join(dir, "settings.schema.json"))
	if id := regexp.MustCompile(`"\$id": "http://127\.0\.0\.1:\d+/v0\.9\.0/settings\.schema\.json"`); err != nil || !id.Match(schema) {
		t.Errorf("the schema has not its address as $id: %v, %.200s", err, schema)
	}
	var bill struct {
		SpecVersion string
		Components  []component
	}
	data, err := os.ReadFile(filepath.Join(dir, "adze-0.9.0.cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &bill); err != nil || bill.SpecVersion != "1.6" || len(bill.Components) < 10 {
		t.Errorf("SBOM: %v, %s, %d components", err, bill.SpecVersion, len(bill.Components))
	}
	if runtime.GOOS != "linux" {
		return
	}
	deb := sh(t, dir, `dpkg-deb -c *.deb && dpkg-deb -f *.deb && dpkg-deb --fsys-tarfile *.deb | tar -xO ./usr/share/adze/package`)
	for _, want := range []string{"./usr/bin/adze", "./usr/share/man/man1/adze.1", "./usr/share/doc/adze/LICENSES.txt", "./usr/share/adze/ci", "Version: 0.9.0", "apt-get install --only-upgrade adze"} {
		if !strings.Contains(deb, want) {
			t.Errorf("the Debian package has no %q:\n%s", want, deb)
		}
	}
}

// TestConfig checks that a release needs an address that is safe.
func TestConfig(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"downloads": "http://example.com"}`: "https address", `{"key": "RWQ"}`: "key:", `{`: "reading the configuration",
	} {
		path := filepath.Join(t.TempDir(), "c")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readConfig(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if c, err := readConfig(""); err != nil || c.published() {
		t.Errorf("the default: %v, published: %v", err, c.published())
	}
}

func TestPlatforms(t *testing.T) {
	t.Parallel()
	if _, err := parsePlatforms([]string{"linux/amd64", "plan9/mips"}); err == nil || !strings.Contains(err.Error(), "plan9/mips") {
		t.Errorf("an unknown platform: %v", err)
	}
}

func TestArchives(t *testing.T) {
	t.Parallel()
	files := []file{{"b", []byte("2"), 0o644}, {"a", []byte("1"), 0o755}}
	turned := []file{files[1], files[0]}
	when := commit{}.time
	for name, pack := range map[string]func([]file) ([]byte, error){
		"tar.gz": func(f []file) ([]byte, error) { return tarGzip(f, when) }, "zip": func(f []file) ([]byte, error) { return zipped(f, when) },
	} {
		one, err1 := pack(files)
		two, err2 := pack(turned)
		if err1 != nil || err2 != nil || !bytes.Equal(one, two) {
			t.Errorf("%s: the order of files matters: %v, %v", name, err1, err2)
		}
	}
}
