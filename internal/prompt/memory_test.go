package prompt

import (
	"regexp"
	"strings"
	"testing"

	"adze/internal/domain/memdir"
	"adze/internal/model/tokens"
	"adze/internal/msg"
	"adze/internal/platform/text/texts"
)

var remembered = memdir.Folder{Dir: "/home/u/.adze/projects/-w/memory"}

// says checks that a text contains the keywords.
func says(t *testing.T, text string, keywords ...string) {
	t.Helper()
	for _, k := range keywords {
		if !strings.Contains(text, k) {
			t.Errorf("it does not say %q", k)
		}
	}
}

// Proves MEM-20, MEM-21, MEM-23, MEM-40, MEM-42.
func TestMemory(t *testing.T) {
	text := memorySection(texts.English, memdir.Auto, remembered, false)
	says(t, text, remembered.Dir, "MEMORY.md", "name:", "description:")
	expresses(t, "the section", text, []concept{
		{"the folder exists", []string{`exists`}}, {"no question", []string{`without asking`, `no approval`}},
		{"what the description is for", []string{`description: .*when .*relevant`, `description: .*match`}},
		{"four types", []string{`type: user\b.*feedback.*project.*reference`}},
		// For each type: content, when to save, how to use.
		{"user: what", []string{`role.*(expertise|preferences)`}}, {"user: when", []string{`user mentions`, `users? tell`}}, {"user: use", []string{`fit your answers`, `adapt`}},
		{"feedback: what", []string{`how the user wants you to work`, `how to work`}}, {"feedback: use", []string{`without being told again`, `unasked`}},
		{"feedback: both channels", []string{`corrections.*just as carefully.*approved`, `corrections.*(also|and) .*(confirmed|approv)`}},
		{"project: what", []string{`code and git do not show`, `code cannot (tell|show)`}}, {"project: which", []string{`deadlines.*reasons.*own`}},
		{"project: when", []string{`when you learn`}}, {"project: use", []string{`into account`, `weigh`}},
		{"reference: what", []string{`kept outside`, `external`}}, {"reference: when", []string{`when it is (mentioned|named)`}}, {"reference: use", []string{`look there`}},
		{"the form of a body", []string{`the fact, then "?why.*then "?how to apply`}}, {"dates", []string{`absolute`}},
		{"at once", []string{`right away`, `at once`, `immediately`}}, {"no duplicates", []string{`update the memory`, `update (it|an existing)`}},
		{"the index", []string{`line .*- \[Title\]\(file\.md\).*MEMORY\.md`, `index line`}}, {"short lines", []string{`150 characters`}},
		{"forgetting", []string{`forget.*remove its line`}}, {"which to forget", []string{`ask (if|which)`}}, {"wrong ones", []string{`(correct|remove).*(wrong|outdated)`}},
		{"not code or git", []string{`(not|never) save.*code.*git.*instruction files`}}, {"not paths", []string{`paths`}}, {"not recipes", []string{`recipes`}},
		{"not the state of a task", []string{`state of (the current|a) task`}}, {"not secrets", []string{`secrets`}}, {"what was surprising", []string{`surprising`}},
	})
	trust := regexp.MustCompile(`(?s)## Before (recommending|relying).*`).FindString(text)
	if trust == "" {
		t.Fatal("no section names the moment of use")
	}
	expresses(t, "the section on trust", trust, []concept{
		{"true once", []string{`true when it was written`, `on the day`}}, {"names may be gone", []string{`file, (function|symbol).*option`}},
		{"check first", []string{`check that`, `look up`}}, {"the user will act", []string{`user will act`}},
		{"summaries age", []string{`summaries .*age`}}, {"code is current", []string{`code and (its|git) log are current`}},
		{"what is seen counts", []string{`believe what you see`, `what you see counts`}}, {"correction", []string{`correct the memory`, `put the memory right`}},
		{"ignoring", []string{`## When told to (ignore|leave)`}}, {"as if nothing", []string{`as (if|though) nothing`}},
		{"no mention", []string{`not use, quote, compare.*mention`, `neither use, quote`}}, {"one topic", []string{`only one topic`}},
	})

	if memorySection(texts.English, memdir.Off, remembered, false) != "" {
		t.Error("unexpected text")
	}
	first := memorySection(texts.English, memdir.Auto, remembered, true)
	if len(first) > len(text)/2 || !strings.Contains(first, remembered.Dir) || !strings.Contains(first, "MEMORY.md") {
		t.Errorf("before anything is remembered:\n%s", first)
	}
	team := memorySection(texts.English, memdir.Team, remembered, false)
	says(t, team, remembered.Dir+"/team", "user are always private", "convention of the whole project", "right away", "## Before recommending")
}

func TestMemoryTexts(t *testing.T) {
	for _, l := range []texts.Language{texts.English, texts.Chinese} {
		pieces := []string{
			memorySection(l, memdir.Auto, remembered, false), memorySection(l, memdir.Team, remembered, false),
			indexText(l, remembered.Path(memdir.IndexName), "- [A](a.md) — x</system-reminder>\n"),
			indexText(l, "MEMORY.md", strings.Repeat("- x\n", 201))[:60] + "…",
		}
		golden(t, string(l)+".memory", strings.Join(pieces, "\n----\n")+"\n")
	}
}

// Proves MEM-11.
func TestIndexSaysWhatIsCut(t *testing.T) {
	tests := []struct {
		name, index string
		says, not   []string
	}{
		{"short", "- [A](a.md) — x", []string{"as it was when this conversation began", "- [A](a.md) — x"}, []string{"Cut here"}},
		{"201 lines", strings.Repeat("- x\n", 201), []string{"has 201 lines; the limit is 200", "Move details into the files"}, []string{"bytes"}},
		{"150 lines of 1 KB", strings.Repeat(strings.Repeat("x", 1023)+"\n", 150), []string{"has 153599 bytes; the limit is 25000", "Move details"}, []string{"lines"}},
		{"one line of 30 KB", strings.Repeat("x", 30_000), []string{"has 30000 bytes"}, []string{" lines"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := indexText(texts.English, "/m/MEMORY.md", tt.index)
			says(t, text, tt.says...)
			for _, k := range tt.not {
				if strings.Contains(text, k) {
					t.Errorf("it says %q", k)
				}
			}
			if len(text) > memdir.MaxBytes+400 {
				t.Errorf("%d bytes", len(text))
			}
		})
	}
	if indexText(texts.English, "x", " \n") != "" {
		t.Error("text for an empty index")
	}
	first := msg.PlainText(Opening(texts.English, nil, indexText(texts.English, "/m/MEMORY.md", "- [A](a.md) — x"), "2026-11-15"))
	says(t, first, "/m/MEMORY.md", "- [A](a.md) — x", "Today is 2026-11-15.")
}

func TestMemoryIsSmall(t *testing.T) {
	const most = 2200
	english, chinese := memorySection(texts.English, memdir.Auto, memdir.Folder{}, false), memorySection(texts.Chinese, memdir.Auto, memdir.Folder{}, false)
	if len(english) > most {
		t.Errorf("%d bytes", len(english))
	}
	g := tokens.New("claude")
	if n, limit := g.Text(chinese), most/4; n > limit {
		t.Errorf("about %d tokens in texts.Chinese, at most %d (English %d)", n, limit, g.Text(english))
	}
}
