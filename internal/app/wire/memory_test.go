package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/agent"
	"adze/internal/app/models"
	"adze/internal/commands"
	"adze/internal/feature/memory"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/settings"
)

// A chat is a conversation with a scripted model.
type chat struct {
	*place
	*Conversation
}

// chat starts a conversation in the place.
func (p *place) chat(script string, change func(*Spec)) *chat {
	p.T.Helper()
	p.Write("model.replay", script)
	spec := Spec{Model: ModelSpec{Name: models.ReplayPrefix + p.Path("model.replay"), Record: p.Path("sent")}}
	if change != nil {
		change(&spec)
	}
	if err := os.RemoveAll(spec.Model.Record); err != nil {
		p.T.Fatal(err)
	}
	c, err := p.open(settings.Source{Trust: true}).Converse(p.T.Context(), spec)
	if err != nil {
		p.T.Fatal(err)
	}
	p.T.Cleanup(c.Close)
	return &chat{p, c}
}

// say sends a prompt and waits for the answer.
func (c *chat) say(text string) {
	c.T.Helper()
	c.do(session.Prompt{Parts: []msg.Part{&msg.Text{Text: text}}})
}

func (c *chat) do(op session.Op) {
	c.T.Helper()
	if err := c.Session.Submit(c.T.Context(), op); err != nil {
		c.T.Fatal(err)
	}
	if err := c.Session.Idle(c.T.Context()); err != nil {
		c.T.Fatal(err)
	}
	for e := range c.Session.Entries(c.T.Context(), 0, session.Latest) {
		if loop, ok := e.Event.(session.Loop); ok {
			if failed, ok := loop.Event.(agent.Failed); ok {
				c.T.Fatal(failed.Err)
			}
		}
		if e.Seq == c.Session.Last() {
			break
		}
	}
}

// sent returns all requests so far, in order of arrival.
func (c *chat) sent() []string {
	c.T.Helper()
	var all []string
	for i := 1; ; i++ {
		data, err := os.ReadFile(c.Path(fmt.Sprintf("sent/%03d-request.json", i)))
		if err != nil {
			return all
		}
		all = append(all, string(data))
	}
}

// remembers writes a memory file and its index line.
func (p *place) remembers(name, text string) {
	p.T.Helper()
	dir := p.memories()
	p.Write(dir+"/"+name+".md", fmt.Sprintf("---\nname: %s\ndescription: about %s\ntype: project\n---\n%s\n", name, name, text))
	index, _ := os.ReadFile(p.Path(dir + "/MEMORY.md"))
	p.Write(dir+"/MEMORY.md", string(index)+fmt.Sprintf("- [%s](%s.md) — hook of %s\n", name, name, name))
}

// memories returns the memory directory relative to the place's root.
func (p *place) memories() string {
	f, _, _ := memory.Folder(p.open(settings.Source{}).Project)
	rel, err := filepath.Rel(p.Root, f.Dir)
	if err != nil {
		p.T.Fatal(err)
	}
	return filepath.ToSlash(rel)
}

// Proves MEM-01.
func TestWorktreesShareMemory(t *testing.T) {
	p := newPlace(t)
	worktree := func(name, common string) {
		p.Write(common+"/worktrees/"+name+"/commondir", "../..\n")
		p.Write(common+"/worktrees/"+name+"/gitdir", p.Path(name+"/.git")+"\n")
		p.Write(name+"/.git", "gitdir: "+p.Path(common+"/worktrees/"+name)+"\n")
	}
	p.Write("work/.git/HEAD", "ref: refs/heads/main\n")
	worktree("tree", "work/.git")
	p.Write("work/deep/er/x", "")
	p.Write("bare.git/HEAD", "ref: refs/heads/main\n")
	p.Write("bare.git/objects/x", "")
	p.Write("bare.git/refs/x", "")
	worktree("one", "bare.git")
	worktree("two", "bare.git")
	p.Write("liar/.git", "gitdir: "+p.Path("work/.git/worktrees/tree")+"\n")
	p.Write("plain/x", "")
	at := func(dir string) string {
		p.env.Dir = p.Path(dir)
		return p.memories()
	}
	main := at("work")
	if want := "home/.adze/projects/"; !strings.HasPrefix(main, want) || !strings.HasSuffix(main, "-work/memory") {
		t.Error(main)
	}
	if got := at("tree"); got != main {
		t.Errorf("a worktree has %s", got)
	}
	if got := at("work/deep/er"); got != main {
		t.Errorf("a folder below has %s", got)
	}
	if one, two := at("one"), at("two"); one != two || one == main {
		t.Errorf("worktrees of a bare repository have %s and %s", one, two)
	}
	for _, dir := range []string{"liar", "plain"} {
		if got := at(dir); !strings.HasSuffix(got, "-"+dir+"/memory") {
			t.Errorf("%s has %s", dir, got)
		}
	}
}

