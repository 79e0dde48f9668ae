//go:build unix

package update

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"aead.dev/minisign"
)

// A site serves releases whose program is a script.
type site struct {
	*httptest.Server
	public  minisign.PublicKey
	private minisign.PrivateKey
	files   map[string][]byte
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{files: map[string][]byte{}}
	var err error
	if s.public, s.private, err = minisign.GenerateKey(rand.Reader); err != nil {
		t.Fatal(err)
	}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := s.files[strings.TrimPrefix(r.URL.Path, "/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Write(data)
	}))
	t.Cleanup(s.Close)
	return s
}

// sign adds a signed text.
func (s *site) sign(name, text, comment string) {
	s.files[name] = []byte(text)
	s.files[name+".minisig"] = minisign.SignWithComments(s.private, []byte(text), comment, "test")
}

// program returns a script that answers like version of the program.
func program(version string) string {
	return "#!/bin/sh\ncase $1 in --version) echo '" + version + "+0123456789ab (adze)' ;; tools) echo '[]' ;; *) exit 3 ;; esac\n"
}

// release adds a version whose program is script.
func (s *site) release(t *testing.T, version, script string) (archive string) {
	t.Helper()
	name := fmt.Sprintf("adze-%s-%s-%s", version, runtime.GOOS, runtime.GOARCH)
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range []struct{ name, text string }{{"/share/doc/adze/LICENSE", "text"}, {"/bin/adze", script}} {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name + f.name, Mode: 0o755, Size: int64(len(f.text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, f.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	archive = "v" + version + "/" + name + ".tar.gz"
	s.files[archive] = b.Bytes()
	s.sign("v"+version+"/SHA256SUMS", fmt.Sprintf("%x  %s.tar.gz\n", sha256.Sum256(b.Bytes()), name), "adze "+version)
	return archive
}

// installed returns an Updater for a program of version 1.0.0 in a new directory.
func (s *site) installed(t *testing.T) *Updater {
	t.Helper()
	path := filepath.Join(t.TempDir(), "adze")
	writeProgram(t, path, program("1.0.0"))
	return New(Config{Program: path, Version: "1.0.0", Source: s.URL, Key: s.public.String(), HTTP: http.DefaultTransport, Say: func(string) {}})
}

// writeProgram writes a program. No child may inherit the file open for writing, since the system
// would then refuse to run it.
func writeProgram(t *testing.T, path, text string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// state returns the version of the program and the names of the files beside it.
func state(t *testing.T, u *Updater) string {
	t.Helper()
	version, err := versionOf(t.Context(), u.Program)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Dir(u.Program))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		version += " " + e.Name()
	}
	return version
}

// Proves X-076.
func TestInstall(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.release(t, "1.1.0", program("1.1.0"))
	s.sign("stable", "1.1.0\n", "channel stable of adze")
	u := s.installed(t)
	version, err := u.Newest(t.Context(), "stable")
	if err != nil || version != "1.1.0" {
		t.Fatalf("the channel offers %q, %v", version, err)
	}
	if err := u.Install(t.Context(), version); err != nil {
		t.Fatal(err)
	}
	if got := state(t, u); got != "1.1.0 .adze-previous adze" {
		t.Errorf("after the update: %s", got)
	}
	for i, want := range []string{"1.0.0", "1.1.0", "1.0.0"} {
		version, err := u.Rollback(t.Context())
		if got := state(t, u); err != nil || version != want || got != want+" .adze-previous adze" {
			t.Errorf("rollback %d: %s, %v, %s", i, version, err, got)
		}
	}
}

// TestRefused checks that nothing changes when a download is not exactly what was signed.
//
// Proves X-076.
func TestRefused(t *testing.T) {
	t.Parallel()
	const archive = "v1.1.0/adze-1.1.0-" + runtime.GOOS + "-" + runtime.GOARCH + ".tar.gz"
	for name, c := range map[string]struct {
		spoil func(t *testing.T, s *site)
		want  string
	}{
		"signed by another key": {func(t *testing.T, s *site) {
			_, other, err := minisign.GenerateKey(rand.Reader)
			if err != nil {
				t.Fatal(err)
			}
			s.files["v1.1.0/SHA256SUMS.minisig"] = minisign.SignWithComments(other, s.files["v1.1.0/SHA256SUMS"], "adze 1.1.0", "")
		}, "the signature of v1.1.0/SHA256SUMS is wrong"},
		"not signed":           {func(_ *testing.T, s *site) { delete(s.files, "v1.1.0/SHA256SUMS.minisig") }, "does not exist"},
		"signature is garbage": {func(_ *testing.T, s *site) { s.files["v1.1.0/SHA256SUMS.minisig"] = []byte("\xff\n\n\n\n") }, "is wrong"},
		"sums of another version": {func(t *testing.T, s *site) {
			s.release(t, "0.9.0", program("0.9.0"))
			for _, name := range []string{"SHA256SUMS", "SHA256SUMS.minisig"} {
				s.files["v1.1.0/"+name] = s.files["v0.9.0/"+name]
			}
		}, `is signed as "adze 0.9.0" instead of "adze 1.1.0"`},
		"sums changed":    {func(_ *testing.T, s *site) { s.files["v1.1.0/SHA256SUMS"][0] ^= 1 }, "is wrong"},
		"truncated":       {func(_ *testing.T, s *site) { s.files[archive] = s.files[archive][:50] }, "its checksum is not the signed one"},
		"archive changed": {func(_ *testing.T, s *site) { s.files[archive][60] ^= 1 }, "its checksum is not the signed one"},
		"other platform": {func(_ *testing.T, s *site) {
			s.sign("v1.1.0/SHA256SUMS", "00  adze-1.1.0-plan9-mips.tar.gz\n", "adze 1.1.0")
		}, "has no file"},
		"does not run":    {func(t *testing.T, s *site) { s.release(t, "1.1.0", "#!/bin/sh\nexit 7\n") }, "does not work on this system"},
		"another program": {func(t *testing.T, s *site) { s.release(t, "1.1.0", program("1.2.0")) }, "it says that it is version 1.2.0"},
		"fails its test": {func(t *testing.T, s *site) {
			s.release(t, "1.1.0", "#!/bin/sh\n[ $1 = --version ] && echo '1.1.0 (adze)'\n")
		}, "does not work"},
		"sums are endless": {func(_ *testing.T, s *site) { s.files["v1.1.0/SHA256SUMS"] = make([]byte, maxText+1) }, "larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.release(t, "1.1.0", program("1.1.0"))
			c.spoil(t, s)
			u := s.installed(t)
			if err := u.Install(t.Context(), "1.1.0"); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if got := state(t, u); got != "1.0.0 adze" {
				t.Errorf("afterward: %s", got)
			}
		})
	}
}

// Proves X-076.
func TestChannel(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.sign("latest", "1.1.0\n", "channel latest of adze")
	s.files["stable"], s.files["stable.minisig"] = s.files["latest"], s.files["latest.minisig"]
	u := s.installed(t)
	for channel, want := range map[string]string{
		"stable": `signed as "channel latest of adze"`, "nightly": "does not exist", "../v1.0.0/SHA256SUMS": "is not a channel", "": "is not a channel",
	} {
		if _, err := u.Newest(t.Context(), channel); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("channel %q: %v, want %q", channel, err, want)
		}
	}
	s.sign("latest", "../../etc\n", "channel latest of adze")
	if _, err := u.Newest(t.Context(), "latest"); err == nil || !strings.Contains(err.Error(), "not a version") {
		t.Errorf("a path as a version: %v", err)
	}
}

