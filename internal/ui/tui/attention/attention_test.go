package attention

import (
	"testing"
	"time"

	"adze/internal/ui/keys"
)

// journey simulates a watch: f and F lose and gain the focus, k is a key, q a question, a its
// answer, and a number is a pause in seconds. It returns the times of notifications in seconds.
func journey(steps ...any) (calls []int, away time.Duration) {
	w := &Watch{}
	start := time.Unix(1e9, 0)
	now := start
	for _, step := range steps {
		switch step := step.(type) {
		case int:
			end := now.Add(time.Duration(step) * time.Second)
			for {
				in, ok := w.Due(now)
				if !ok || now.Add(in).After(end) {
					break
				}
				now = now.Add(in)
				if w.Call(now) != Nothing {
					calls = append(calls, int(now.Sub(start).Seconds()))
				}
			}
			now = end
		case string:
			switch step {
			case "f":
				w.Sign(keys.Event{Kind: keys.FocusOut, At: now})
			case "F":
				away = w.Sign(keys.Event{Kind: keys.FocusIn, At: now})
			case "k":
				w.Sign(keys.Event{At: now})
			case "q":
				w.Wait(Question, now)
			case "a":
				w.Wait(Nothing, now)
			}
		}
	}
	return calls, away
}

// Proves X-126.
func TestCalls(t *testing.T) {
	tests := []struct {
		name  string
		steps []any
		want  []int
	}{
		{"the user looks and answers", []any{"k", 5, "q", 20, "k", "a", 300}, nil},
		{"the user looks, but does nothing", []any{"k", 5, "q", 300}, []int{60}},
		{"no key was ever pressed", []any{5, "q", 300}, []int{65}},
		{"another window: at once", []any{"k", 5, "f", 7, "q", 300}, []int{12}},
		{"another window later", []any{"k", 5, "q", 10, "f", 300}, []int{15}},
		{"back before the prompt", []any{"k", "f", 7, "F", "q", 30, "k", 300}, nil},
		{"back, but no answer", []any{"k", "f", 7, "F", "q", 300}, []int{67}},
		{"typing puts it off for good", []any{"k", "q", 59, "k", 300}, nil},
		{"each question calls", []any{"f", "q", 1, "a", "q", 1}, []int{0, 1}},
		{"nothing waits", []any{"f", 300}, nil},
		{"a terminal that does not tell", []any{"k", 600, "q", 1}, []int{600}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := journey(tt.steps...)
			if len(got) != len(tt.want) {
				t.Fatalf("called at %v, not %v", got, tt.want)
			}
			for i := range got {
				if got[i] != tt.want[i] {
					t.Errorf("called at %v, not %v", got, tt.want)
				}
			}
		})
	}
}

// Proves X-136.
func TestAway(t *testing.T) {
	if _, away := journey("k", 5, "f", 600, "F"); away != 10*time.Minute {
		t.Error(away)
	}
	if _, away := journey("k", 5, "F"); away != 5*time.Second { // the terminal does not report focus loss
		t.Error(away)
	}
	if _, away := journey(5, "F"); away != 0 {
		t.Error(away)
	}
}
