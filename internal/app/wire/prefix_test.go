package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"adze/internal/session"
)

// Over a long session with edits, rules that change, another date and tasks that
// report, each request begins with the bytes of the one before it. Marks are taken out for the
// figure, since they move on by design; a provider's cache shows that they are where they have to be.
//
// Proves LOOP-11, CTX-18, CTX-21.
func TestPrefixIsStable(t *testing.T) {
	const turns = 50
	p := newPlace(t)
	now := time.Date(2026, 11, 15, 23, 50, 0, 0, time.UTC)
	p.env.Now = func() time.Time { return now }
	p.Write("work/CLAUDE.md", "Rule 0.")
	p.Write("work/deep/AGENTS.md", "Deep rule.")
	p.Write("work/deep/a.txt", "a\n")
	var script strings.Builder
	for i := range turns {
		fmt.Fprintf(&script, "use Write {\"file_path\":\"f%d.txt\",\"content\":\"%d\"}\n", i, i)
		if i == 35 { // more than a provider looks back for
			for range 15 {
				script.WriteString("use Read {\"file_path\":\"deep/a.txt\",\"limit\":1}\n")
			}
		}
		fmt.Fprintf(&script, "use Read {\"file_path\":\"deep/a.txt\"}\n---\nsay Turn %d.\n---\n", i)
	}
	s := p.converse(strings.TrimSuffix(script.String(), "---\n"), Spec{Access: AccessSpec{Mode: "acceptEdits"}}).Session
	for i := range turns {
		now = now.Add(time.Minute) // midnight comes after the tenth
		switch i {
		case 20:
			p.Write("work/CLAUDE.md", "Rule 1.")
		case 30:
			p.Write("work/ADZE.local.md", "Private rule.")
			if err := s.Submit(t.Context(), session.Notify{Text: "Task 1 is done."}); err != nil {
				t.Fatal(err)
			}
		}
		say(t, s, fmt.Sprintf("Step %d.", i))
	}

	var before []byte
	cache := promptCache{}
	cached, share := 0, 1.0
	for i := range 2 * turns {
		file := p.Path(fmt.Sprintf("sent/%d.json", i+1))
		sent := unmarked(t, file)
		if i > 0 {
			share = min(share, float64(common(before, sent))/float64(len(before)))
		}
		read, static, kept := cache.ask(t, file)
		if read < cached || i > 0 && read < static {
			t.Errorf("request %d: %d bytes are read from the cache; it held %d, %d of them the same for all", i+1, read, cached, static)
		}
		before, cached = sent, kept
	}
	t.Logf("at least %.2f %% of each request are the one before", 100*share)
	if share < 0.99 {
		t.Errorf("only %.2f %% of a request are the one before", 100*share)
	}
	for _, told := range []string{
		"2026-11-16", "Rule 1.", "Private rule.", "Deep rule.", "Task 1 is done.",
	} {
		if n := bytes.Count(before, []byte(told)); n != 1 {
			t.Errorf("%s was told %d times", told, n)
		}
	}
}

var markPattern = regexp.MustCompile(`,"cache_control":\{[^}]*\}`)

// unmarked returns what a request says, up to the end of its messages, without cache marks.
func unmarked(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		t.Fatal(err)
	}
	return markPattern.ReplaceAll(bytes.TrimSuffix(compact.Bytes(), []byte("]}")), nil)
}

// A promptCache does what a provider does with marks: it keeps what a request says up to each of them, tools
// first, and looks for what it has from each mark of the next request, at most 20 blocks back.
type promptCache map[string]bool

// ask returns how many bytes of a request are in the cache already, how many of it are the tools and what
// everyone's system prompt says, and how many are in the cache from now on.
func (c promptCache) ask(t *testing.T, file string) (read, static, kept int) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var req struct {
		Tools, System []json.RawMessage
		Messages      []struct{ Content []json.RawMessage }
	}
	if err := json.Unmarshal(data, &req); err != nil {
		t.Fatal(err)
	}
	blocks := slices.Concat(req.Tools, req.System)
	for _, m := range req.Messages {
		blocks = append(blocks, m.Content...)
	}
	type prefix struct {
		sum  string
		size int
	}
	var prefixes []prefix // up to each block
	var marks []int
	said, size := sha256.New(), 0
	for i, b := range blocks {
		var compact bytes.Buffer
		if err := json.Compact(&compact, b); err != nil {
			t.Fatal(err)
		}
		plain := markPattern.ReplaceAll(compact.Bytes(), nil)
		said.Write(plain)
		size += len(plain)
		prefixes = append(prefixes, prefix{string(said.Sum(nil)), size})
		if len(plain) < compact.Len() {
			marks = append(marks, i)
		}
		if bytes.Contains(compact.Bytes(), []byte(`"scope":"global"`)) {
			static = size
		}
	}
	for _, m := range marks {
		for i := m; i >= max(0, m-20); i-- {
			if c[prefixes[i].sum] {
				read = max(read, prefixes[i].size)
			}
		}
	}
	for _, m := range marks {
		c[prefixes[m].sum] = true
		kept = prefixes[m].size
	}
	return read, static, kept
}

// common returns how many bytes two texts begin with together.
func common(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
