package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"adze/internal/model/cost"
	"adze/internal/session"
)

// TestPrefixIsStable checks that over a long session with edits, changing rules, a new date and
// reporting tasks, each request begins with the bytes of the previous one. Cache marks are
// removed for the comparison, since they move by design; a simulated provider cache checks
// their positions.
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
		if i == 35 { // beyond the provider's lookback
			for range 15 {
				script.WriteString("use Read {\"file_path\":\"deep/a.txt\",\"limit\":1}\n")
			}
		}
		fmt.Fprintf(&script, "use Read {\"file_path\":\"deep/a.txt\"}\n---\nsay Turn %d.\n---\n", i)
	}
	s := p.converse(strings.TrimSuffix(script.String(), "---\n"), Spec{Access: AccessSpec{Mode: "acceptEdits"}}).Session
	for i := range turns {
		now = now.Add(time.Minute) // midnight passes after the tenth request
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
		file := p.Path(fmt.Sprintf("sent/%03d-request.json", i+1))
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
			t.Errorf("%s appears %d times", told, n)
		}
	}
}

var markPattern = regexp.MustCompile(`,"cache_control":\{[^}]*\}`)

// unmarked returns a request up to the end of its messages, without cache marks.
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

// A promptCache simulates a provider's cache: it stores the request up to each mark, tools
// first, and looks back at most 20 blocks from each mark of the next request.
type promptCache map[string]bool

// A cacheShare holds a request's byte counts: total size, read from the cache, static (tools
// and the shared part of the system prompt), and cached afterwards.
type cacheShare struct{ size, read, static, kept int }

// price returns the request's cost in bytes at the base price. Cache reads cost a twentieth of
// it and cache writes a quarter more.
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
	var prefixes []prefix // one per block
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

var limitPattern = regexp.MustCompile(`"max_tokens":\d+,`) // irrelevant to the cache

