//go:build unix

package main

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"adze/internal/platform/term/cells"
)

// carets are strings on whose width terminals, libraries and fonts disagree, and some on which
// they agree.
var carets = []string{
	"abc", "naïve", "e\u0301", "a\u0308\u0323b", "ñandú", "Ωmega", "привет", "שלום", "سلام", "ﷺ", "ไทย", "ภาษาไทย", "ລາວ",
	"漢字", "かな", "カナ", "ﾊﾝｶｸ", "ｆｕｌｌ", "한글", "\u1112\u1161\u11ab", "\u1100\u1161", "、。", "「」", "〜", "㈱", "㎏",
	"हिन्दी", "क्षत्रिय", "नमस्ते", "বাংলা", "தமிழ்", "తెలుగు", "ಕನ್ನಡ", "മലയാളം", "සිංහල", "မြန်မာ", "ខ្មែរ", "བོད་",
	"🙂", "👍", "👍🏽", "👋🏿", "❤", "❤\ufe0f", "☺\ufe0f", "✈\ufe0f", "☎\ufe0e", "1\ufe0f\u20e3", "🇩🇪", "🇩🇪🇫🇷", "🇺", "🏳\ufe0f\u200d🌈",
	"👩\u200d👩\u200d👧", "👨🏽\u200d💻", "🧑\u200d🚀", "🫠", "🫨", "🪿", "🛜", "⌚", "⚡", "✅", "🀄", "½…—", "│─┼", "●•·→", "\U0001d54f\U0001d550",
}

// TestTerminalCaret checks that the terminal's cursor is always at the caret, even with
// characters of disputed width.
//
// Proves X-120.
func TestTerminalCaret(t *testing.T) {
	t.Parallel()
	if len(carets) != 67 {
		t.Errorf("there are %d strings", len(carets))
	}
	tm := newTerminal(t, 80, 24, "forever\nsay Hello.\n")
	tm.enter("clear; adze --model replay:model.txt")
	tm.waitFor(`^[>❯] *$`)
	column := func() int {
		n, err := strconv.Atoi(strings.TrimSpace(tm.tmux("display-message", "-p", "#{cursor_x}")))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	reaches := func(text string, want int) {
		t.Helper()
		var got int
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			if got = column(); got == want {
				return
			}
		}
		t.Errorf("%q: the cursor is in column %d, not %d", text, got, want)
	}
	begin := cells.Width("❯ ")
	reaches("nothing", begin)
	for _, text := range carets {
		tm.tmux("send-keys", "-l", text+".")
		reaches(text, begin+cells.Width(text)+1)
		tm.tmux("send-keys", "Left")
		reaches(text, begin+cells.Width(text))
		tm.tmux("send-keys", "C-e")
		tm.tmux("send-keys", "C-u")
		reaches("nothing", begin)
	}
	tm.key("C-d")
	tm.waitFor(`^\$ $`)
}
