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

// A Content is what the clipboard holds: a picture or a text.
type Content struct {
	Image []byte // of any format
	Text  string
}

const (
	// maxContent is the most that is read, in bytes.
	maxContent = 32 << 20
	// readTime is how long a program may take to read it.
	readTime = 5 * time.Second
)

// ErrNoProgram says that no program is there that reads the clipboard.
var ErrNoProgram = errors.New("no program is there that reads the clipboard")

// Read returns what the clipboard of the system holds, a picture rather than a text, with the program that is there for it,
// which gets the environment. The content is empty if the clipboard holds neither.
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

// A reader reads the clipboard with a program. Run runs the program and returns what it prints.
type reader struct {
	program string
	read    func(run func(args ...string) ([]byte, error)) (Content, error)
}

// readers returns what can read the clipboard where the user sits, see [programs].
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

// The types of pictures and texts that are taken, the best first.
var (
	imageTypes = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}
	textTypes  = []string{"text/plain;charset=utf-8", "UTF8_STRING", "text/plain", "STRING"}
)

// readTyped reads with a program that lists the types of what it has, and prints what has a type that stands after the
// arguments of take.
func readTyped(list, take []string) func(func(...string) ([]byte, error)) (Content, error) {
	return func(run func(...string) ([]byte, error)) (Content, error) {
		out, err := run(list...)
		if err != nil {
			return Content{}, nil // ok: an empty clipboard is an error to these programs
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

// readText reads with a program that prints the text.
func readText(args ...string) func(func(...string) ([]byte, error)) (Content, error) {
	return func(run func(...string) ([]byte, error)) (Content, error) {
		out, err := run(args...)
		return Content{Text: string(out)}, err
	}
}

// readMac returns the picture, which the program prints as «data PNGf89504E…».
func readMac(run func(...string) ([]byte, error)) (Content, error) {
	out, err := run("-e", "get the clipboard as «class PNGf»")
	if err != nil {
		return Content{}, nil // ok: there is no picture
	}
	_, digits, ok := strings.Cut(string(out), "PNGf")
	if !ok {
		return Content{}, nil
	}
	data, err := hex.DecodeString(strings.TrimRight(digits, "» \r\n"))
	return Content{Image: data}, err
}

// The programs for PowerShell that print a picture in base64, or the text.
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

// output returns what a program prints, within bounds.
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

// A capped takes at most maxContent bytes.
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
