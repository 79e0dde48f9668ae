package startcache

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"adze/internal/domain/agentdef"
	"adze/internal/domain/plugin"
	"adze/internal/platform/fs/cachefile"
	"adze/internal/prompt"
)

var example = Listing{
	Plugins: Plugins{Served: true, Errors: []string{"one is broken"}, Hooks: []Hooks{{plugin.ID{Name: "fmt", Market: "team"}, "/root", "/data", `{"Stop":[]}`}}},
	Agents: []*agentdef.Definition{
		{Name: "fmt:helper", Description: "Helps.", Source: agentdef.Source{Kind: agentdef.Plugin, By: "fmt@team"}},
		needy(),
	},
	Skills: Skills{Tool: "Skill", Finder: "DiscoverSkills", Budget: 8000, Words: NewWords("abcd"), List: prompt.SkillList{Text: "- a\n- b", Told: json.RawMessage(`{"named":["a","b"]}`), Names: "a\nb\nc\n"}},
}

// needy returns an agent that requires servers.
func needy() *agentdef.Definition {
	d := &agentdef.Definition{Name: "needy"}
	d.Required, d.Servers = []string{"git*"}, []agentdef.Server{{Name: "github"}, {Name: "own", Config: json.RawMessage(`{}`)}}
	return d
}

// A setting is a directory with the files a start depends on.
type setting struct {
	*testing.T
	dir string
	cfg Config
}

func newSetting(t *testing.T) *setting {
	s := &setting{T: t, dir: t.TempDir()}
	s.cfg = Config{
		Path: filepath.Join(s.dir, "kept", "start"), Key: []string{"a", "b"},
		Files: []string{s.path("folder"), s.path("not there")}, Replaced: []string{s.path("index")},
	}
	s.write("folder/file", "x")
	s.write("index", "x")
	s.write("agent", "x")
	return s
}

func (s *setting) path(name string) string { return filepath.Join(s.dir, name) }

func (s *setting) write(name, text string) {
	s.Helper()
	if err := os.MkdirAll(filepath.Dir(s.path(name)), 0o755); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(s.path(name), []byte(text), 0o644); err != nil {
		s.Fatal(err)
	}
}

// keep stores the example, which depends on one more file, as a session does.
func (s *setting) keep(settled time.Duration) {
	b := Open(s.cfg)
	b.settled = settled
	b.Keep(func() (*Listing, []File) { return &example, []File{look(s.path("agent"))} })
	b.Keep(func() (*Listing, []File) { s.Error("it is made twice"); return nil, nil })
	b.Close()
}

// TestStart checks that a stored start is used by the next session as long as no dependency has
// changed, and that a damaged file is ignored.
//
// Proves SKILL-07.
func TestStart(t *testing.T) {
	s := newSetting(t)
	s.keep(0)
	got, want := *Open(s.cfg).Start(), example
	if got.Skills.Words.Text() != "abcd" {
		t.Errorf("the words are %q", got.Skills.Words.Text())
	}
	if got.Skills.Words, want.Skills.Words = nil, nil; !reflect.DeepEqual(got, want) {
		t.Fatalf("it is %+v", got)
	}
	data, err := os.ReadFile(s.cfg.Path)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(s *setting){
		"another key":      func(s *setting) { s.cfg.Key = []string{"ab"} },
		"a longer key":     func(s *setting) { s.cfg.Key = append(s.cfg.Key, "") },
		"another file":     func(s *setting) { s.cfg.Files = append(s.cfg.Files, s.path("index")) },
		"a new entry":      func(s *setting) { s.write("folder/new", "y") },
		"a file that came": func(s *setting) { s.write("not there", "y") },
		"an index":         func(s *setting) { s.write("index", "other") },
		"a file":           func(s *setting) { s.write("agent", "other") },
		"a file that went": func(s *setting) { os.Remove(s.path("agent")) },
		"a cut":            func(s *setting) { s.write("kept/start", string(data[:len(data)-1])) },
		"a byte":           func(s *setting) { s.write("kept/start", string(data[:len(data)/2])+"~"+string(data[len(data)/2+1:])) },
		"nothing":          func(s *setting) { os.Remove(s.cfg.Path) },
		"others can write": func(s *setting) { os.Chmod(s.cfg.Path, 0o666) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSetting(t)
			s.keep(0)
			if Open(s.cfg).Start() == nil {
				t.Fatal("there is none")
			}
			change(s)
			if got := Open(s.cfg).Start(); got != nil {
				t.Errorf("it counts still: %+v", got)
			}
		})
	}
}

