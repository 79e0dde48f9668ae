package prompt

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/domain/memdir"
	"adze/internal/msg"
	"adze/internal/platform/text/texts"
)

// A process holds the inputs of a prompt in one process.
type process struct {
	answer   string
	memory   memdir.Mode
	language texts.Language
	choice   Choice
	fast     bool
	tools    []msg.ToolSpec
	spare    string
}

func specOf(name, doc, schema string) msg.ToolSpec {
	return msg.ToolSpec{Name: name, Description: doc, Schema: json.RawMessage(schema)}
}

// TestBeginning checks that a process that resumes a session keeps the request prefix, unless
// the user changed it or a tool must be listed, and that differences are announced once.
//
// Proves SESS-22.
func TestBeginning(t *testing.T) {
	const schema = `{"type":"object","pattern":"<a>"}`
	read, bash := specOf("Read", "Reads.", schema), specOf("Bash", "Runs.", schema)
	first := process{answer: "français", language: texts.English, tools: []msg.ToolSpec{read, bash}}
	rhymes := "Speak in rhymes."
	for _, tt := range []struct {
		name    string
		change  func(*process)
		renewed bool
		news    []string // nil if nothing is announced
	}{
		{"nothing", func(*process) {}, false, nil},
		{"no language", func(p *process) { p.answer = "" }, false, []string{"No longer true: Language."}},
		{"surroundings", func(p *process) { p.fast = true }, false, []string{"# Environment"}},
		{"a tool is gone", func(p *process) { p.tools = []msg.ToolSpec{read} }, false, []string{"refused: Bash."}},
		{"a tool is described otherwise in a line", func(p *process) {
			p.tools = []msg.ToolSpec{read, specOf("Bash", bash.Description+"\n- It waits.", schema)}
		}, false, []string{"How to use Bash:\n- It waits."}},
		{"a tool is described otherwise", func(p *process) { p.tools = []msg.ToolSpec{read, specOf("Bash", "Runs and waits.", schema)} }, false, []string{"How to use Bash:\nRuns and waits."}},
		{"a tool is called otherwise", func(p *process) { p.tools = []msg.ToolSpec{read, specOf("Bash", "Runs.", `{}`)} }, true, nil},
		{"a tool came", func(p *process) { p.tools = []msg.ToolSpec{read, bash, specOf("Output", "Gives.", schema)} }, true, nil},
		{"a spare tool came", func(p *process) {
			p.tools, p.spare = []msg.ToolSpec{read, bash, specOf("Plan", "Plans.", schema)}, "Plan"
		}, false, nil},
		{"memory", func(p *process) { p.memory = memdir.Auto }, true, nil},
		{"the user's own prompt", func(p *process) { p.choice.Custom = &rhymes }, true, nil},
		{"the user's own words", func(p *process) { p.choice.Append = rhymes }, true, nil},
		{"another language", func(p *process) { p.language = texts.Chinese }, true, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			notes := map[string]json.RawMessage{}
			run := func(p process) (TurnPrefix, []string) {
				language := func() texts.Language { return p.language }
				k := &PrefixStore{Version: "1", Language: language, Note: func(kind string, fields map[string]any) {
					note, err := json.Marshal(fields)
					if err != nil {
						t.Error(err)
					}
					notes[kind] = note
				}}
				prompt := NewPrompt(PromptConfig{
					Memory: Memory{memdir.Folder{Dir: "/m"}, func() memdir.Mode { return p.memory }},
					Choice: p.choice, Facts: Facts{Env: Environment{Dir: "/w", Fast: p.fast}},
					Model: func(id string) Model { return Model{ID: id} }, Language: language,
					Answer: func() string { return p.answer }, Shared: func() bool { return false },
					Note:  func(text string) { t.Error(text) },
					Spare: func(name string) bool { return name == p.spare }, Keeper: k,
				})
				k.Restore(notes, prompt, nil)
				news := prompt.News("m", p.tools)
				begun := prompt.Begin("m", p.tools)
				if again := prompt.Begin("m", p.tools); again.Renewed || again.System[0] != begun.System[0] {
					t.Error("it begins otherwise in the same process")
				}
				k.Save()
				return begun, news
			}
			begun, news := run(first)
			if !begun.Renewed || news != nil {
				t.Errorf("the first is renewed %t, news %q", begun.Renewed, news)
			}
			p := first
			tt.change(&p)
			next, news := run(p)
			if next.Renewed != tt.renewed || (news != nil) != (tt.news != nil) {
				t.Fatalf("renewed %t, news %q", next.Renewed, news)
			}
			for _, words := range tt.news {
				if !strings.Contains(news[0], words) {
					t.Errorf("%q is not in %q", words, news[0])
				}
			}
			same := cmp.Equal(begun.System, next.System) && cmp.Equal(begun.Tools, next.Tools)
			if same == tt.renewed {
				t.Errorf("the bytes are the same: %t", same)
			}
			if last, news := run(p); last.Renewed || news != nil {
				t.Errorf("in a third process: renewed %t, news %q", last.Renewed, news)
			}
			p.tools = first.tools
			if _, news := run(p); (news != nil) != (strings.HasPrefix(tt.name, "a tool ") && tt.name != "a tool is called otherwise") {
				t.Errorf("when the tools are back: %q", news)
			}
		})
	}
}

