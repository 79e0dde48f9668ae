package clipboard

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Content is the clipboard's content: an image or text.
type Content struct {
	Image []byte // any format
	Text  string
}

const (
	// maxContent limits the size of the content, in bytes.
	maxContent = 32 << 20
	// readTime limits how long a clipboard program may run.
	readTime = 5 * time.Second
)

// ErrNoProgram means that no program for reading the clipboard is installed.
var ErrNoProgram = errors.New("no program is there that reads the clipboard")

// Read returns the system clipboard's content, preferring an image to text. It uses whichever
// clipboard program is installed, run with the given environment. The result is empty if the
// clipboard holds neither.
func Read(ctx context.Context, getenv func(string) string, environ []string) (Content, error) {
	err := ErrNoProgram
	for _, r := range readers(runtime.GOOS, getenv) {
		path, missing := exec.LookPath(r.program)
		if missing != nil {
			continue
		}
		run := func(args ...string) ([]byte, error) { return output(ctx, path, args, environ) }
		var c Content
		if c, err = r.read(run); err == nil && (c.Image != nil || c.Text != "") {
			return c, nil
		}
	}
	return Content{}, err
}

// A reader reads the clipboard using a program. run runs the program and returns its output.
type reader struct {
	program string
	read    func(run func(args ...string) ([]byte, error)) (Content, error)
}

// readers returns the programs that can read the clipboard of the user's machine; see
// [programs].
func readers(system string, getenv func(string) string) []reader {
	switch {
	case getenv("SSH_CONNECTION") != "" && getenv("DISPLAY") == "":
		return nil
	case system == "darwin":
		return []reader{{"osascript", readMac}, {"pbpaste", readText()}}
	case system == "windows" || getenv("WSL_DISTRO_NAME") != "":
		return []reader{{"powershell.exe", readWindows}}
	case getenv("WAYLAND_DISPLAY") != "":
		return []reader{{"wl-paste", readTyped([]string{"--list-types"}, []string{"--no-newline", "--type"})}}
	case getenv("DISPLAY") != "":
		return []reader{
			{"xclip", readTyped([]string{"-selection", "clipboard", "-o", "-t", "TARGETS"}, []string{"-selection", "clipboard", "-o", "-t"})},
			{"xsel", readText("--clipboard", "--output")},
		}
	}
	return nil
}

// The supported image and text types, best first.
var (
	imageTypes = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}
	textTypes  = []string{"text/plain;charset=utf-8", "UTF8_STRING", "text/plain", "STRING"}
)

// readTyped uses a program that lists the available types and prints the content of a given
// type. The type is appended to take.
func readTyped(list, take []string) func(func(...string) ([]byte, error)) (Content, error) {
	return func(run func(...string) ([]byte, error)) (Content, error) {
		out, err := run(list...)
		if err != nil {
			return Content{}, nil // ok: these programs fail if the clipboard is empty
		}
		has := map[string]bool{}
		for _, line := range strings.Fields(string(out)) {
			has[line] = true
		}
		read := func(kind string) ([]byte, error) { return run(append(take[:len(take):len(take)], kind)...) }
		for _, kind := range imageTypes {
			if has[kind] {
				data, err := read(kind)
				return Content{Image: data}, err
			}
		}
		for _, kind := range textTypes {
			if has[kind] {
				data, err := read(kind)
				return Content{Text: string(data)}, err
			}
		}
		return Content{}, nil
	}
}

// readText uses a program that prints the text.
func readText(args ...string) func(func(...string) ([]byte, error)) (Content, error) {
	return func(run func(...string) ([]byte, error)) (Content, error) {
		out, err := run(args...)
		return Content{Text: string(out)}, err
	}
}

// readMac reads an image, which osascript prints as «data PNGf89504E…».
func readMac(run func(...string) ([]byte, error)) (Content, error) {
	out, err := run("-e", "get the clipboard as «class PNGf»")
	if err != nil {
		return Content{}, nil // ok: the clipboard holds no picture
	}
	_, digits, ok := strings.Cut(string(out), "PNGf")
	if !ok {
		return Content{}, nil
	}
	data, err := hex.DecodeString(strings.TrimRight(digits, "» \r\n"))
	return Content{Image: data}, err
}

// PowerShell scripts that print an image in base64, or the text.
const (
	windowsImage = `Add-Type -AssemblyName System.Windows.Forms; Add-Type -AssemblyName System.Drawing; ` +
		`$i = [Windows.Forms.Clipboard]::GetImage(); if ($i) { $m = New-Object IO.MemoryStream; ` +
		`$i.Save($m, [Drawing.Imaging.ImageFormat]::Png); [Convert]::ToBase64String($m.ToArray()) }`
	windowsText = `[Console]::OutputEncoding = [Text.Encoding]::UTF8; Get-Clipboard -Raw`
)

func readWindows(run func(...string) ([]byte, error)) (Content, error) {
	out, err := run("-NoProfile", "-NonInteractive", "-Sta", "-Command", windowsImage)
	if err != nil {
		return Content{}, err
	}
	if image := bytes.TrimSpace(out); len(image) > 0 {
		data, err := base64.StdEncoding.DecodeString(string(image))
		return Content{Image: data}, err
	}
	out, err = run("-NoProfile", "-NonInteractive", "-Command", windowsText)
	return Content{Text: strings.TrimRight(string(out), "\r\n")}, err
}

// output runs a program with limits on time and size and returns its output.
func output(ctx context.Context, path string, args, environ []string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.WaitDelay = environ, time.Second
	var out capped
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		switch {
		case out.over:
			err = fmt.Errorf("the clipboard holds more than %d MB", maxContent>>20)
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			err = fmt.Errorf("%s took longer than %v", filepath.Base(path), readTime)
		}
		return nil, fmt.Errorf("reading the clipboard: %w", err)
	}
	return out.data, nil
}

// A capped is a buffer limited to maxContent bytes.
type capped struct {
	data []byte
	over bool
}

// Write implements [io.Writer].
func (c *capped) Write(p []byte) (int, error) {
	if len(c.data)+len(p) > maxContent {
		c.over = true
		return 0, errors.New("too much")
	}
	c.data = append(c.data, p...)
	return len(p), nil
}
