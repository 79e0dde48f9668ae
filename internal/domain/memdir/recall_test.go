package memdir

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Proves MEM-34.
func TestWorth(t *testing.T) {
	for said, want := range map[string]bool{
		"": false, "  ": false, "yes": false, "continue\n": false, "/compact": false, "/memory off": false, "好": false, "继续": false,
		"fix it": true, "/etc/hosts is wrong": true, "/tmp looks odd, why?": false, "修复登录页面的错误": true, "./run.sh fails": true, "お願いします": true,
	} {
		if WorthRecalling(said) != want {
			t.Errorf("%q: %v", said, !want)
		}
	}
}

// Proves MEM-30.
func TestChoose(t *testing.T) {
	var from []Memory
	for i := range 8 {
		from = append(from, Memory{Name: fmt.Sprintf("m%d.md", i)})
	}
	tests := []struct {
		name, answer string
		want         []string
		wrong        bool
	}{
		{"seven, one unknown", `{"memories":["m1.md","m7.md","nobody.md","m2.md","m3.md","m4.md","m5.md"]}`, []string{"m1.md", "m7.md", "m2.md", "m3.md", "m4.md"}, false},
		{"none", `{"memories":[]}`, nil, false},
		{"again", ` {"memories":["m1.md","m1.md"]} ` + "\n", []string{"m1.md"}, false},
		{"a path", `{"memories":["../m1.md","/etc/passwd","M1.md"]}`, nil, false},
		{"not JSON", `m1.md`, nil, true},
		{"empty", ``, nil, true},
		{"no list", `{}`, nil, true},
		{"null", `{"memories":null}`, nil, true},
		{"another field", `{"memories":["m1.md"],"why":"x"}`, nil, true},
		{"numbers", `{"memories":[1]}`, nil, true},
		{"more after it", `{"memories":["m1.md"]} and m2.md`, nil, true},
		{"cut off", `{"memories":["m1.md"`, nil, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			chosen, err := Choose(tt.answer, from)
			var got []string
			for _, m := range chosen {
				got = append(got, m.Name)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || (err != nil) != tt.wrong {
				t.Error(diff, err)
			}
		})
	}
}

func FuzzChoose(f *testing.F) {
	f.Add(`{"memories":["a.md"]}`)
	f.Fuzz(func(t *testing.T, answer string) {
		chosen, err := Choose(answer, []Memory{{Name: "a.md"}})
		if len(chosen) > 1 || err != nil && chosen != nil {
			t.Error(chosen, err)
		}
	})
}

// Proves MEM-30.
func TestManifest(t *testing.T) {
	var files []string
	for i := range 205 {
		files = append(files, fmt.Sprintf("m%03d.md", i), matter("n", fmt.Sprintf("about %d", i), "project"))
	}
	all, err := folder(t, append(files, "broken.md", "\x00")...).List()
	if err != nil {
		t.Fatal(err)
	}
	some := Candidates(all, func(name string) bool { return name == "m001.md" })
	if len(some) != MaxCandidates || some[0].Name != "m000.md" || some[1].Name != "m002.md" {
		t.Errorf("%d candidates", len(some))
	}
	for _, m := range some {
		if m.Broken || m.Name == "m001.md" {
			t.Error(m.Name)
		}
	}
	some[1].Type = Untyped
	want := "- [project] m000.md (2026-11-15): about 0\n- [untyped] m002.md (2026-11-15): about 2\n"
	if got := Manifest(some[:2]); got != want {
		t.Error(got)
	}
}

// Proves MEM-33, MEM-41.
func TestRecall(t *testing.T) {
	now := time.Date(2026, 11, 15, 11, 0, 0, 0, time.UTC)
	f := folder(t,
		"small.md", "Small.\n",
		"long.md", strings.Repeat("line\n", 300),
		"wide.md", strings.Repeat("é", 3000),
		"binary.md", "Text,\x00 and more",
		"exact.md", strings.Repeat("x", MaxRecallBytes),
	)
	all, err := f.List()
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		all[i].Broken = false // simulates a file that broke later
	}
	got := map[string][2]any{}
	for _, r := range f.Recall(all, MaxRecallTotal, now) {
		got[r.Name] = [2]any{len(r.Text), r.Cut}
		if r.Path != f.Path(r.Name) {
			t.Error(r.Path)
		}
	}
	want := map[string][2]any{"small.md": {6, false}, "long.md": {999, true}, "wide.md": {4096, true}, "exact.md": {4096, false}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := f.Recall(all, 1100, now); len(got) != 2 {
		t.Errorf("%d within the room that is left", len(got))
	}
	for _, tt := range []struct {
		age  time.Duration
		days int
	}{{0, 0}, {-time.Hour, 0}, {24 * time.Hour, 0}, {25 * time.Hour, 1}, {47 * 24 * time.Hour, 47}} {
		m := all[0]
		m.Modified = now.Add(-tt.age)
		if got := f.Recall([]Memory{m}, 100, now); len(got) != 1 || got[0].Days != tt.days {
			t.Errorf("%v: %+v", tt.age, got)
		}
	}
}