// TestLeftovers checks that an update removes what a killed one left behind, and that a killed rollback keeps the
// previous version.
//
// Proves X-076.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.release(t, "1.1.0", program("1.1.0"))
	u := s.installed(t)
	for name, text := range map[string]string{u.aside(): program("0.9.0"), filepath.Join(filepath.Dir(u.Program), stagePrefix+"123"): "half a"} {
		writeProgram(t, name, text)
	}
	if version, err := u.Rollback(t.Context()); err != nil || version != "0.9.0" {
		t.Errorf("rollback: %s, %v", version, err)
	}
	if got := state(t, u); got != "0.9.0 .adze-previous adze" {
		t.Errorf("afterward: %s", got)
	}
}

// Proves X-076.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.release(t, "1.1.0", program("1.1.0"))
	u := s.installed(t)
	unlock, err := u.lock()
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Install(t.Context(), "1.1.0"); err == nil || !strings.Contains(err.Error(), "being updated already") {
		t.Errorf("a second update: %v", err)
	}
	unlock()
	if err := u.Install(t.Context(), "1.1.0"); err != nil {
		t.Errorf("after the first: %v", err)
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.sign("stable", "1.1.0\n", "channel stable of adze")
	mirror := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, s.URL+r.URL.Path, http.StatusFound)
	}))
	t.Cleanup(mirror.Close)
	u := s.installed(t)
	u.Source = mirror.URL
	if version, err := u.Newest(t.Context(), "stable"); err != nil || version != "1.1.0" {
		t.Errorf("a mirror that redirects: %s, %v", version, err)
	}
	secure := httptest.NewTLSServer(mirror.Config.Handler)
	t.Cleanup(secure.Close)
	u.Source, u.client.Transport = secure.URL, secure.Client().Transport
	if _, err := u.Newest(t.Context(), "stable"); err == nil || !strings.Contains(err.Error(), "redirected from https to http:") {
		t.Errorf("from https to http: %v", err)
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	order := []string{"0.9.9", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1", "1.9.0", "1.10.0", "2.0.0"}
	for i, a := range order {
		for j, b := range order {
			if got := Compare(a, b); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("Compare(%s, %s) = %d", a, b, got)
			}
		}
	}
	for _, bad := range []string{"", "1", "1.2", "v1.2.3", "01.2.3", "1.2.3-", "1.2.3/..", "1.2.3 ", "1.2.3\n", "1.2.3+x", strings.Repeat("1", 80) + ".0.0"} {
		if Valid(bad) {
			t.Errorf("%q is valid", bad)
		}
	}
}

func TestManaged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mark := filepath.Join(dir, "share", "adze", "package")
	if err := os.MkdirAll(filepath.Dir(mark), 0o755); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "bin", "adze")
	if m := ManagedBy(program); m != nil {
		t.Errorf("without a mark: %v", m)
	}
	if err := os.WriteFile(mark, []byte("deb\nsudo apt-get install\x1b[31m adze\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if m := ManagedBy(program); m == nil || m.Name != "deb" || strings.Contains(m.Update, "\x1b") {
		t.Errorf("with a mark: %v", m)
	}
}
