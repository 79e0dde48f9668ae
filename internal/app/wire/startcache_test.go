package wire

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// many writes user skills and agents, and waits until their timestamps are usable as cache
// keys.
func (p *place) many() {
	p.T.Helper()
	for i := range fewKnown {
		p.skill(fmt.Sprintf("skill-%02d", i), "Does one of many things.")
	}
	p.agent("Helps as ever.")
	settleStamps()
}

func settleStamps() { time.Sleep(2100 * time.Millisecond) }

func (p *place) agent(description string) {
	p.T.Helper()
	p.Write("home/.adze/agents/helper.md", "---\nname: helper\ndescription: "+description+"\n---\nHelp.\n")
}

// begins reports whether the conversation started from a cached listing.
func (c *chat) begins() bool { return c.skills.Start() != nil && c.ws.Plugins.Recalled() != nil }

// leave ends a session like a process exit.
func (c *chat) leave() {
	c.Close()
	c.ws.Close()
}

// once runs a session of one turn. It returns the opening and the tools of its request, and
// whether it started from a cached listing.
func (p *place) once() (opening, tools string, begun bool) {
	p.T.Helper()
	c := p.chat("say Yes.", nil)
	defer c.leave()
	begun = c.begins()
	c.say("hello")
	request := c.sent()[0]
	return openingOf(request), toolsOf(p.T, request), begun
}

var scratchPattern = regexp.MustCompile(`/scratch/[0-9a-f-]+`)

// openingOf returns a request's messages without the session ID.
func openingOf(request string) string {
	_, opening, _ := strings.Cut(request, `"messages"`)
	return scratchPattern.ReplaceAllString(opening, "/scratch/ID")
}

// begun runs sessions until one starts from a cached listing, and returns the opening and tools
// of its request. The number of sessions depends on file timestamps.
func (p *place) begun(when string) (opening, tools string) {
	p.T.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		opening, tools, begun := p.once()
		if begun {
			return opening, tools
		}
		if time.Now().After(deadline) {
			p.T.Fatalf("%s: it was looked up", when)
		}
	}
}

// TestBeginsLikeTheLastSession checks that the first request of a session repeats an earlier
// session's listing without scanning for skills and agents, unless something has changed.
//
// Proves SKILL-07, SKILL-27.
func TestBeginsLikeTheLastSession(t *testing.T) {
	p := newPlace(t)
	p.many()
	opening, tools, begun := p.once()
	if begun || !strings.Contains(opening, `\n- skill-07: Does one of many things.`) || !strings.Contains(tools, "Helps as ever.") {
		t.Fatalf("begun: %v, the request begins with %s", begun, opening)
	}
	if again, toolsAgain := p.begun("later"); again != opening || toolsAgain != tools {
		t.Errorf("the request begins otherwise: %s", again)
	}
	for _, tt := range []struct {
		name   string
		change func()
		told   string
	}{
		{"the file is damaged", p.damageStart, ""},
		{"a setting", func() { p.Write("home/.adze/settings.json", `{"skillSearch":"always"}`) }, ""},
		{"the language", func() { p.Write("home/.adze/settings.json", `{"promptLanguage":"chn"}`) }, ""},
		{"the usage", func() {
			p.Write("home/.adze/skill-usage.json", `{"version":1,"skills":{"skill-01":{"uses":3,"last":1}}}`)
		}, ""},
		{"a skill is new", func() { p.skill("new", "Is new.") }, `\n- new: Is new.`},
		{"an agent is changed in place", func() { p.agent("Helps otherwise.") }, "Helps otherwise."},
	} {
		p.begun("before " + tt.name)
		tt.change()
		opening, tools, begun := p.once()
		if begun || !strings.Contains(opening+tools, tt.told) {
			t.Errorf("%s: begun %v, told %s", tt.name, begun, opening)
		}
	}
}

// TestSuggestsLikeTheLastSession checks that a session started from a cached listing gets the
// same suggestions for its first message.
//
// Proves SKILL-33.
func TestSuggestsLikeTheLastSession(t *testing.T) {
	p := newPlace(t)
	p.Write("home/.adze/settings.json", `{"skillSearch":"always"}`)
	p.skill("paint", "Paints the fence.")
	p.many()
	p.once() // writes the indexes
	ask := func() (opening string, begun bool) {
		c := p.chat("say Yes.", nil)
		defer c.leave()
		begun = c.begins()
		c.say("Please paint the fence.")
		return openingOf(c.sent()[0]), begun
	}
	want, _ := ask()
	if !strings.Contains(want, `Skills that may help; run one with Skill:\n- paint: Paints the fence.`) {
		t.Fatalf("the request begins with %s", want)
	}
	p.begun("later")
	if got, begun := ask(); !begun || got != want {
		t.Errorf("begun: %v, the request begins otherwise: %s", begun, got)
	}
}

// damageStart flips a byte in every cached listing.
func (p *place) damageStart() {
	p.T.Helper()
	dir := p.Path("home/.adze/start")
	files, err := os.ReadDir(dir)
	if err != nil || len(files) == 0 {
		p.T.Fatal("nothing is kept", err)
	}
	for _, f := range files {
		data, err := os.ReadFile(dir + "/" + f.Name())
		if err != nil {
			p.T.Fatal(err)
		}
		data[len(data)-20] ^= 1
		p.Write("home/.adze/start/"+f.Name(), string(data))
	}
}

// TestTellsWhatIsNotAsItBegan checks that a session started from a stale listing announces the
// differences, and nothing else, with its second request. No byte sent before changes, also on
// resume.
//
// Proves SKILL-07, SKILL-27.
func TestTellsWhatIsNotAsItBegan(t *testing.T) {
	p := newPlace(t)
	p.many()
	p.once()
	p.once()
	p.skill("skill-07", "Does something else.") // in-place change
	c := p.chat("forever\nsay Yes.", nil)
	if !c.begins() {
		t.Fatal("it was looked up")
	}
	for range 3 {
		c.say("hello")
	}
	id := c.Session.ID()
	sent := c.sent()
	var last []byte
	for i := range sent {
		now := unmarked(t, p.Path(fmt.Sprintf("sent/%03d-request.json", i+1)))
		if !bytes.HasPrefix(now, last) {
			t.Errorf("request %d begins otherwise", i+1)
		}
		last = now
	}
	const was, is = `\n- skill-07: Does one of many things.`, `\n- skill-07: Does something else.`
	for i, body := range sent {
		if strings.Count(body, was) != 1 || strings.Count(body, is) != min(i, 1) || strings.Count(body, `\n- skill-08`) != 1 {
			t.Errorf("request %d tells %s", i+1, body)
		}
	}
	c.leave()
	c = p.chat("forever\nsay Yes.", func(s *Spec) { s.Session.Resume = id })
	c.say("hello")
	body := c.sent()[0]
	if !bytes.HasPrefix(unmarked(t, p.Path("sent/001-request.json")), last) || strings.Count(body, is) != 1 {
		t.Errorf("the resumed session tells %s", body)
	}
}
