package store

import (
	"os"
	"strings"
	"testing"
)

// TestRights checks that rights are restored only with a signature of this state home: not if
// they are unsigned, modified, of another kind or session, or signed with another key. Resuming
// a log must not sign other people's notes.
//
// Proves SESS-22.
func TestRights(t *testing.T) {
	opt := Options{Home: t.TempDir(), Dir: "/work", Session: "s-1"}
	l, err := Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{l.Append(text("e1", "hi")), l.Note(Mode("acceptEdits")), l.Note(Dirs{"/a", "/b"}), l.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(l.Path())
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(keyFile(opt.Home)); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the key: %v, %v", info, err)
	}
	key := readKey(opt.Home)
	other := signature(make([]byte, keySize), "s-1", Mode("acceptEdits"))
	for name, tt := range map[string]struct {
		from, to   string
		mode, dirs bool
	}{
		"as written":                   {"", "", true, true},
		"another mode":                 {`"mode":"acceptEdits"`, `"mode":"auto"`, false, true},
		"another directory":            {`"/b"`, `"/"`, true, false},
		"one directory less":           {`["/a","/b"]`, `["/a"]`, true, false},
		"another session":              {`"sessionId":"s-1"`, `"sessionId":"s-2"`, false, false},
		"no signature":                 {`"signature"`, `"sign"`, false, false},
		"the signature of another key": {signature(key, "s-1", Mode("acceptEdits")), other, false, true},
		"a key that is written twice":  {`"mode":"acceptEdits"`, `"mode":"acceptEdits","mode":"auto"`, false, true},
		"in upper case":                {`"mode":"acceptEdits"`, `"mode":"acceptEdits","Mode":"auto"`, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			changed := string(whole)
			if tt.from != "" {
				changed = strings.ReplaceAll(changed, tt.from, tt.to)
				if changed == string(whole) {
					t.Fatalf("%q is not in the log", tt.from)
				}
			}
			if err := os.WriteFile(l.Path(), []byte(changed), 0o600); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second run reads the result of the first
				log, c, err := Resume(opt, LoadOptions{})
				if err != nil {
					t.Fatal(err)
				}
				mode, dirs := c.State.Rights()
				if (mode != "") != tt.mode || (len(dirs) > 0) != tt.dirs || c.State.Foreign() != (!tt.mode || !tt.dirs) {
					t.Errorf("mode %q, directories %q, foreign %v", mode, dirs, c.State.Foreign())
				}
				if err := log.Append(text("e2", strings.Repeat("x", 1<<20))); err != nil {
					t.Fatal(err)
				}
				log.Close()
			}
		})
	}
}

// TestRightsWithoutKey checks that nothing is restored if the key is missing or cannot be
// trusted.
//
// Proves SESS-22.
func TestRightsWithoutKey(t *testing.T) {
	home := t.TempDir()
	if readKey(home) != nil || readKey("") != nil {
		t.Error("there is a key")
	}
	key, err := makeKey(home)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := makeKey(home); err != nil || string(again) != string(key) {
		t.Errorf("the key changes: %v", err)
	}
	if err := os.Truncate(keyFile(home), 0); err != nil {
		t.Fatal(err)
	}
	if readKey(home) != nil || signed(readKey(home), "s", signature(nil, "s", Mode("plan")), Mode("plan")) {
		t.Error("an empty key counts")
	}
	if _, err := makeKey(home); err == nil {
		t.Error("a damaged key is replaced in silence")
	}
	if err := os.Remove(keyFile(home)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", keyFile(home)); err != nil {
		t.Skip("no links here")
	}
	if readKey(home) != nil {
		t.Error("a link counts as a key")
	}
}
