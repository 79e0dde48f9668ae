package store

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTitleOf(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "",
		" \n\x1b ":                            "",
		"Fix the login page":                  "Fix the login page",
		"Fix it. Then tell me why.":           "Fix it",
		"Why is main.go so slow? It was not.": "Why is main.go so slow",
		"# Plan\n\nDo it":                     "Plan Do it",
		"修复登录页面。然后告诉我":                        "修复登录页面",
		"please look through every package of this repository, find what is unused and delete it": "please look through every package of this repository, find…",
		strings.Repeat("x", 500): strings.Repeat("x", 60) + "…",
	} {
		got := TitleOf(text)
		if got != want {
			t.Errorf("TitleOf(%q) = %q, want %q", text, got, want)
		}
		if utf8.RuneCountInString(got) > shortTitle+1 {
			t.Errorf("TitleOf(%q) is too long", text)
		}
	}
}
