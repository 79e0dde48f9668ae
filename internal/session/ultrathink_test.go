package session

import (
	"strings"
	"testing"
)

// TestAsksUltra checks that the word counts only by itself and in the user's own text.
//
// Proves X-097.
func TestAsksUltra(t *testing.T) {
	for _, tt := range []struct {
		text string
		want bool
	}{
		{"ultrathink", true},
		{"Please ULTRATHINK: why does it hang?", true},
		{"why?\n\n(ultrathink)", true},
		{"find the bug, Ultrathink.", true},
		{"请ultrathink一下", true},
		{"don't stop, it's hard: ultrathink", true},
		{"what does \"ultrathink\" do? ultrathink", true},
		{"```\nultrathink\n```\nultrathink", true},
		{"say \" once and ultrathink", true},
		{"", false},
		{"think", false},
		{"ultrathinking", false},
		{"ultra think", false},
		{"what does \"ultrathink\" do?", false},
		{"what does 'ultrathink' do?", false},
		{"what does `adze ultrathink` do?", false},
		{"it says “please ultrathink about it”", false},
		{"说「ultrathink」", false},
		{"```\nultrathink\n```", false},
		{"~~~\nultrathink", false},
		{"> ultrathink\nwhat is that?", false},
		{"    ultrathink\n\tultrathink", false},
		{"read ultrathink.go, ./ultrathink, no-ultrathink, ultrathink=1, ultrathink_test and ultrathink()", false},
		{"İİİ ultrathinK\u212a", false}, // letters whose size changes with case
	} {
		if got := asksUltra(tt.text); got != tt.want {
			t.Errorf("%q: %v", tt.text, got)
		}
	}
}

func FuzzAsksUltra(f *testing.F) {
	f.Add("> a\n```\nultrathink")
	f.Fuzz(func(t *testing.T, text string) {
		if asksUltra(text) && !strings.Contains(strings.ToLower(text), ultraWord) {
			t.Errorf("%q asks", text)
		}
	})
}
