package plain

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
)

// Proves CTX-18.
func TestContextCommand(t *testing.T) {
	page := func(text string, err error) func(*Config) {
		return func(c *Config) { c.Context = func(context.Context) (string, error) { return text, err } }
	}
	for _, tt := range []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"a page", page("About 5 tokens:\n      5  100 %  a\x1b[31m tool\n", nil), "About 5 tokens:\n      5  100 %  a tool\n"},
		{"an error", page("", errors.New("no such model")), "no such model\n"},
		{"nowhere", nil, "Nothing is known about the context window here.\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newConsole(t, "say hi", tt.change)
				c.enter("/context\n")
				if !strings.Contains(c.text(), tt.want) {
					t.Errorf("%q is not in %q", tt.want, c.text())
				}
				c.keys.Close()
				<-c.done
			})
		})
	}
}
