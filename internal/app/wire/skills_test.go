package wire

import (
	"slices"
	"testing"

	"adze/internal/commands"
	"adze/internal/settings"
)

// TestSkillsAreNoticed checks that a skill added during a conversation can be called.
//
// Proves SKILL-07.
func TestSkillsAreNoticed(t *testing.T) {
	p := newPlace(t)
	c := p.converse("say hello", Spec{Entry: Host})
	changed := make(chan struct{}, 10)
	defer c.ws.library(nil).Watch(func() { changed <- struct{}{} })()
	if slices.Contains(c.skills.Names(), "fresh") {
		t.Fatal("it is there already")
	}
	p.Write("home/.adze/skills/fresh/SKILL.md", "---\ndescription: Fresh\n---\nBe fresh.")
	for !slices.Contains(c.skills.Names(), "fresh") {
		<-changed
	}
	answer, err := c.Commands().Run(t.Context(), "fresh", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := answer.(commands.Prompt); !ok {
		t.Errorf("%T", answer)
	}
}

// TestSkillsOfAnUntrustedWorkspace checks that an untrusted workspace's skills are not used,
// including skills next to files the model touches.
//
// Proves PERM-70.
func TestSkillsOfAnUntrustedWorkspace(t *testing.T) {
	p := newPlace(t)
	p.Write("work/.claude/skills/theirs/SKILL.md", "---\ndescription: Theirs\n---\nDo it.")
	p.Write("model.replay", "say hello")
	w := p.open(settings.Source{})
	c, err := w.Converse(t.Context(), Spec{Model: ModelSpec{Name: "replay:" + p.Path("model.replay")}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if names := c.skills.Names(); slices.Contains(names, "theirs") {
		t.Errorf("%q", names)
	}
	if _, err := c.Commands().Run(t.Context(), "theirs", ""); err == nil {
		t.Error("it can be called")
	}
}