// Proves MEM-02.
func TestMemoryDirectorySettings(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		env   map[string]string
		want  string
		said  string
	}{
		{"user", map[string]string{"home/.adze/settings.json": "own"}, nil, "own", ""},
		{"local over user", map[string]string{"home/.adze/settings.json": "own", "work/.adze/settings.local.json": "local"}, nil, "local", ""},
		{"managed over all", map[string]string{"work/.adze/settings.local.json": "local", "etc/managed-settings.json": "managed"}, nil, "managed", ""},
		{"the project is ignored", map[string]string{"work/.adze/settings.json": "home/.ssh"}, nil, "", "autoMemoryDirectory cannot be set by a project"},
		{"and of its other file too", map[string]string{"work/.claude/settings.json": "home/.ssh"}, nil, "", "autoMemoryDirectory cannot be set by a project"},
		{"the user's counts then", map[string]string{"work/.adze/settings.json": "evil", "home/.adze/settings.json": "own"}, nil, "own", "cannot be set by a project"},
		{"a host over all", map[string]string{"etc/managed-settings.json": "managed"}, map[string]string{"ADZE_MEMORY_PATH_OVERRIDE": "host"}, "host", ""},
		{"a host of the ecosystem", nil, map[string]string{"CLAUDE_COWORK_MEMORY_PATH_OVERRIDE": "host"}, "host", ""},
		{"a bad one", map[string]string{"home/.adze/settings.json": "home"}, nil, "", "is or holds your home directory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			p.Write("work/.git/HEAD", "ref: refs/heads/main\n")
			for name, dir := range tt.env {
				p.Vars[name] = p.Path(dir)
			}
			for file, dir := range tt.files {
				p.Write(file, fmt.Sprintf(`{"autoMemoryDirectory":%q}`, p.Path(dir)))
			}
			p.trust()
			m := p.open(settings.Source{}).openMemory(&Spec{})
			want := p.Path(tt.want)
			if tt.want == "" {
				want = p.Path("home/.adze/projects")
			}
			if got := m.Folder.Dir; got != want && filepath.Dir(filepath.Dir(got)) != want {
				t.Errorf("memories are in %s", got)
			}
			if said := p.said.String(); tt.said == "" && said != "" || !strings.Contains(said, tt.said) {
				t.Errorf("said: %s", said)
			}
		})
	}
}

// Proves MEM-04.
func TestMemorySwitches(t *testing.T) {
	tests := []struct {
		name     string
		settings string
		env      map[string]string
		bare     bool
		on       bool
	}{
		{"on", "{}", nil, false, true},
		{"setting", `{"autoMemoryEnabled":false}`, nil, false, false},
		{"variable", "{}", map[string]string{"ADZE_DISABLE_MEMORY": "1"}, false, false},
		{"bare", "{}", nil, true, false},
		{"simple", "{}", map[string]string{"ADZE_SIMPLE": "1"}, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			maps.Copy(p.Vars, tt.env)
			p.Write("home/.adze/settings.json", tt.settings)
			p.remembers("freeze", "From 2026-12-01.")
			c := p.chat("say Hello.", func(s *Spec) { s.Bare = tt.bare })
			c.say("hello")
			request := c.sent()[0]
			for _, text := range []string{"what you remember between conversations", "hook of freeze", "memory"} {
				if strings.Contains(request, text) != tt.on {
					t.Errorf("%q: %v", text, !tt.on)
				}
			}
		})
	}
	p := newPlace(t)
	c := p.chat("say Hello.", nil)
	c.say("hello")
	if _, err := os.Lstat(c.prompt.memory.Folder.Dir); err == nil {
		t.Error("the folder is there before anything was saved")
	}
}