// TestWords checks that damaged, missing or mismatched words are ignored without invalidating
// the start.
//
// Proves SKILL-07.
func TestWords(t *testing.T) {
	for name, change := range map[string]func(s *setting){
		"gone":    func(s *setting) { os.Remove(wordsFile(s.cfg.Path)) },
		"damaged": func(s *setting) { s.write("kept/start.words", "adze-words 1\nabcd") },
		"others": func(s *setting) {
			if err := NewWords("abcde").save(s.cfg.Path); err != nil {
				t.Fatal(err)
			}
		},
		"not kept": func(s *setting) {
			b := Open(s.cfg)
			b.settled = 0
			b.Keep(func() (*Listing, []File) { return &Listing{Skills: Skills{Tool: "Skill"}}, nil })
			b.Close()
		},
	} {
		s := newSetting(t)
		s.keep(0)
		change(s)
		start := Open(s.cfg).Start()
		if start == nil {
			t.Fatalf("%s: no cached start", name)
		}
		if text := start.Skills.Words.Text(); text != "" {
			t.Errorf("%s: they are %q", name, text)
		}
	}
}

// TestFresh checks that a start is not stored if a dependency was just changed, since it could
// change again without a new timestamp. An index, which is always replaced, can be new.
func TestFresh(t *testing.T) {
	for name, tt := range map[string]struct {
		old  []string
		kept bool
	}{
		"a folder": {[]string{"agent", "index"}, false},
		"an agent": {[]string{"folder", "index"}, false},
		"an index": {[]string{"folder", "agent"}, true},
		"nothing":  {[]string{"folder", "agent", "index"}, true},
	} {
		s := newSetting(t)
		b := Open(s.cfg)
		agent := look(s.path("agent"))
		for _, f := range append([]*File{&agent}, &b.files[0], &b.files[2]) {
			if slices.Contains(tt.old, filepath.Base(f.Path)) {
				f.Stamp.CTime, f.Stamp.MTime = f.Stamp.CTime-int64(time.Hour), f.Stamp.MTime-int64(time.Hour)
			}
		}
		b.save(&example, []File{agent})
		if _, err := os.Stat(s.cfg.Path); (err == nil) != tt.kept {
			t.Errorf("%s is new: %v", name, err)
		}
	}
}

// TestOutdated checks that an invalid start is not even built.
func TestOutdated(t *testing.T) {
	s := newSetting(t)
	b := Open(s.cfg)
	s.write("index", "concurrent write")
	b.Keep(func() (*Listing, []File) { t.Error("it is made"); return nil, nil })
	b.Close()
}

// TestNothing checks that nothing is stored if make returns nil, or if the book is nil or
// closed.
func TestNothing(t *testing.T) {
	s := newSetting(t)
	b := Open(s.cfg)
	b.Keep(func() (*Listing, []File) { return nil, nil })
	b.Close()
	b.Keep(func() (*Listing, []File) { t.Error("it is closed"); return nil, nil })
	b.Close()
	var none *Cache
	none.Keep(func() (*Listing, []File) { t.Error("there is none"); return nil, nil })
	none.Close()
	if none.Start() != nil || none.Is(nil) || Open(s.cfg).Start() != nil || !b.Is(s.cfg.Key) {
		t.Error("there is one")
	}
}

// TestLater checks that a start is written shortly after Keep, so that it survives if the
// process is killed later.
func TestLater(t *testing.T) {
	s := newSetting(t)
	b := Open(s.cfg)
	b.settled, b.delay = 0, 10*time.Millisecond
	b.Keep(func() (*Listing, []File) { return &example, nil })
	for end := time.Now().Add(time.Minute); Open(s.cfg).Start() == nil; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it is not written")
		}
	}
	b.Close()
}

// FuzzDecode checks that a forged file with a valid checksum is handled, and that decoded data
// can be written again.
func FuzzDecode(f *testing.F) {
	path := filepath.Join(f.TempDir(), "start")
	f.Add("\x01\x02\x05error\x01\x03fmt\x04team\x01/\x01/\x02{}\x01\x01a\x01b\x00\x04\x00\x00\x05Skill\x00\x10\x01t\x02{}\x02a\n\x00")
	f.Add("\x00\x00\xff\xff\xff\xff\xff\x01")
	f.Fuzz(func(t *testing.T, data string) {
		r := cachefile.NewReader(data)
		s, _ := decode(r)
		if !r.Whole() {
			return
		}
		w := &cachefile.Writer{}
		s.encode(w)
		if err := format.Save(path, w); err != nil {
			t.Fatal(err)
		}
		if got, words := decode(format.Load(path)); !reflect.DeepEqual(got, s) || words != 0 {
			t.Errorf("%+v is read as %+v", s, got)
		}
	})
}