// TestSideRequestsReadTheCache checks requests for notes (within a turn, at its end, and on
// demand) and for summaries, also in resumed sessions. Each begins with the bytes of a request
// in the conversation; nearly everything is read from the cache and nothing written to it.
// Automatic requests add at most a tenth to the cost at the default model's list prices.
//
// Proves CTX-18, CTX-42, CTX-55, CTX-59.
func TestSideRequestsReadTheCache(t *testing.T) {
	const reads = 20
	p := newPlace(t)
	p.Write("work/CLAUDE.md", "Rule 0.")
	for i := range reads {
		p.Write(fmt.Sprintf("work/f%d.txt", i), strings.Repeat(fmt.Sprintf("line of file %d\n", i), 500))
	}
	var script strings.Builder
	script.WriteString("when text \"belongs in the notes\"\nforever\ntext \"<notes>\\n# Current state\\nReading.\\n</notes>\"\n---\n")
	script.WriteString("when text \"Summarise this conversation\"\nforever\nsay <summary>All was read.</summary>\n---\n")
	for i := range reads {
		fmt.Fprintf(&script, "delay 20ms\nthink Which is next?\nuse Read {\"file_path\":\"f%d.txt\"}\n---\n", i)
	}
	script.WriteString("forever\nsay I have read it.")
	c := p.chat(script.String(), nil)
	c.say("Read all files.")
	unasked := len(c.sent())
	c.do(session.Notes{})
	id := c.Session.ID()
	c.Close()
	cache, before := promptCache{}, [][]byte{}
	var main, side, plain, extra float64
	asked := map[string]int{}
	look := func() {
		t.Helper()
		for i, raw := range c.sent() {
			file := p.Path(fmt.Sprintf("sent/%03d-request.json", i+1))
			share, sent := cache.ask(t, file), limitPattern.ReplaceAll(unmarked(t, file), nil)
			what := ""
			for _, order := range []string{"belongs in the notes", "Summarise this conversation"} {
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
			if i < unasked {
				extra += share.price()
			}
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
	if unasked -= reads + 1; unasked < 2 || extra > 0.1*main {
		t.Errorf("%d side requests add %.0f to %.0f", unasked, extra, main)
	}
	t.Logf("%d side requests multiply the cost by %.3f", unasked, 1+extra/main)
	unasked = 0
	c = p.chat("when text \"Summarise this conversation\"\nsay <summary>All was read.</summary>\n", func(s *Spec) { s.Session.Resume = id })
	c.do(session.Compact{Focus: "the files"})
	look()
	t.Logf("%v; the conversation costs %.0f, side requests %.0f, a share of %.3f; without the cache %.3f", asked, main, side, side/main, plain/main)
	if asked["belongs in the notes"] < 3 || asked["Summarise this conversation"] != 1 || side > 0.15*main {
		t.Errorf("requests %v; the conversation costs %.0f, side requests %.0f", asked, main, side)
	}
}

// TestClearedFileIsReadAgain checks that an unchanged file can be read again after its text was
// cleared from the conversation, in the same process and after resume.
//
// Proves READ-06.
func TestClearedFileIsReadAgain(t *testing.T) {
	p := newPlace(t)
	now := time.Now()
	p.env.Now = func() time.Time { return now }
	p.Write("work/a.txt", strings.Repeat("a quince\n", 300))
	read := "use Read {\"file_path\":\"a.txt\"}\n---\n"
	var others strings.Builder
	for i := range 6 {
		p.Write(fmt.Sprintf("work/b%d.txt", i), strings.Repeat("more\n", 500))
		fmt.Fprintf(&others, "use Read {\"file_path\":\"b%d.txt\"}\n---\n", i)
	}
	c := p.chat(read+others.String()+read+"say read\n---\nsay cleared\n---\n"+read+"say done", nil)
	c.say("Read all files.")
	if sent := c.sent(); strings.Count(sent[len(sent)-1], "a.txt is unchanged") != 1 {
		t.Errorf("a file that did not change: %s", tail(sent))
	}
	now = now.Add(2 * time.Hour)
	c.say("And now?")
	c.say("Read it again.")
	if sent := c.sent(); strings.Count(sent[len(sent)-1], "a quince") != 300 {
		t.Errorf("the text is not there again: %.3000s", tail(sent))
	}
	id := c.Session.ID()
	c.Close()
	now = now.Add(2 * time.Hour)
	again := p.chat(others.String()+"say read\n---\n"+read+"say done", func(s *Spec) { s.Session.Resume = id })
	again.say("Read the others.")
	now = now.Add(2 * time.Hour)
	again.say("Read it again.")
	if !strings.Contains(tail(again.sent()), "a quince") {
		t.Errorf("after it was resumed the text is not there again: %.3000s", tail(again.sent()))
	}
}

// TestResumeBeginsAlike resumes a session of 100,000 tokens by every entry point, past
// midnight, in a changed repository, with other instructions and tools. Each time requests
// begin with the bytes of the earlier ones, all but 2 % of them are read from the cache, and
// changes are announced once.
//
// Proves CTX-20, CTX-21, SESS-22.
func TestResumeBeginsAlike(t *testing.T) {
	p := newPlace(t)
	now := time.Date(2026, 11, 15, 23, 45, 0, 0, time.UTC)
	p.env.Now = func() time.Time { return now }
	p.Write("home/.adze/settings.json", `{"models":{"replay":{"contextWindow":1000000}}}`)
	p.Write("work/AGENTS.md", "Rule 0.")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", p.Path("work"), "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	git("init", "-q", "-b", "main")
	git("add", ".")
	git("commit", "-q", "-m", "first")
	var script strings.Builder
	for i := range 20 {
		p.Write(fmt.Sprintf("work/f%d.txt", i), strings.Repeat(fmt.Sprintf("line of file %d\n", i), 1000))
		fmt.Fprintf(&script, "think Next.\nuse Read {\"file_path\":\"f%d.txt\"}\n---\n", i)
	}
	id, cache := "", promptCache{}
	var last []byte
	for i, tt := range []struct {
		entry  Entry
		change func()
		told   []string
		not    []string
	}{
		{Print, func() {}, nil, nil},
		{Interactive, func() { git("add", "."); git("commit", "-q", "-m", "quince") }, []string{"quince", "clean"}, []string{"2026-11-16"}},
		{Interactive, func() {}, nil, []string{"different now"}},
		{Print, func() { now = now.Add(30 * time.Minute) }, []string{"2026-11-16"}, []string{"quince"}},
		{Host, func() { p.Write("work/AGENTS.md", "Rule 1.") }, []string{"Rule 1."}, []string{"2026-11-16"}},
		{Print, func() { p.Write("work/ADZE.local.md", "Rule 2.") }, []string{"Rule 2."}, []string{"Rule 1."}},
		{Print, func() { os.Remove(p.Path("work/ADZE.local.md")); os.Remove(p.Path("work/AGENTS.md")) }, []string{"AGENTS.md is gone", "ADZE.local.md is gone"}, nil},
		{Print, func() {}, nil, []string{"is gone", "different now", "Rule"}},
	} {
		tt.change()
		text := script.String() + "say Done."
		if i > 0 {
			text = "say Done."
		}
		c := p.chat(text, func(s *Spec) { s.Entry, s.Session.Resume = tt.entry, id })
		c.say(fmt.Sprintf("Prompt %d.", i))
		id = c.Session.ID()
		sent := c.sent()
		for n := range sent {
			file := p.Path(fmt.Sprintf("sent/%03d-request.json", n+1))
			share := cache.ask(t, file)
			body := unmarked(t, file)
			if i > 0 || n > 0 {
				if !bytes.HasPrefix(body, last) {
					t.Errorf("resume %d, request %d: it begins otherwise from %q on", i, n+1, body[common(body, last):][:200])
				}
			}
			last = body
			if i == 0 {
				continue
			}
			if part := float64(share.size-share.read) / float64(share.size); part > 0.02 {
				t.Errorf("resume %d: %.1f %% of %d bytes are not read from the cache", i, 100*part, share.size)
			}
			_, news, _ := strings.Cut(sent[n], fmt.Sprintf("Prompt %d.", i))
			for _, words := range tt.told {
				if strings.Count(news, words) != 1 {
					t.Errorf("resume %d: %q appears %d times in %s", i, words, strings.Count(news, words), news)
				}
			}
			for _, words := range tt.not {
				if strings.Contains(news, words) {
					t.Errorf("resume %d: %q appears again in %s", i, words, news)
				}
			}
		}
		c.Close()
	}
}

// common returns the length of the common prefix of a and b.
func common(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// tail returns the end of the last request.
func tail(sent []string) string { last := sent[len(sent)-1]; return last[max(0, len(last)-2500):] }

// TestSmallQuestionsCostLittle checks that a title and a label per batch of calls add almost
// nothing to a session's cost: they are short and use the small model. They are side queries,
// so the conversation's requests are the same without them.
//
// Proves LOOP-32, X-136.
func TestSmallQuestionsCostLittle(t *testing.T) {
	const reads, perToken = 20, 4.0 / 1e6 // USD per token of the default model's input
	said := "Read all files, one after the other, and tell me what they have in common and where they differ."
	converse := func(small string) (requests []string, main float64, asides map[string]cost.Share) {
		p := newPlace(t)
		p.Vars["ADZE_SMALL_MODEL"] = small
		p.Write("home/.adze/settings.json", `{"toolUseSummaries":true,"sessionMemory":{"enabled":false}}`)
		var script strings.Builder
		script.WriteString("when model claude-haiku-5-5\nforever\nsay Compare the files\n---\n")
		for i := range reads {
			p.Write(fmt.Sprintf("work/f%d.txt", i), strings.Repeat(fmt.Sprintf("line of file %d\n", i), 100))
			fmt.Fprintf(&script, "delay 10ms\nuse id=toolu_%d Read {\"file_path\":\"f%d.txt\"}\n---\n", i, i)
		}
		script.WriteString("delay 200ms\nsay I have read it.")
		c := p.chat(script.String(), func(s *Spec) { s.Entry = Host })
		c.say(said)
		cache := promptCache{}
		for i, raw := range c.sent() {
			file := p.Path(fmt.Sprintf("sent/%03d-request.json", i+1))
			if strings.Contains(raw, `"claude-haiku-5-5"`) {
				continue
			}
			main += cache.ask(t, file).price() / 4 * perToken
			requests = append(requests, strings.ReplaceAll(raw, p.Root, ""))
		}
		return requests, main, c.Session.Totals().Asides
	}
	with, main, asides := converse("haiku")
	if n := asides["labels of calls"].Requests; asides["session titles"].Requests != 1 || n <= reads/2 || n > reads { // the turn may end before the last ones
		t.Errorf("%+v", asides)
	}
	extra := asides["session titles"].CostUSD + asides["labels of calls"].CostUSD
	if extra <= 0 || extra > 0.01*main {
		t.Errorf("they cost %f, the rest %f", extra, main)
	}
	t.Logf("a title and labels make it cost %.4f times as much", 1+extra/main)
	without, _, none := converse("")
	if len(none) > 0 || len(with) != len(without) {
		t.Errorf("%d requests with them, %d without: %+v", len(with), len(without), none)
	}
	for i := range min(len(with), len(without)) {
		if len(with[i]) != len(without[i]) {
			t.Errorf("request %d has %d bytes with them, and %d without", i+1, len(with[i]), len(without[i]))
		}
	}
}

// TestSessionsShareThePrefix checks that new sessions in one directory send the same tools and
// system prompt regardless of repository state, so that a provider has them cached.
//
// Proves CTX-20.
func TestSessionsShareThePrefix(t *testing.T) {
	p := newPlace(t)
	git := func(args ...string) {
		cmd := exec.Command("git", append([]string{"-c", "user.name=A", "-c", "user.email=a"}, args...)...)
		cmd.Dir = p.env.Dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main")
	prefix := func() string {
		c := p.chat("say Yes.", nil)
		defer c.leave()
		c.say("hello")
		var req struct{ Tools, System json.RawMessage }
		if err := json.Unmarshal([]byte(c.sent()[0]), &req); err != nil {
			t.Fatal(err)
		}
		if opening := openingOf(c.sent()[0]); !strings.Contains(opening, "Branch: ") || !strings.Contains(opening, "# Scratchpad") {
			t.Errorf("the first message is %s", opening)
		}
		return string(req.Tools) + string(req.System)
	}
	first := prefix()
	p.Write("work/new.txt", "new")
	git("add", ".")
	git("commit", "-q", "-m", "one")
	git("checkout", "-q", "-b", "topic")
	if again := prefix(); again != first {
		t.Errorf("they differ after %d of %d bytes: %.200s", common([]byte(first), []byte(again)), len(first), again[common([]byte(first), []byte(again)):])
	}
}