// Proves MEM-01.
func TestMemoryThatCannotBe(t *testing.T) {
	p := newPlace(t)
	p.Write("home/file", "")
	p.Write("home/.adze/settings.json", fmt.Sprintf(`{"autoMemoryDirectory":%q}`, p.Path("home/file/memory")))
	c := p.chat("say Hello.", nil)
	c.say("hello")
	if said := p.said.String(); strings.Count(said, "memory is off in this session") != 1 {
		t.Error(said)
	}
	if strings.Contains(c.sent()[0], "what you remember") {
		t.Error("the announcement")
	}
}

// Proves MEM-05, MEM-23, MEM-24.
func TestMemoryIsWrittenUnasked(t *testing.T) {
	p := newPlace(t)
	p.remembers("old", "Outdated.")
	dir := p.Path(p.memories())
	p.Write("elsewhere/x.md", "precious")
	if err := os.Symlink(p.Path("elsewhere"), dir+"/out"); err != nil {
		t.Fatal(err)
	}
	write := func(path, content string) string {
		return fmt.Sprintf("use Write {\"file_path\":%q,\"content\":%q}\n---\n", path, content)
	}
	c := p.chat(write(dir+"/team/role.md", "---\nname: role\n---\nA lead.")+
		write(dir+"/key.md", "AKIAQ7RSTUVWXYZ2K4L9")+
		write(dir+"/out/new.md", "x")+
		write(dir+"/../up.md", "x")+
		write(dir+"/denied.md", "x")+
		fmt.Sprintf("use Read {\"file_path\":%q}\n---\n", dir+"/old.md")+
		write(dir+"/old.md", "")+
		"say Done.", func(s *Spec) { s.Access.Deny = []string{"Edit(//" + strings.TrimPrefix(dir, "/") + "/denied.md)"} })
	c.say("remember")
	want := map[string]bool{"team/role.md": true, "key.md": false, "../up.md": false, "denied.md": false, "old.md": false}
	for name, there := range want {
		if _, err := os.Lstat(filepath.Join(dir, name)); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Lstat(p.Path("elsewhere/new.md")); err == nil {
		t.Error("something was written through a link")
	}
	last := c.sent()[len(c.sent())-1]
	for _, told := range []string{"seems to contain a secret", "has to confirm it in an interactive session", "Not allowed: rule", "The memory is gone"} {
		if !strings.Contains(last, told) {
			t.Errorf("no request contains %q", told)
		}
	}
}

// recalling returns a script in which one model repeatedly selects memories while another one
// works.
func recalling(chosen string, main string) string {
	return fmt.Sprintf("when system \"You choose which saved memories\"\nforever\ntext %q\nusage input=100 output=10\n---\n%s", chosen, main)
}

// Proves MEM-30, MEM-31, MEM-32, LOOP-34.
func TestRecall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		p.Vars["ADZE_SMALL_MODEL"] = "haiku"
		for i := range 7 {
			p.remembers(fmt.Sprintf("m%d", i), fmt.Sprintf("Secret of m%d.", i))
		}
		answer := `{"memories":["m0.md","m1.md","nobody.md","m2.md","m3.md","m4.md","m5.md"]}`
		c := p.chat(recalling(answer, strings.Repeat("delay 2s\nuse Read {\"file_path\":\"file\"}\n---\nsay Done.\n---\n", 3)+"say <summary>Short.</summary>\n---\ndelay 2s\nuse Read {\"file_path\":\"file\"}\n---\nsay Done."), nil)
		parts := func(kind string) []string {
			var some []string
			for _, r := range c.sent() {
				if strings.Contains(r, "You choose which saved memories") == (kind == "side") {
					some = append(some, r)
				}
			}
			return some
		}
		c.say("Is the release at risk?")
		main, side := parts("main"), parts("side")
		if len(side) != 1 || !strings.Contains(side[0], "Is the release at risk?") || !strings.Contains(side[0], `"max_tokens": 256`) || !strings.Contains(side[0], "json_schema") {
			t.Fatalf("%d side queries: %s", len(side), side)
		}
		if strings.Contains(main[0], "Secret of") {
			t.Error("the first request has waited for memories, or they were put before it")
		}
		for i := range 7 {
			if got := strings.Contains(main[1], fmt.Sprintf("Secret of m%d.", i)); got != (i < 5) {
				t.Errorf("m%d: %v", i, got)
			}
		}
		if !bytes.HasPrefix(unmarkedText(t, main[1]), unmarkedText(t, main[0])) {
			t.Error("the beginning of the conversation has changed")
		}
		if got := c.Session.Totals().Models["claude-haiku-5-5"]; got.Output != 10 || got.CostUSD == 0 {
			t.Errorf("the side query was not booked: %+v", c.Session.Totals())
		}

		c.say("And the one after it?")
		side = parts("side")
		manifest := side[1][strings.Index(side[1], "Memories:"):]
		for i := range 7 {
			if got := strings.Contains(manifest, fmt.Sprintf("m%d.md", i)); got != (i >= 5) {
				t.Errorf("m%d is offered again: %v", i, got)
			}
		}
		if !strings.Contains(side[1], "Tools in recent use: Read") {
			t.Error("the tools are not told")
		}
		c.say("once more please") // m5 has been recalled by now
		for _, word := range []string{"yes", "/compact now"} {
			before := len(parts("side"))
			if got := c.prompt.memory.Recaller.Prefetch([]msg.Part{&msg.Text{Text: word}}, nil); got != nil || len(parts("side")) != before {
				t.Errorf("%q makes a side query", word)
			}
		}
		c.do(session.Compact{Focus: "all"})
		c.say("What about it now?")
		side = parts("side")
		if last := side[len(side)-1]; !strings.Contains(last, "m0.md") || !strings.Contains(last, "m6.md") {
			t.Errorf("after a compaction: %s", last)
		}
	})
}

