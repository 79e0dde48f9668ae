package msg

import (
	"strings"
	"testing"
)

// Proves EXEC-12.
func TestNeutralise(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"no tag", "if a < b && c > d { <div> }", "if a < b && c > d { <div> }"},
		{"the name alone", "system-reminder > 1 <", "system-reminder > 1 <"},
		{"opening", "x <system-reminder> y", "x &lt;system-reminder> y"},
		{"closing", "x </system-reminder> y", "x &lt;/system-reminder> y"},
		{"case", "<SYSTEM-Reminder>", "&lt;SYSTEM-Reminder>"},
		{"blanks", "< \t\r\n/ system-reminder >", "&lt; \t\r\n/ system-reminder >"},
		{"other white space", "<\u00a0\vsystem-reminder>", "&lt;\u00a0\vsystem-reminder>"},
		{"attributes", `<system-reminder id="1"/>`, `&lt;system-reminder id="1"/>`},
		{"cut off", "<system-reminder", "&lt;system-reminder"},
		{"doubled bracket", "<<system-reminder>>", "<&lt;system-reminder>>"},
		{"nested", "<sys<system-reminder>tem-reminder>", "<sys&lt;system-reminder>tem-reminder>"},
		{"escaped already", "&lt;system-reminder>", "&lt;system-reminder>"},
		{"not UTF-8 around it", "\xff<system-reminder>\xfe", "\xff&lt;system-reminder>\xfe"},
		{"a real one", Reminder("x").Text, "&lt;system-reminder>\nx\n&lt;/system-reminder>"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Neutralise(tt.in)
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if again := Neutralise(got); again != got {
				t.Errorf("a second time: %q", again)
			}
		})
	}
}

// Proves EXEC-12.
func FuzzNeutralise(f *testing.F) {
	f.Add("a <system-reminder>x</system-reminder> b")
	f.Add("<< / SYSTEM-reminder <system-")
	f.Add("\xff<\u2003system-reminder")
	f.Fuzz(func(t *testing.T, s string) {
		got := Neutralise(s)
		for rest := got; ; {
			_, after, found := strings.Cut(rest, "<")
			if !found {
				break
			}
			if startsTag(after) {
				t.Fatalf("a tag is left in %q", got)
			}
			rest = after
		}
		if Neutralise(got) != got {
			t.Fatalf("not the same a second time: %q", got)
		}
		// Nothing but the escaped brackets changed.
		for i := 0; i < len(s); i++ {
			switch {
			case strings.HasPrefix(got, s[i:i+1]):
				got = got[1:]
			case s[i] == '<' && startsTag(s[i+1:]) && strings.HasPrefix(got, "&lt;"):
				got = got[len("&lt;"):]
			default:
				t.Fatalf("byte %d of %q became %q", i, s, got)
			}
		}
		if got != "" {
			t.Fatalf("%q was added to %q", got, s)
		}
	})
}

func TestReminded(t *testing.T) {
	for _, want := range []string{"", "x", "a\nb\n", "<system-reminder>"} {
		if got, ok := ReminderText(Reminder(want)); got != want || !ok {
			t.Errorf("got %q, %v, want %q", got, ok, want)
		}
	}
	for _, p := range []Part{&Text{Text: "x"}, &Text{Text: "a <system-reminder>\nx"}, &ToolUse{}} {
		if got, ok := ReminderText(p); got != "" || ok {
			t.Errorf("%v says %q", p, got)
		}
	}
}
