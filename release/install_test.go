//go:build roots

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// TestInstall runs the blocks of docs/install.md as a user with sudo in fresh root directories,
// and then the demo. ADZE_TEST_ROOT is a Debian root with several package managers.
//
// Proves X-143.
func TestInstall(t *testing.T) {
	t.Setenv("RELEASE_PASSWORD", "correct horse")
	base := os.Getenv("ADZE_TEST_ROOT")
	if base == "" {
		t.Fatal("ADZE_TEST_ROOT is not set: run ./scripts/test release")
	}
	m := newMirror(t)
	m.publish(t, "0.9.0")
	blocks := installBlocks(t)
	for _, step := range []struct{ platform, then, want string }{
		{"Linux and macOS", `adze demo --fast; adze update --check`, "adze 0.9.0 is up to date"},
		{"Debian and Ubuntu", "adze demo --fast; man -w adze || ls /usr/share/man/man1/adze.1*; ! adze update", "apt-get install --only-upgrade adze"},
		{"Fedora", "adze demo --fast; sudo rpm -q adze; ! adze update", "dnf upgrade adze"},
		{"Arch Linux", "adze demo --fast; pacman -Q adze-bin; ! adze update", "pacman -Syu"},
		{"npm", "adze demo --fast; ! adze update", "npm install -g adze"},
	} {
		t.Run(step.platform, func(t *testing.T) {
			block := blocks[step.platform]
			if block == "" {
				t.Fatal("docs/install.md has no block for it")
			}
			out := inRoot(t, base, "export DOWNLOADS="+m.URL+" VERSION=0.9.0 PATH=$HOME/.local/bin:$PATH\n"+block+step.then)
			if !strings.Contains(out, "project") || !strings.Contains(out, step.want) {
				t.Errorf("%s\nwant the demo and %q", out, step.want)
			}
		})
	}
	t.Run("Container", func(t *testing.T) {
		// Not every machine of the tests may start containers: the image runs without one.
		block := regexp.MustCompile(`podman run --rm (\S+) (.*)`).ReplaceAllString(blocks["Container"], `
			id=$$(podman create $1)
			podman export "$$id" | tar -x
			podman rm "$$id" >/dev/null
			chroot . /usr/bin/adze $2`)
		out := sh(t, t.TempDir(), "DOWNLOADS=$1 VERSION=0.9.0\n"+block, m.URL)
		if !strings.Contains(out, "0.9.0+") {
			t.Error(out)
		}
	})
	t.Run("Alpine", func(t *testing.T) {
		// There is no apk here. The package is a chain of archives, and the program needs nothing else of Alpine.
		out := sh(t, t.TempDir(), `tar -xzf "$1"/*.apk || true; usr/bin/adze --version; cat .PKGINFO; ldd usr/bin/adze || true`, filepath.Join(m.dir, "v0.9.0"))
		for _, want := range []string{"0.9.0+", "pkgname = adze", "not a dynamic executable"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s\nwant %q", out, want)
			}
		}
	})
}

// installBlocks returns the block of each section of docs/install.md.
func installBlocks(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../docs/install.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string]string{}
	for _, section := range strings.Split(string(text), "\n## ")[1:] {
		name, rest, _ := strings.Cut(section, "\n")
		blocks[name] = strings.Join(regexp.MustCompile(`(?m)^    .*\n`).FindAllString(rest, -1), "")
	}
	return blocks
}

// inRoot runs a script as the user of a copy of a root directory and returns its output.
func inRoot(t *testing.T, base, script string) string {
	t.Helper()
	dir, host := t.TempDir(), sh(t, ".", "hostname")
	for _, name := range []string{"upper/etc", "work", "root"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"script": script, "etc/hosts": "127.0.0.1 localhost " + host} {
		if err := os.WriteFile(filepath.Join(dir, "upper", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-euc", `
		mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/root"
		mount --rbind /dev "$2/root/dev"
		mount -t proc proc "$2/root/proc"
		exec chroot "$2/root" su -l user -c "yes | bash -euo pipefail /script"`, "sh", base, dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID, Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL,
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, script, out)
	}
	return string(out)
}