// unmarkedText is [unmarked] for a request's text.
func unmarkedText(t *testing.T, request string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "request.json")
	if err := os.WriteFile(file, []byte(request), 0o600); err != nil {
		t.Fatal(err)
	}
	return unmarked(t, file)
}

// Proves MEM-32.
func TestRecallLeavesOutWhatTheModelHasRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		p.remembers("read", "x")
		p.remembers("other", "x")
		dir := p.Path(p.memories())
		c := p.chat(recalling(`{"memories":[]}`, fmt.Sprintf("delay 1s\nuse Read {\"file_path\":%q}\nuse Write {\"file_path\":%q,\"content\":\"x\"}\n---\nsay Done.\n---\ndelay 1s\nsay Done.", dir+"/read.md", dir+"/mine.md")), nil)
		c.say("Look it up please")
		c.say("And once more please")
		var side []string
		for _, r := range c.sent() {
			if _, list, ok := strings.Cut(r, "Memories:"); ok {
				side = append(side, list)
			}
		}
		if len(side) != 2 || !strings.Contains(side[0], "read.md") || strings.Contains(side[1], "read.md") || strings.Contains(side[1], "mine.md") || !strings.Contains(side[1], "other.md") {
			t.Error(side)
		}
	})
}

// Proves MEM-30, LOOP-34.
func TestRecallThatFails(t *testing.T) {
	for name, answer := range map[string]string{
		"not JSON": "say I would take m0.md", "an error": "error overloaded", "broken": "say {\ncut", "unknown": `text "{\"memories\":[\"x.md\"]}"`,
		"nothing": `text "{\"memories\":[]}"`, "late": `delay 29s` + "\n" + `text "{\"memories\":[\"m0.md\"]}"`, "never": "hang",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlace(t)
				p.remembers("m0", "Secret.")
				c := p.chat("when system \"You choose which saved memories\"\nforever\n"+answer+"\n---\ndelay 1s\nuse Read {\"file_path\":\"file\"}\n---\nsay Done.", nil)
				began := time.Now()
				c.say("Is the release at risk?")
				if took := time.Since(began); took > 3*time.Second {
					t.Errorf("the turn took %v", took)
				}
				for _, r := range c.sent() {
					if strings.Contains(r, "Secret.") {
						t.Error("a memory was sent")
					}
				}
				if said := p.said.String(); said != "" {
					t.Errorf("unexpected output: %s", said)
				}
			})
		})
	}
}

