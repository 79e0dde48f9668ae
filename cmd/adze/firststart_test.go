//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTerminalFirstStart checks the first start in a real terminal: one list holds every way to a
// model, Esc leads back from a second question, a malformed key is asked for again and never
// shown, and leaving writes nothing. A cloud that was chosen is remembered.
//
// Proves X-116.
func TestTerminalFirstStart(t *testing.T) {
	t.Parallel()
	tm := newTerminal(t, 90, 40, "forever\nsay Hello.\n")
	if err := os.RemoveAll(tm.home); err != nil {
		t.Fatal(err)
	}
	const start = "clear; AWS_REGION= AWS_CONFIG_FILE=/nowhere OLLAMA_HOST=127.0.0.1:1 DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere adze"
	const list = `(?s)Welcome to adze\. Which model should it use\?\s*\n▌1 Anthropic +paste an API key \(recommended\)\s*\n` +
		` 2 OpenAI, Gemini, Grok, OpenRouter .* 3 Bedrock, Vertex, Foundry, a gateway .* 4 None yet +watch the demo first`
	tm.enter(start)
	tm.waitFor(list)
	tm.answer(list, "2")
	tm.answer(`(?s)Which provider is the key for\?.*gemini`, "Escape")
	tm.answer(`(?s)Which provider is the key for\? back.*`+list, "1")
	tm.waitFor(`Key: *$`)
	tm.enter("sk not a key")
	tm.waitFor(`That is not a key: it contains a space\. Paste it again, or press Enter to cancel\.\s*\nKey: *$`)
	tm.key("Enter")
	tm.answer(`(?s)Paste it again.*`+list, "Escape")
	screen := tm.waitFor(`(?s)no model provider is configured.*adze demo\s*\n\$ $`)
	if strings.Contains(screen, "sk not") {
		t.Errorf("the key is on the screen:\n%s", screen)
	}
	for _, name := range []string{"settings.json", "credentials.json", "projects"} {
		if _, err := os.Stat(filepath.Join(tm.home, name)); !os.IsNotExist(err) {
			t.Errorf("%s was written: %v", name, err)
		}
	}

	tm.enter(start)
	tm.answer(list, "3")
	tm.answer(`(?s)Which one\?.*Amazon Bedrock.*A gateway`, "1")
	tm.waitFor(`bedrock is the default provider from now on`)
	data, err := os.ReadFile(filepath.Join(tm.home, "settings.json"))
	if err != nil || !strings.Contains(string(data), `"provider": "bedrock"`) {
		t.Errorf("the answer was not stored: %s, %v", data, err)
	}
}
