package wire

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"adze/internal/session"
)

func (p *place) skill(name, description string) {
	p.T.Helper()
	p.Write("home/.adze/skills/"+name+"/SKILL.md", "---\ndescription: "+description+"\n---\nDo "+name+".\n")
}

// looked makes the library rescan for skills, as its watcher does.
func (c *chat) looked() { c.ws.library(nil).Refresh(c.T.Context()) }

// TestSkillsLeaveTheRequestAlone checks that a skill added during a conversation changes no
// byte sent before: not the tools, the system prompt or any message. Additions and removals are
// announced once per session, including resumes. A compaction announces all skills again.
//
// Proves SKILL-27, SKILL-25.
func TestSkillsLeaveTheRequestAlone(t *testing.T) {
	p := newPlace(t)
	p.skill("deploy", "Deploys the service.")
	p.Write("work/long.txt", strings.Repeat("Much is said.\n", 1000)) // makes a compaction worthwhile
	c := p.chat("use Read {\"file_path\":\"long.txt\"}\n---\nforever\nsay Yes.", nil)
	c.say("First.")
	p.skill("lint", "Finds mistakes.")
	c.looked()
	c.say("Second.")
	if err := os.RemoveAll(p.Path("home/.adze/skills/deploy")); err != nil {
		t.Fatal(err)
	}
	c.looked()
	c.say("Third.")
	c.say("Fourth.")
	sent := c.sent()
	if len(sent) != 5 {
		t.Fatalf("%d requests", len(sent))
	}
	var last []byte
	for i := range sent {
		now := unmarked(t, p.Path(fmt.Sprintf("sent/%03d-request.json", i+1)))
		if !bytes.HasPrefix(now, last) || toolsOf(t, sent[i]) != toolsOf(t, sent[0]) {
			t.Errorf("request %d begins otherwise", i+1)
		}
		last = now
	}
	for _, tt := range []struct {
		told string
		in   int // index of the first request that contains it
	}{{`\n- deploy: Deploys the service.`, 0}, {`\n- lint: Finds mistakes.`, 2}, {"Skills that are no longer there: deploy.", 3}} {
		for i, body := range sent {
			want := 0
			if i >= tt.in {
				want = 1
			}
			if n := strings.Count(body, tt.told); n != want {
				t.Errorf("request %d: %q appears %d times", i+1, tt.told, n)
			}
		}
	}
	id := c.Session.ID()
	c.Close()
	p.skill("notes", "Writes notes.")
	c = p.chat("when text \"Summarise this conversation\"\nsay <summary>All was said.</summary>\n---\nsay Yes.\n---\nsay Yes.", func(s *Spec) { s.Session.Resume = id })
	c.say("Fifth.")
	sent = c.sent()
	if !bytes.HasPrefix(unmarked(t, p.Path("sent/001-request.json")), last) {
		t.Error("the resumed session begins otherwise")
	}
	if _, news, _ := strings.Cut(sent[0], "Fourth."); strings.Count(news, `\n- notes: Writes notes.`) != 1 || strings.Contains(news, "lint") {
		t.Errorf("told after it was resumed: %s", news)
	}
	c.do(session.Compact{Focus: "all"})
	c.say("Sixth.")
	sent = c.sent()
	_, opening, _ := strings.Cut(sent[len(sent)-1], `"messages"`)
	for _, told := range []string{`\n- lint: Finds mistakes.`, `\n- notes: Writes notes.`, "`/<name>` in a message"} {
		if strings.Count(opening, told) != 1 {
			t.Errorf("%q after the compaction: %s", told, opening)
		}
	}
	if strings.Contains(opening, "deploy") || strings.Contains(opening, "More skills") {
		t.Errorf("after the compaction: %s", opening)
	}
}

