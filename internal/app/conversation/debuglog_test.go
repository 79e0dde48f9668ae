package conversation

import (
	"bytes"
	"strings"
	"testing"
)

func TestLineFilter(t *testing.T) {
	tests := []struct {
		filter, line string
		want         bool
	}{
		{"api", "msg=API error", true},
		{"api", "msg=tool", false},
		{"api,tool", "msg=tool", true},
		{"!api", "msg=tool", true},
		{"!api", "msg=api", false},
		{"api,!retry", "msg=api retry", false},
	}
	for _, tt := range tests {
		var out bytes.Buffer
		f := &lineFilter{w: &out, words: strings.Split(tt.filter, ",")}
		if n, err := f.Write([]byte(tt.line)); n != len(tt.line) || err != nil {
			t.Errorf("got %d, %v", n, err)
		}
		if got := out.Len() > 0; got != tt.want {
			t.Errorf("%s of %q: got %t", tt.filter, tt.line, got)
		}
	}
}