// TestBeginningAfterACompaction checks that after a compaction requests start with a current
// prefix.
//
// Proves CTX-06.
func TestBeginningAfterACompaction(t *testing.T) {
	answer := "français"
	p := NewPrompt(PromptConfig{
		Model: func(id string) Model { return Model{ID: id} }, Language: func() texts.Language { return texts.English },
		Answer: func() string { return answer }, Shared: func() bool { return false },
	})
	p.Begin("m", nil)
	p.Reset()
	if b := p.Begin("m", nil); b.Renewed {
		t.Error("it is renewed, though nothing has changed")
	}
	answer = "suomi"
	if b := p.Begin("m", nil); b.Renewed {
		t.Error("it is renewed without a compaction")
	}
	p.Reset()
	if news := p.News("m", nil); news != nil {
		t.Errorf("announcement of the opening: %q", news)
	}
	if b := p.Begin("m", nil); !b.Renewed || !strings.Contains(msg.PlainText(b.System), "suomi") {
		t.Error("it is not renewed")
	}
}

// TestBadNotes checks that a note that is damaged or from another version is ignored.
func TestBadNotes(t *testing.T) {
	const whole = `{"version":"1","blocks":[{"pieces":[{"name":"identity","text":"You are a stone."}]}],"tools":[{"name":"T","schema":"{}"}]}`
	for note, want := range map[string]bool{
		whole: true,
		"":    false, "x": false, "{}": false, "[]": false,
		strings.Replace(whole, `"1"`, `"2"`, 1):                     false,
		strings.Replace(whole, `"You are a stone."`, `""`, 1):       false,
		strings.Replace(whole, `"schema":"{}"`, `"schema":"{"`, 1):  false,
		strings.Replace(whole, `"T"`, `""`, 1):                      false,
		strings.Replace(whole, `"blocks":[`, `"blocks":[{},`, 1):    false,
		strings.Replace(whole, `"blocks":[`, `"blocks":7,"x":[`, 1): false,
	} {
		k := &PrefixStore{Version: "1", Language: func() texts.Language { return texts.English }}
		p := NewPrompt(PromptConfig{Keeper: k})
		k.Restore(map[string]json.RawMessage{beginningKind + "m": json.RawMessage(note), toldKind: json.RawMessage(note), openingKind: json.RawMessage(note)}, p, nil)
		if got := p.begun["m"] != nil; got != want {
			t.Errorf("%s: taken over: %t", note, got)
		}
	}
}

// TestNotesAreJSON checks that the notes of a new session, written without reflection, survive
// a round trip.
func TestNotesAreJSON(t *testing.T) {
	odd := "\"\\\n\t\x00\u2028<&>ü\U0001f600"
	b := RequestPrefix{
		Version: odd,
		Blocks:  []Block{{Pieces: []Piece{{odd, odd}, {"b", ""}}, Marked: true}, {Pieces: []Piece{{"c", "d"}}, Global: true}},
		Tools:   []ListedTool{{odd, odd, odd, true}, {Name: "n"}},
	}
	notes := map[string]json.RawMessage{}
	k := &PrefixStore{Version: odd, Language: func() texts.Language { return texts.Chinese }}
	k.Note = func(kind string, fields map[string]any) {
		data, err := json.Marshal(fields)
		if err != nil {
			t.Error(err)
		}
		notes[kind] = data
	}
	k.begun("m", b)
	k.opened(b.Blocks[0].Pieces)
	var begun RequestPrefix
	if err := json.Unmarshal(notes[beginningKind+"m"], &begun); err != nil || cmp.Diff(b, begun) != "" {
		t.Errorf("%v\n%s", err, cmp.Diff(b, begun))
	}
	var opening struct {
		Version, Language string
		Pieces            []Piece
	}
	err := json.Unmarshal(notes[openingKind], &opening)
	if err != nil || opening.Version != odd || opening.Language != string(texts.Chinese) || cmp.Diff(b.Blocks[0].Pieces, opening.Pieces) != "" {
		t.Errorf("%v\n%+v", err, opening)
	}
}
