package memdir

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// Proves MEM-10.
func TestLint(t *testing.T) {
	long := "- [Long](long.md) — " + strings.Repeat("word ", 40)
	tests := []struct {
		name, index string
		want        []Finding
	}{
		{"good", "- [A](a.md) — what it is about\n* [B](deep/b.md) - other dashes\n\n- [C](c.md): and colons\n", nil},
		{"empty", "", nil},
		{"not entries", "# Title\n- [A](a.md) — x\nloose text\n- no link\n- [web](https://x.org) — a page\n", []Finding{
			{IndexName, 1, "is not an entry: write - [Title](file.md) — hook", false},
			{IndexName, 3, "is not an entry: write - [Title](file.md) — hook", false},
			{IndexName, 4, "is not an entry: write - [Title](file.md) — hook", false},
			{IndexName, 5, "is not an entry: write - [Title](file.md) — hook", false},
		}},
		{"long", long, []Finding{{IndexName, 1, "has 219 characters, more than 150: the detail belongs in long.md", true}}},
		{"twice", "- [A](a.md)\n- [B](b.md)\n- [A](./a.md) — again", []Finding{{IndexName, 3, "names a.md again", true}}},
		{"front matter", "---\nname: x\n---\n- [A](a.md)", []Finding{
			{IndexName, 1, "begins with front matter, which belongs in the memories", false},
			{IndexName, 1, "is not an entry: write - [Title](file.md) — hook", false},
			{IndexName, 2, "is not an entry: write - [Title](file.md) — hook", false},
			{IndexName, 3, "is not an entry: write - [Title](file.md) — hook", false},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Lint(tt.index)); diff != "" {
				t.Error(diff)
			}
		})
	}
	over := Lint(strings.Repeat("- [A](a.md)\n", 201))
	if last := over[len(over)-1]; !strings.Contains(last.Text, "201 lines") {
		t.Error(last)
	}
}

