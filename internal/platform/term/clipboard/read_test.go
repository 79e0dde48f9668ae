//go:build unix

package clipboard

import (
	"context"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// install makes PATH contain only the given shell scripts.
func install(t *testing.T, scripts map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
}

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// TestRead checks that Read returns an image using the system's program, and text if the
// clipboard holds no image.
//
// Proves X-127.
func TestRead(t *testing.T) {
	const wayland = `case "$*" in
"--list-types") printf 'text/html\nTYPE\n' ;;
"--no-newline --type TYPE") printf content ;;
*) exit 1 ;;
esac`
	const x11 = `case "$*" in
"-selection clipboard -o -t TARGETS") printf 'TIMESTAMP\nTYPE\n' ;;
"-selection clipboard -o -t TYPE") printf content ;;
*) exit 1 ;;
esac`
	for _, tt := range []struct {
		name, program, script string
		getenv                func(string) string
		image, text           string
	}{
		{"Wayland, picture", "wl-paste", strings.ReplaceAll(wayland, "TYPE", "image/png"), env("WAYLAND_DISPLAY", "w", "DISPLAY", ":0"), "content", ""},
		{"Wayland, text", "wl-paste", strings.ReplaceAll(wayland, "TYPE", "text/plain"), env("WAYLAND_DISPLAY", "w"), "", "content"},
		{"Wayland, empty", "wl-paste", "echo 'No selection' >&2; exit 1", env("WAYLAND_DISPLAY", "w"), "", ""},
		{"X, picture", "xclip", strings.ReplaceAll(x11, "TYPE", "image/jpeg"), env("DISPLAY", ":0"), "content", ""},
		{"X, text", "xclip", strings.ReplaceAll(x11, "TYPE", "UTF8_STRING"), env("DISPLAY", ":0"), "", "content"},
		{"X, neither", "xclip", strings.ReplaceAll(x11, "TYPE", "x-special/other"), env("DISPLAY", ":0"), "", ""},
		{"X, without xclip", "xsel", `[ "$*" = "--clipboard --output" ] && printf content`, env("DISPLAY", ":0"), "", "content"},
		{"WSL, picture", "powershell.exe", `case "$*" in *GetImage*) printf 'Y29udGVudA==\r\n' ;; *) printf text ;; esac`, env("WSL_DISTRO_NAME", "u"), "content", ""},
		{"WSL, text", "powershell.exe", `case "$*" in *GetImage*) ;; *) printf 'text\r\n' ;; esac`, env("WSL_DISTRO_NAME", "u"), "", "text"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			install(t, map[string]string{tt.program: tt.script})
			c, err := Read(t.Context(), tt.getenv, nil)
			if err != nil || string(c.Image) != tt.image || c.Text != tt.text {
				t.Errorf("picture %q, text %q, %v", c.Image, c.Text, err)
			}
		})
	}
}

func TestReadMac(t *testing.T) {
	printed := "«data PNGf" + strings.ToUpper(hex.EncodeToString([]byte("content"))) + "»\n"
	c, err := readMac(func(...string) ([]byte, error) { return []byte(printed), nil })
	if err != nil || string(c.Image) != "content" {
		t.Errorf("%q, %v", c.Image, err)
	}
	if rs := readers("darwin", env()); len(rs) != 2 || rs[0].program != "osascript" {
		t.Errorf("%v", rs)
	}
}

// TestReadBounded checks that a clipboard program that prints endlessly, hangs or is missing
// does not block.
//
// Proves X-127.
func TestReadBounded(t *testing.T) {
	x := env("DISPLAY", ":0")
	install(t, map[string]string{"xsel": "exec /usr/bin/yes 0123456789012345678901234567890123456789"})
	if _, err := Read(t.Context(), x, nil); err == nil || !strings.Contains(err.Error(), "more than 32 MB") && !strings.Contains(err.Error(), "xsel took longer than 5s") { // times out on a busy machine
		t.Errorf("without end: %v", err)
	}
	install(t, map[string]string{"xsel": "/bin/sleep 100"})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Read(ctx, x, nil); err == nil {
		t.Error("a program that hangs was waited for")
	}
	install(t, nil)
	for name, getenv := range map[string]func(string) string{"no program": x, "no display": env(), "ssh": env("SSH_CONNECTION", "1")} {
		if _, err := Read(t.Context(), getenv, nil); !errors.Is(err, ErrNoProgram) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
