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
		s := cache.ask(t, file)
		if s.read < cached || i > 0 && s.read < s.static {
			t.Errorf("request %d: %d bytes are read from the cache; it held %d, %d of them the same for all", i+1, s.read, cached, s.static)
		}
		before, cached = sent, s.kept
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

// A cacheShare says of how many bytes a request is, how many of them are in the cache already, how many are the
// tools and what everyone's system prompt says, and how many are in the cache from now on.
type cacheShare struct{ size, read, static, kept int }

// price returns what the request costs, in bytes of the plain price, for a model that takes a twentieth of it for
// what is read from the cache and a quarter more for what is written to it.
func (s cacheShare) price() float64 {
	return 0.05*float64(s.read) + 1.25*float64(s.kept-s.read) + float64(s.size-s.kept)
}

func (c promptCache) ask(t *testing.T, file string) (share cacheShare) {
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
			share.static = size
		}
	}
	share.size = size
	for _, m := range marks {
		for i := m; i >= max(0, m-20); i-- {
			if c[prefixes[i].sum] {
				share.read = max(share.read, prefixes[i].size)
			}
		}
	}
	for _, m := range marks {
		c[prefixes[m].sum] = true
		share.kept = prefixes[m].size
	}
	return share
}

var limitPattern = regexp.MustCompile(`"max_tokens":\d+,`) // the cache is indifferent to it

// Notes are asked for within a turn, at its end, and when the user wants them, and so is a summary, also in a
// session that was resumed. Each time the bytes of a request of the conversation come first, and nearly all is
// read from the cache and nothing written to it.
//
// Proves CTX-42, CTX-55.
func TestSideRequestsReadTheCache(t *testing.T) {
	const reads = 20
	p := newPlace(t)
	p.Write("work/CLAUDE.md", "Rule 0.")
	for i := range reads {
		p.Write(fmt.Sprintf("work/f%d.txt", i), strings.Repeat(fmt.Sprintf("line of file %d\n", i), 500))
	}
	var script strings.Builder
	script.WriteString("when text \"belongs into the notes\"\nforever\ntext \"<notes>\\n# Current state\\nReading.\\n</notes>\"\n---\n")
	script.WriteString("when text \"Summarise this conversation\"\nforever\nsay <summary>All was read.</summary>\n---\n")
	for i := range reads {
		fmt.Fprintf(&script, "delay 20ms\nthink Which is next?\nuse Read {\"file_path\":\"f%d.txt\"}\n---\n", i)
	}
	script.WriteString("forever\nsay I have read it.")
	c := p.chat(script.String(), nil)
	c.say("Read all files.")
	c.do(session.Notes{})
	id := c.Session.ID()
	c.Close()
	cache, before := promptCache{}, [][]byte{}
	var main, side, plain float64
	asked := map[string]int{}
	look := func() {
		t.Helper()
		for i, raw := range c.sent() {
			file := p.Path(fmt.Sprintf("sent/%d.json", i+1))
			share, sent := cache.ask(t, file), limitPattern.ReplaceAll(unmarked(t, file), nil)
			what := ""
			for _, order := range []string{"belongs into the notes", "Summarise this conversation"} {
				if strings.Contains(raw, order) {
					what = order
				}
			}
			if what == "" {
				main += share.price()
				before = append(before, sent)
				continue
			}
			asked[what]++
			side += share.price()
			plain += float64(share.size)
			if !slices.ContainsFunc(before, func(b []byte) bool { return bytes.HasPrefix(sent, bytes.TrimSuffix(b, []byte("]}"))) }) {
				t.Errorf("request %d, %s: it does not begin with a request of the conversation", i+1, what)
			}
			if part := float64(share.read) / float64(share.size); part < 0.95 || share.kept > share.read {
				t.Errorf("request %d, %s: %.1f %% of %d bytes are read from the cache, and %d written to it", i+1, what, 100*part, share.size, share.kept-share.read)
			}
		}
	}
	look()
	c = p.chat("when text \"Summarise this conversation\"\nsay <summary>All was read.</summary>\n", func(s *Spec) { s.Session.Resume = id })
	c.do(session.Compact{Focus: "the files"})
	look()
	t.Logf("%v; beside %.0f for the conversation they cost %.0f, a share of %.3f; without the cache it would be %.3f", asked, main, side, side/main, plain/main)
	if asked["belongs into the notes"] < 3 || asked["Summarise this conversation"] != 1 || side > 0.12*main {
		t.Errorf("asked for %v; beside %.0f for the conversation they cost %.0f", asked, main, side)
	}
}

// common returns how many bytes two texts begin with together.
func common(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