// Proves MEM-11.
func TestCutIndex(t *testing.T) {
	short := strings.Repeat("- [A](a.md) — x\n", 201)
	kilobytes := strings.Repeat(strings.Repeat("x", 1023)+"\n", 150)
	single := strings.Repeat("é", 15_000)
	both := strings.Repeat(strings.Repeat("y", 199)+"\n", 300)
	tests := []struct {
		name, index  string
		lines, bytes int
		cut          Truncation
	}{
		{"200 lines", strings.TrimSuffix(short, "- [A](a.md) — x\n"), 200, 200*18 - 1, Truncation{}},
		{"201 lines", short, 200, 200*18 - 1, Truncation{201, 201*18 - 1, true, false}},
		{"150 lines of 1 KB", kilobytes, 24, 24*1024 - 1, Truncation{150, 150*1024 - 1, false, true}},
		{"one line of 30 KB", single, 1, 25_000, Truncation{1, 30_000, false, true}},
		{"one line, odd", "x" + single, 1, 24_999, Truncation{1, 30_001, false, true}},
		{"both", both, 125, 125*200 - 1, Truncation{300, 300*200 - 1, true, true}},
		{"exactly enough", strings.Repeat("z", MaxBytes), 1, MaxBytes, Truncation{}},
		{"empty", "\n\n", 1, 0, Truncation{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, cut := CutIndex(tt.index)
			if n := strings.Count(got, "\n") + 1; n != tt.lines || len(got) != tt.bytes || !utf8.ValidString(got) || !strings.HasPrefix(tt.index, strings.TrimSpace(got)) && got != "" {
				t.Errorf("%d lines, %d bytes", n, len(got))
			}
			if diff := cmp.Diff(tt.cut, cut); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzIndex(f *testing.F) {
	for _, seed := range []string{"- [A](a.md) — x\n", "- [](", "* [x]y](z)", "---\n", strings.Repeat("é\n", 300)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		Lint(text)
		if got, _ := CutIndex(text); len(got) > MaxBytes || strings.Count(got, "\n") >= MaxLines || !strings.Contains(text, got) {
			t.Errorf("%d bytes", len(got))
		}
		for line := range strings.Lines(text) {
			e := parseEntry(strings.TrimRight(line, " \t\r\n"))
			if e.File == "" {
				continue
			}
			if again := parseEntry(e.String()); again.File != e.File {
				t.Errorf("%q is %+v, then %q, then %+v", e.Line, e, e.String(), again)
			}
		}
	})
}

// Proves MEM-25.
func TestCheckAndFix(t *testing.T) {
	f := folder(t,
		"good.md", matter("Good", "fine", "user"),
		"lost.md", matter("Lost one", "nobody lists it", "project"),
		"same.md", matter("good", "again", "user"),
		"wordy.md", matter("Wordy", "w", "feedback"),
		"odd.md", matter("Odd", "o", "idea"),
		"key.md", "---\nname: Key\ndescription: k\ntype: reference\n---\nAKIAQ7RSTUVWXYZ2K4L9\n",
		"empty.md", "",
		"team/theirs.md", matter("Theirs", "t", "project"),
		IndexName, "# Mine\n- [Good](good.md) — fine\n- [Gone](gone.md) — x\n- [Good](good.md) — twice\n- [Wordy](wordy.md) — "+strings.Repeat("many words ", 20)+
			"\n- [Odd](odd.md)\n- [Same](same.md)\n- [Key](key.md)\n- [Empty](empty.md)",
	)
	texts := func() []string {
		found, err := f.Check()
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, x := range found {
			all = append(all, fmt.Sprintf("%s:%d %s %v", x.File, x.Line, x.Text, x.Fixable))
		}
		return all
	}
	stays := []string{
		"MEMORY.md:1 is not an entry: write - [Title](file.md) — hook false",
		"same.md:0 has the same name as good.md: make one memory of them false",
		`odd.md:0 has an unknown type "idea" (want user, feedback, project or reference) false`,
		"key.md:0 seems to hold a secret: take it out false",
	}
	want := []string{
		stays[0],
		"MEMORY.md:4 names good.md again true",
		"MEMORY.md:5 has 241 characters, more than 150: the detail belongs in wordy.md true",
		"MEMORY.md:3 names gone.md, which is not there true",
		"MEMORY.md:9 names empty.md, which is not there true",
		"lost.md:0 is not in the index true",
		stays[1], stays[2], stays[3],
		"empty.md:0 is empty true",
	}
	if diff := cmp.Diff(want, texts()); diff != "" {
		t.Error(diff)
	}
	if err := f.Fix(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(stays, texts()); diff != "" {
		t.Error(diff)
	}
	index, err := f.Index()
	if err != nil || !strings.Contains(index, "# Mine\n- [Good](good.md) — fine\n- [Wordy](wordy.md) — many words") || !strings.HasSuffix(index, "- [Lost one](lost.md) — nobody lists it\n") {
		t.Errorf("%s, %v", index, err)
	}
	before, err := os.Stat(f.Path(IndexName))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Fix(); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(f.Path(IndexName)); err != nil || !os.SameFile(before, after) {
		t.Error("an index that is in order was written again")
	}
}

func TestIndexThatCannotBeRead(t *testing.T) {
	outside := t.TempDir() + "/x.md"
	if err := os.WriteFile(outside, []byte("- [A](a.md)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := folder(t, "a.md", "x")
	if err := os.Symlink(outside, f.Path(IndexName)); err != nil {
		t.Fatal(err)
	}
	if text, err := f.Index(); err == nil {
		t.Errorf("an index elsewhere was read: %q", text)
	}
	if f.Fix() == nil || f.Remove("a.md") == nil {
		t.Error("an index elsewhere was written")
	}
	if data, err := os.ReadFile(outside); string(data) != "- [A](a.md)\n" || err != nil {
		t.Errorf("%s, %v", data, err)
	}
	if _, err := folder(t, IndexName, "a\x00b").Index(); err == nil {
		t.Error("a binary index was read")
	}
}