// Proves MEM-12.
func TestIndexIsAsItWasAtFirst(t *testing.T) {
	p := newPlace(t)
	p.remembers("a", "x")
	c := p.chat("say One.\n---\nsay Two.\n---\nsay Three.", nil)
	c.say("yes")
	p.remembers("b", "x")
	c.say("yes")
	sent := c.sent()
	if !strings.Contains(sent[0], "hook of a") || strings.Contains(sent[1], "hook of b") || !bytes.HasPrefix(unmarkedText(t, sent[1]), unmarkedText(t, sent[0])) {
		t.Error("the first message is another one")
	}
	var request struct {
		System, Messages json.RawMessage
	}
	if err := json.Unmarshal([]byte(sent[0]), &request); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(request.System), "hook of a") || !strings.Contains(string(request.System), "# Memory") || !strings.Contains(string(request.Messages), "hook of a") {
		t.Error("the index belongs into the first message, and how to use it into the system prompt")
	}
	c.prompt.announcer.Reset() // simulates a compaction
	c.say("yes")
	if sent := c.sent(); !strings.Contains(sent[2], "hook of b") {
		t.Error("after a compaction it is still the old one")
	}
	again := p.chat("say One.", nil) // simulates /clear
	again.say("yes")
	if !strings.Contains(again.sent()[0], "hook of b") {
		t.Error("the next conversation has the old one")
	}
}

// Proves MEM-42.
func TestMemoryOffIsOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		p.remembers("plan", "Marzipan, recalled.")
		p.remembers("read", "Nougat, read.")
		dir := p.Path(p.memories())
		script := recalling(`{"memories":["plan.md"]}`, fmt.Sprintf("delay 1s\nuse Read {\"file_path\":%q}\nuse Grep {\"pattern\":\"Nougat\",\"path\":%q,\"output_mode\":\"content\"}\n---\n", dir+"/read.md", dir)+
			fmt.Sprintf("use Write {\"file_path\":%q,\"content\":\"Fudge, written.\"}\n---\nsay Done.\n---\n", dir+"/new.md")+
			"delay 1s\nuse Read {\"file_path\":\"file\"}\n---\nsay Done.\n---\nsay <summary>Short.</summary>\n---\nsay Done.\n---\nsay Done.")
		c := p.chat(script, nil)
		c.say("What is the plan?")
		words := []string{"Marzipan", "Nougat", "Fudge", "hook of", "what you remember between"}
		before := strings.Join(c.sent(), "")
		for _, w := range words {
			if !strings.Contains(before, w) {
				t.Fatalf("%s was not sent before", w)
			}
		}
		d := c.Commands()
		if text, err := runCommand(t, d, "/memory off", 0); err != nil || !strings.Contains(text, "off") {
			t.Fatal(text, err)
		}
		n := len(c.sent())
		c.say("And without it?")
		c.do(session.Compact{Focus: "all"})
		c.say("And after that?")
		later := c.sent()[n:]
		if len(later) != 4 {
			t.Errorf("%d requests", len(later))
		}
		for i, r := range later {
			for _, w := range words {
				if strings.Contains(r, w) {
					t.Errorf("request %d has %q: %s", i, w, r)
				}
			}
		}
		if c.prompt.memory.Folder.Holds(dir+"/x.md") && strings.Contains(fmt.Sprint(c.Gate.Policy().Config().Editable), dir) {
			t.Error("the folder can still be written unasked")
		}
		if _, err := runCommand(t, d, "/memory on", 0); err != nil {
			t.Fatal(err)
		}
		c.say("yes")
		if sent := c.sent(); !strings.Contains(sent[len(sent)-1], "hook of plan") {
			t.Error("it is not on again")
		}
	})
}

