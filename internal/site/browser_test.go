//go:build chromium

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// A browser is a headless Chromium with one page, driven over its debugging protocol.
type browser struct {
	t       *testing.T
	ctx     context.Context
	conn    *websocket.Conn
	session string
	last    int
	errors  []string // exceptions of scripts, and files that were not found
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		program = "google-chrome"
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	cmd := exec.CommandContext(ctx, program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--remote-debugging-port=0", "--user-data-dir="+t.TempDir(), "about:blank")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); cmd.Wait() })
	address, log := "", bufio.NewScanner(stderr)
	for address == "" && log.Scan() {
		if m := regexp.MustCompile(`DevTools listening on (ws://\S+)`).FindStringSubmatch(log.Text()); m != nil {
			address = m[1]
		}
	}
	go func() {
		for log.Scan() {
		}
	}()
	b := &browser{t: t, ctx: ctx}
	if b.conn, _, err = websocket.Dial(ctx, address, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.conn.CloseNow() })
	b.conn.SetReadLimit(-1)
	target := b.call("Target.createTarget", map[string]any{"url": "about:blank"})
	attached := b.call("Target.attachToTarget", map[string]any{"targetId": target["targetId"], "flatten": true})
	b.session = attached["sessionId"].(string)
	b.call("Page.enable", nil)
	b.call("Runtime.enable", nil)
	b.call("Network.enable", nil)
	return b
}

// call calls a method of the protocol.
func (b *browser) call(method string, params map[string]any) map[string]any {
	b.t.Helper()
	b.last++
	request := map[string]any{"id": b.last, "method": method, "params": params}
	if b.session != "" {
		request["sessionId"] = b.session
	}
	data, err := json.Marshal(request)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.conn.Write(b.ctx, websocket.MessageText, data); err != nil {
		b.t.Fatal(err)
	}
	for {
		m := b.read()
		if m["id"] != float64(b.last) {
			continue
		}
		if m["error"] != nil {
			b.t.Fatalf("%s: %v", method, m["error"])
		}
		return m["result"].(map[string]any)
	}
}

// read reads a message, and collects errors.
func (b *browser) read() map[string]any {
	b.t.Helper()
	_, data, err := b.conn.Read(b.ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		b.t.Fatal(err)
	}
	if m["method"] == "Runtime.exceptionThrown" || m["method"] == "Network.loadingFailed" {
		b.errors = append(b.errors, string(data))
	}
	return m
}

// open opens a page and waits for its scripts.
func (b *browser) open(address string) {
	b.t.Helper()
	b.call("Page.navigate", map[string]any{"url": address})
	b.until(`document.readyState === "complete" && location.href === ` + quote(address))
}

func quote(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}

// eval returns the value of an expression.
func (b *browser) eval(expression string) any {
	b.t.Helper()
	result := b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true})
	if result["exceptionDetails"] != nil {
		b.t.Fatalf("%s: %v", expression, result["exceptionDetails"])
	}
	return result["result"].(map[string]any)["value"]
}

// until waits until a condition holds.
func (b *browser) until(condition string) {
	b.t.Helper()
	for b.eval(condition) != true {
		select {
		case <-b.ctx.Done():
			b.t.Fatalf("never: %s", condition)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// TestBrowser looks at the pages as files, on a phone and at a desk.
//
// Proves X-147.
func TestBrowser(t *testing.T) {
	out := t.TempDir()
	if _, err := build(os.DirFS("../.."), out); err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(out, "*.html"))
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob(filepath.Join(out, "reference", "*.html"))
	if err != nil {
		t.Fatal(err)
	}
	b := newBrowser(t)
	for _, size := range []struct{ width, height int }{{390, 844}, {1280, 800}} {
		b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": size.width, "height": size.height, "deviceScaleFactor": 1, "mobile": size.width < 500})
		for _, page := range append(pages, more...) {
			b.open("file://" + page)
			if wide := b.eval(`document.documentElement.scrollWidth - document.documentElement.clientWidth`); wide != 0.0 {
				t.Errorf("%s is %v pixels too wide for a screen of %d", filepath.Base(page), wide, size.width)
			}
			if small := b.eval(`[...document.querySelectorAll("main p, main li")].filter(e => parseFloat(getComputedStyle(e).fontSize) < 14).length`); small != 0.0 {
				t.Errorf("%s has %v paragraphs of small letters", filepath.Base(page), small)
			}
		}
		closed := b.eval(`!document.querySelector("nav details").open`)
		if closed != (size.width < 500) {
			t.Errorf("at width %d the list of pages is closed: %v", size.width, closed)
		}
		b.open("file://" + filepath.Join(out, "reference", "flags.html"))
		b.eval(`dispatchEvent(new Event("focus")); document.dispatchEvent(new KeyboardEvent("keydown", {key: "/", bubbles: true}))`)
		b.until(`document.activeElement.id === "query"`)
		b.call("Input.insertText", map[string]any{"text": "sandb status"})
		b.until(`!found.hidden && found.querySelectorAll("a").length > 0`)
		for _, kind := range []string{"keyDown", "keyUp"} {
			b.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13})
		}
		b.until(`document.readyState === "complete" && !location.href.includes("reference/flags.html")`)
		if text := b.eval(`document.querySelector("main").innerText.toLowerCase()`).(string); !strings.Contains(text, "sandbox") {
			t.Errorf("the first result of the search is about something else: %.200s", text)
		}
	}
	// The choice between light and dark is remembered, and the system's is the default.
	colour := func() any { return b.eval(`getComputedStyle(document.body).backgroundColor`) }
	background := map[string]any{}
	for _, scheme := range []string{"light", "dark"} {
		b.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}}})
		b.open("file://" + pages[0])
		background[scheme] = colour()
	}
	b.eval(`theme.click()`)
	b.open("file://" + pages[1])
	if background["light"] == background["dark"] || colour() != background["light"] {
		t.Errorf("backgrounds are %v, and after the switch %v", background, colour())
	}
	if len(b.errors) > 0 {
		t.Errorf("errors in the browser: %s", strings.Join(b.errors, "\n"))
	}
}
