package dialog

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"adze/internal/ui/keys"
)

// TestGuardProperty checks that no key answers unless it was read alone after the question had
// been active and visible for a while, and that all other typed text reaches the composer, in
// order.
//
// Proves PERM-17.
func TestGuardProperty(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		now := time.Unix(1000, 0)
		var lastKey time.Time
		composer := "" // the composer's content
		if r.IntN(2) == 0 {
			composer, lastKey = "text", now.Add(-time.Duration(r.IntN(3000))*time.Millisecond)
		}
		g := NewGuard(now, lastKey, composer != "")
		if g.Active() && (composer != "" || now.Sub(lastKey) < time.Second) {
			t.Fatalf("seed %d: opened active", seed)
		}
		var activeSince time.Time // expected time of the first frame that shows the question active
		typed, meant := composer, ""
		frame := func() {
			now = now.Add(time.Duration(r.IntN(20)) * time.Millisecond)
			if g.Active() && activeSince.IsZero() {
				activeSince = now
			} else if !g.Active() {
				activeSince = time.Time{}
			}
			g.Shown(now)
		}
		for range 60 {
			read := now.Add(time.Duration(r.IntN(100)-50) * time.Millisecond) // possibly before the last frame was written
			alone := r.IntN(4) > 0
			ev := keys.Event{Kind: keys.Press, Key: keys.Key{Name: "1"}, Text: "1", At: read}
			tab := false
			switch r.IntN(10) {
			case 0:
				ev.Kind, ev.Text = keys.Paste, "1"
			case 1:
				ev.Kind, ev.Text = keys.FocusIn, ""
			case 2:
				ev.Key, ev.Text, tab = keys.Key{Name: "tab"}, "", true
			case 3: // the user waits
				now = now.Add(time.Duration(r.IntN(2500)) * time.Millisecond)
				wait := g.Look(now, composer != "")
				if !g.Active() && composer == "" && wait == 0 {
					t.Fatalf("seed %d: nothing will wake it", seed)
				}
				frame()
				continue
			case 4: // the composer is cleared or sent
				composer = ""
				continue
			case 5:
				g.Disturb()
				activeSince = time.Time{}
				frame()
				continue
			}
			if ev.Kind == keys.FocusIn {
				activeSince = time.Time{}
			}
			wasActive := g.Active()
			switch g.Target(ev, alone, tab) {
			case Question:
				if !wasActive || !alone || ev.Kind != keys.Press || activeSince.IsZero() || read.Sub(activeSince) < 350*time.Millisecond {
					t.Fatalf("seed %d: %v answers, active %v since %v, read %v, alone %v", seed, ev, wasActive, activeSince, read, alone)
				}
				meant += ev.Text
			case Activation:
				if !tab || !g.Active() {
					t.Fatalf("seed %d: %v activates", seed, ev)
				}
				if !wasActive {
					activeSince = time.Time{}
				}
			case Composer:
				composer += ev.Text
				typed += ev.Text
				if wasActive && ev.Text != "" && g.Active() {
					t.Fatalf("seed %d: a key went to the composer, and the question still takes keys", seed)
				}
			}
			if r.IntN(3) > 0 {
				now = now.Add(time.Duration(r.IntN(800)) * time.Millisecond)
				g.Look(now, composer != "")
				frame()
			}
		}
		if strings.Trim(typed+meant, "1tex") != "" {
			t.Fatalf("seed %d: %q %q", seed, typed, meant)
		}
	}
}

// TestGuard checks the cases of the design, one by one.
func TestGuard(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(1000, 0).Add(time.Duration(ms) * time.Millisecond) }
	key := func(ms int) keys.Event { return keys.Event{Key: keys.Key{Name: "1"}, Text: "1", At: at(ms)} }
	tab := func(ms int) keys.Event { return keys.Event{Key: keys.Key{Name: "tab"}, At: at(ms)} }

	g := NewGuard(at(0), time.Time{}, false)
	if !g.Active() || g.Target(key(10), true, false) != Composer || g.Active() {
		t.Error("a key was taken before the question was shown")
	}
	if wait := g.Look(at(10), true); wait != 0 || g.Active() {
		t.Error("the question did not wait for text in the composer")
	}
	if wait := g.Look(at(500), false); wait != 510*time.Millisecond || g.Active() {
		t.Errorf("waits %v", wait)
	}
	g.Look(at(1010), false)
	g.Shown(at(1020))
	g.Shown(at(1300))
	if g.Target(key(1370), true, false) != Question {
		t.Error("a fresh key does not answer")
	}
	g = NewGuard(at(0), at(-999), false)
	if g.Active() || g.Target(tab(5), true, true) != Activation {
		t.Error("Tab does not activate")
	}
	g.Shown(at(10))
	if g.Target(key(359), true, false) != Composer {
		t.Error("a key answers before the question can have been seen")
	}
	g = NewGuard(at(0), time.Time{}, false)
	g.Shown(at(0))
	g.Target(keys.Event{Kind: keys.FocusIn, At: at(5000)}, true, false)
	g.Shown(at(5001))
	if g.Target(key(5100), true, false) != Composer {
		t.Error("the key that brought the focus back answers")
	}
	for _, ev := range []keys.Event{{Kind: keys.Paste, Text: "1", At: at(9000)}, key(9000)} {
		g = NewGuard(at(0), time.Time{}, false)
		g.Shown(at(0))
		if g.Target(ev, ev.Kind == keys.Paste, false) != Composer || g.Active() {
			t.Errorf("%v answers", ev)
		}
	}
}
