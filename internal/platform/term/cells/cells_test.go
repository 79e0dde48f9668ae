package cells

import "testing"

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "abc": 3, "naïve": 5, "e\u0301": 1, "字符": 4, "🙂!": 3, "ｆｕｌｌ": 8, "½ ⋯": 3, "한글": 4, "\u1112\u1161\u11ab": 2, "❤\ufe0f": 1,
	} {
		if got := Width(text); got != want {
			t.Errorf("%q takes %d cells, not %d", text, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		text string
		n    int
		want string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "ab⋯"}, {"字符字符", 8, "字符字符"}, {"字符字符", 7, "字符字⋯"}, {"字符字符", 6, "字符⋯"},
		{"字", 1, "⋯"}, {"ab", 0, ""}, {"e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"}, {"e\u0301e\u0301e\u0301", 2, "e\u0301⋯"},
	} {
		got := Cut(tt.text, tt.n, "⋯")
		if got != tt.want {
			t.Errorf("%q in %d cells: %q, want %q", tt.text, tt.n, got, tt.want)
		}
		if Width(got) > tt.n {
			t.Errorf("%q takes %d cells of %d", got, Width(got), tt.n)
		}
	}
	for n, want := range map[int]string{0: "", 2: "ab", 3: "...", 5: "ab...", 6: "abcdef"} {
		if got := Cut("abcdef", n, "..."); got != want {
			t.Errorf("%d cells: %q, want %q", n, got, want)
		}
	}
}

func TestColumns(t *testing.T) {
	if got := Left("字", 4) + "|" + Right("字", 4) + "|" + Left("long", 2); got != "字  |  字|long" {
		t.Errorf("%q", got)
	}
}
