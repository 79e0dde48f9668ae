package cli

import (
	"testing"

	"adze/internal/msg"
)

func TestJoinTexts(t *testing.T) {
	parts := []msg.Part{&msg.Text{Text: "one"}, &msg.Text{Text: "two\n"}, &msg.Image{}, &msg.Text{Text: "three"}}
	if got := joinTexts(parts); got != "one\ntwo\nthree" {
		t.Errorf("%q", got)
	}
}