// TestNothingIsSaidOfSkills checks that without the Skill tool, and in a bare conversation,
// requests are byte for byte the same as without skills.
//
// Proves SKILL-27, CTX-25.
func TestNothingIsSaidOfSkills(t *testing.T) {
	for name, change := range map[string]func(*Spec){
		"bare":             func(s *Spec) { s.Bare = true },
		"denied":           func(s *Spec) { s.Access.Deny = []string{"Skill"} },
		"some other tools": func(s *Spec) { s.Access.Chosen, s.Access.Tools = true, []string{"Read"} },
	} {
		p := newPlace(t)
		var bodies []string
		for _, skills := range []int{0, 1, 400} {
			for i := range skills {
				p.skill(fmt.Sprintf("skill-%03d", i), "Helps with much.")
			}
			c := p.chat("say Yes.", change)
			c.say("Help with much.")
			bodies = append(bodies, strings.ReplaceAll(c.sent()[0], c.Session.ID(), "ID"))
			c.Close()
		}
		if bodies[0] != bodies[1] || bodies[0] != bodies[2] || strings.Contains(bodies[0], "DiscoverSkills") {
			for i, body := range bodies[1:] {
				at := common([]byte(bodies[0]), []byte(body))
				t.Errorf("%s: request %d differs from %q on", name, i+1, body[max(0, at-300):min(len(body), at+300)])
			}
		}
	}
}

// TestManySkills checks that with more skills than the list describes, the model finds them
// through search and gets suggestions, each once, also in a resumed session. The tool list is
// the same as with few skills, and tool suggestions are tracked separately.
//
// Proves SKILL-33, X-036, X-061.
func TestManySkills(t *testing.T) {
	p := newPlace(t)
	for i := range 500 {
		p.skill(fmt.Sprintf("skill-%03d", i), fmt.Sprintf("Helps with matter number %03d.", i))
	}
	p.skill("zebra", "Paints stripes on zebras.")
	c := p.chat(`use SearchExtraTools {"query":"find skills"}
---
expect result toolu_1_1 "DiscoverSkills"
use ExecuteExtraTool {"tool_name":"DiscoverSkills","params":{"query":"stripes"}}
use ExecuteExtraTool {"tool_name":"DiscoverSkills","params":{"query":" "}}
---
expect result toolu_2_1 "- zebra: Paints stripes on zebras."
expect result toolu_2_1 "Next: Skill {\"skill\": \"zebra\"}"
expect result toolu_2_2 "no words to search for"
say Found.
---
forever
say Yes.`, nil)
	c.say("Do something.")
	c.say("Paint stripes.") // the model found that one itself
	c.say("What about matter number 007?")
	c.say("What about matter number 007?")
	sent := c.sent()
	last := sent[len(sent)-1]
	const note = "Skills that may help; run one with Skill:"
	if n := strings.Count(last, note); n != 1 || strings.Count(last, `\n- skill-007: Helps with matter number 007.`) != 1 || strings.Contains(last, `- zebra: Paints stripes on zebras.\n</system-reminder>`) {
		t.Errorf("suggested %d times: %s", n, tail(sent))
	}
	if !strings.Contains(last, "built in: DiscoverSkills") || strings.Contains(toolsOf(t, last), "DiscoverSkills") {
		t.Errorf("the tool is not announced, or is in the request: %.3000s", last)
	}
	if c.prompt.extras.Discovered.Has("skill-007") || c.prompt.extras.Discovered.Has("zebra") {
		t.Error("skills are among the tools that the model has come across")
	}
	id := c.Session.ID()
	c.Close()
	c = p.chat("say Back.", func(s *Spec) { s.Session.Resume = id })
	c.say("What about matter number 007?")
	body := c.sent()[0]
	if strings.Count(body, note) != strings.Count(last, note) {
		t.Errorf("suggested again after it was resumed: %s", tail(c.sent()))
	}
}

// TestUsedSkillsAreNamed checks that if not even all skill names fit, the used ones are listed.
//
// Proves SKILL-26, SKILL-32.
func TestUsedSkillsAreNamed(t *testing.T) {
	p := newPlace(t)
	p.Vars["ADZE_SKILL_CHAR_BUDGET"] = "600"
	for i := range 100 {
		p.skill(fmt.Sprintf("skill-%03d", i), "Helps with much.")
	}
	p.skill("zebra", "Paints stripes.")
	for i, want := range []int{0, 1} {
		c := p.chat("use Skill {\"skill\":\"zebra\"}\n---\nsay Done.", nil)
		c.say("Go.")
		if n := strings.Count(c.sent()[0], `\n- zebra\n`); n != want {
			t.Errorf("conversation %d: it is named %d times in %.2000s", i+1, n, c.sent()[0])
		}
		c.Close()
	}
}