// Proves CTX-26, MEM-04, MEM-10.
func TestMemoryPage(t *testing.T) {
	p := newPlace(t)
	p.Write("work/CLAUDE.md", "Rule. See @more.md and @gone.md.")
	p.Write("work/more.md", "More.")
	p.Write("work/AGENTS.md", "bad\x00")
	p.remembers("freeze", "x")
	p.Write(p.memories()+"/odd.md", "# Odd\n")
	c := p.chat("say Hello.", nil)
	r := c.Commands()
	page, err := runCommand(t, r, "/memory", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Memory is on: 2 memories.\nFolder: ~/" + strings.TrimPrefix(p.memories(), "home/") + "\n", "  project   freeze.md  about freeze\n", "  -         odd.md  Odd\n",
		"note: odd.md is not in the index", "note: odd.md has no type",
		"Instruction files in use:\n  CLAUDE.md (project)\n", "more.md (project, included by CLAUDE.md)",
		"note: AGENTS.md is not", "includes gone.md, which cannot be read",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in:\n%s", want, page)
		}
	}
	var edited []string
	for _, name := range []string{"freeze", "CLAUDE.md", "MEMORY.md"} {
		answer, err := r.Run(t.Context(), "memory", "edit "+name)
		if err != nil {
			t.Fatal(err)
		}
		edited = append(edited, answer.(commands.Edit).Path)
	}
	if want := []string{p.Path(p.memories() + "/freeze.md"), p.Path("work/CLAUDE.md"), p.Path(p.memories() + "/MEMORY.md")}; fmt.Sprint(edited) != fmt.Sprint(want) {
		t.Errorf("edited %v", edited)
	}
	for _, arg := range []string{"edit nobody", "edit", "away"} {
		if text, err := runCommand(t, r, "/memory "+arg, 0); err == nil {
			t.Errorf("%s: %s", arg, text)
		}
	}
}

// TestSmallModel checks that the small model is known to exist at the endpoint: a local server
// is never sent another vendor's model.
//
// Proves PROV-58.
func TestSmallModel(t *testing.T) {
	for _, tt := range []struct{ base, main, name, want string }{
		{"", "default", "", "claude-haiku-5-5"},
		{"https://api.anthropic.com/", "fable", "", "claude-haiku-5-5"},
		{"", "default", "sonnet", "claude-sonnet-5-5"},
		{"", "default", "nobody-knows", "claude-opus-5-5"},
		{"http://127.0.0.1:9", "llama-4", "", "llama-4"},
		{"http://127.0.0.1:9", "default", "", "claude-opus-5-5"},
		{"http://127.0.0.1:9", "default", "haiku", "claude-haiku-5-5"},
		{"http://127.0.0.1:9", "llama-4", "llama-4-tiny", "llama-4-tiny"},
	} {
		p := newPlace(t)
		p.Vars["ANTHROPIC_SMALL_FAST_MODEL"] = tt.name
		p.Vars["ANTHROPIC_BASE_URL"], p.Vars["ANTHROPIC_API_KEY"] = tt.base, "key"
		ws := p.open(settings.Source{})
		m := &models.Choice{ChoiceConfig: ws.modelConfig(), Name: tt.main}
		var err error
		if m.Backend, err = models.Open(ws.backendConfig(ModelSpec{}), tt.main); err != nil {
			t.Fatal(err)
		}
		got, _ := m.Small()
		again, main := m.Small()
		if wanted, err := m.Resolve(tt.main); got != tt.want || again != tt.want || err != nil || main != wanted.ID {
			t.Errorf("%+v: %s", tt, got)
		}
		m.Current = func() string { return "haiku" } // simulates /model
		if small, main := m.Small(); main != "claude-haiku-5-5" || tt.name == "" && small != main {
			t.Errorf("%+v: %s beside %s", tt, small, main)
		}
		if said := p.said.String(); strings.Count(said, "the small model") != strings.Count(tt.name, "nobody") {
			t.Errorf("%+v: %s", tt, said)
		}
		// Opus 5.5 and Haiku 5.5 default to less effort than coding needs; finding 15.
		if got, want := m.Working(tt.main), (tt.main == "default" && tt.base == ""); (got == model.EffortHigh) != want {
			t.Errorf("%+v: effort %q", tt, got)
		}
	}
}
