package mention

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFind(t *testing.T) {
	for text, want := range map[string][]Mention{
		"look at @a.go":               {{Path: "a.go", Text: "@a.go"}},
		"@src/a.go, and @b/.":         {{Path: "src/a.go", Text: "@src/a.go"}, {Path: "b/", Text: "@b/"}},
		`(@"my file.txt")`:            {{Path: "my file.txt", Text: `@"my file.txt"`}},
		`@"my file.txt"#L3-5 x`:       {{Path: "my file.txt", Text: `@"my file.txt"#L3-5`, First: 3, Last: 5}},
		"@a.go#L10-20.":               {{Path: "a.go", Text: "@a.go#L10-20", First: 10, Last: 20}},
		"@a.go#L7":                    {{Path: "a.go", Text: "@a.go#L7", First: 7, Last: 7}},
		"@a.go#L7-L9":                 {{Path: "a.go", Text: "@a.go#L7-L9", First: 7, Last: 9}},
		"@a.go#L9-7":                  {{Path: "a.go#L9-7", Text: "@a.go#L9-7"}},
		"@a.go#L0":                    {{Path: "a.go#L0", Text: "@a.go#L0"}},
		"@a.go#L99999999999999":       {{Path: "a.go#L99999999999999", Text: "@a.go#L99999999999999"}},
		"@notes#1.md":                 {{Path: "notes#1.md", Text: "@notes#1.md"}},
		"@a @a @a#L1":                 {{Path: "a", Text: "@a"}, {Path: "a", Text: "@a#L1", First: 1, Last: 1}},
		"@~/x and @/etc/hosts":        {{Path: "~/x", Text: "@~/x"}, {Path: "/etc/hosts", Text: "@/etc/hosts"}},
		"看，@源/文件.go。":                 {{Path: "源/文件.go", Text: "@源/文件.go"}},
		"mail me@example.com":         nil,
		"@":                           nil,
		"@ @\n@\t":                    nil,
		`@"not closed`:                nil,
		"@\"over\nlines\"":            nil,
		"":                            nil,
		"@../up @.":                   {{Path: "../up", Text: "@../up"}},
		"\xff@a":                      nil,
		"@" + strings.Repeat("x@", 3): {{Path: "x@x@x@", Text: "@x@x@x@"}},
	} {
		if diff := cmp.Diff(want, Find(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	if n := len(Find(strings.Repeat("@a", 1) + strings.Repeat(" @b @c", 1000))); n != 3 {
		t.Errorf("%d mentions, each once", n)
	}
}

func TestWrite(t *testing.T) {
	for path, want := range map[string]string{"a/b.go": "@a/b.go", "my file": `@"my file"`, "what?": `@"what?"`} {
		if got := Write(path); got != want || len(Find(got)) != 1 || Find(got)[0].Path != path {
			t.Errorf("%s: %s", path, got)
		}
	}
}

func TestTyped(t *testing.T) {
	for text, want := range map[string]string{
		"look at @src/a": "src/a", "@": "", `see @"my fi`: "my fi", "@a @b": "b", "me@example": "-", "@a ": "-", `@"a" `: "-", "no": "-", "": "-",
		"@types/node@1": "types/node@1",
	} {
		path, at, ok := Typed(text)
		if !ok {
			path = "-"
		}
		if path != want || ok && text[at] != '@' {
			t.Errorf("%q: %q at %d", text, path, at)
		}
	}
}

func FuzzFind(f *testing.F) {
	for _, s := range []string{"@a", `@"b c"#L1-2`, "@@@", "x@y", "@\xff", "@#L1", `@""`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, m := range Find(text) {
			if m.Path == "" || !strings.Contains(text, m.Text) || m.Last < m.First {
				t.Errorf("%q: %+v", text, m)
			}
		}
		Typed(text)
	})
}
