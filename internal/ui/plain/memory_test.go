package plain

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
)

// What a command starts, such as an editor, reads what is typed meanwhile.
//
// Proves MEM-42.
func TestMemoryCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		c := newConsole(t, "say ok", func(cfg *Config) {
			in := cfg.In
			cfg.Memory = func(_ context.Context, arg string) (string, error) {
				asked = append(asked, arg)
				switch arg {
				case "edit a":
					typed := make([]byte, 3)
					_, err := io.ReadFull(in, typed)
					return "Edited with " + string(typed), err
				case "edit b":
					return "", errors.New("there is no memory b")
				}
				return "Memory is " + arg + ".", nil
			}
		})
		c.enter("/memory off\n")
		c.enter("/memory edit a\n")
		c.enter("xyz")
		c.enter("/memory edit b\n")
		c.enter("/exit\n")
		if err := <-c.done; err != nil {
			t.Error(err)
		}
		for _, s := range c.sessions {
			s.Close()
		}
		if got := strings.Join(asked, ","); got != "off,edit a,edit b" {
			t.Error(got)
		}
		for _, want := range []string{"Memory is off.", "Edited with xyz", "there is no memory b"} {
			if !strings.Contains(c.text(), want) {
				t.Errorf("%q is not in %s", want, c.text())
			}
		}
		c.keys.Close()
	})
}
