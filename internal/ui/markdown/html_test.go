package markdown

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHTML checks that Markdown becomes elements, and that nothing else in a text does.
//
// Proves SESS-11.
func TestHTML(t *testing.T) {
	for text, want := range map[string]string{
		"# The *way*\nover":                         "<h3>The <em>way</em></h3>\n<p>over</p>\n",
		"one\ntwo **three**\n\n***":                 "<p>one<br>\ntwo <strong>three</strong></p>\n<hr>\n",
		"- one\n  more\n- two\n  1. deep\n\nend":    "<ul>\n<li>one<br>\nmore</li>\n<li>two\n<ol start=\"1\">\n<li>deep</li>\n</ol>\n</li>\n</ul>\n<p>end</p>\n",
		"- [x] done\n- [ ] open":                    "<ul>\n<li class=\"task\"><span>☑</span>done</li>\n<li class=\"task\"><span>☐</span>open</li>\n</ul>\n",
		"3. three\n\n   ```go\n   return 1\n   ```": "<ol start=\"3\">\n<li>three\n<pre data-language=\"go\"><code><span class=\"k\">return</span> <span class=\"n\">1</span>\n</code></pre>\n</li>\n</ol>\n",
		"> a\nlazy\n> - b\n\nx":                     "<blockquote>\n<p>a<br>\nlazy</p>\n<ul>\n<li>b</li>\n</ul>\n</blockquote>\n<p>x</p>\n",
		"| a | n |\n|---|--:|\n| `x` | 1 |":         "<div class=\"table\"><table>\n<thead><tr><th>a</th><th class=\"right\">n</th></tr>\n</thead>\n<tbody>\n<tr><td><code>x</code></td><td class=\"right\">1</td></tr>\n</tbody>\n</table></div>\n",
		"```diff\n+<b>\n-c\n```":                    "<pre data-language=\"diff\"><code><span class=\"add\">+&lt;b&gt;</span>\n<span class=\"del\">-c</span>\n</code></pre>\n",
		"    kept":                                  "<pre><code>kept\n</code></pre>\n",
		"<script>alert(1)</script>":                 "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n",
		"**</style>** `</div>`":                     "<p><strong>&lt;/style&gt;</strong> <code>&lt;/div&gt;</code></p>\n",
		"[a](https://b.c/d)":                        "<p><a href=\"https://b.c/d\" rel=\"noreferrer\">a</a></p>\n",
		"[a](javascript:alert(1))":                  "<p>a (javascript:alert(1))</p>\n",
		`[<b>](https://b"onclick="x)`:               "<p><a href=\"https://b&#34;onclick=&#34;x\" rel=\"noreferrer\">&lt;b&gt;</a></p>\n",
		"```\"><script>\nx":                         "<pre data-language=\"&#34;&gt;&lt;script&gt;\"><code>x\n</code></pre>\n",
		"":                                          "",
	} {
		if diff := cmp.Diff(want, HTML(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	deep := HTML(strings.Repeat("> ", 10000) + "x\n" + strings.Repeat("- ", 10000) + "y")
	if n := strings.Count(deep, "<blockquote>") + strings.Count(deep, "<ul>"); n > 2*maxDepth {
		t.Errorf("%d levels", n)
	}
}

// FuzzHTML checks that elements are closed in order and come from a fixed set.
func FuzzHTML(f *testing.F) {
	f.Add("# a\n\n- b\n  > c\n\n| d |\n|---|\n| e |\n```go\nf\n```\n<script>")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 10_000 {
			return
		}
		var open []string
		for _, part := range strings.Split(HTML(text), "<")[1:] {
			tag, _, ok := strings.Cut(part, ">")
			name, _, _ := strings.Cut(strings.TrimPrefix(tag, "/"), " ")
			switch {
			case !ok || !strings.Contains(" h3 h4 h5 h6 p br hr ul ol li pre code span strong em del a blockquote div table thead tbody tr th td ", " "+name+" "):
				t.Fatalf("%q makes <%s", text, part)
			case name == "br" || name == "hr":
			case tag[0] != '/':
				open = append(open, name)
			case len(open) == 0 || open[len(open)-1] != name:
				t.Fatalf("%q closes %s in %v", text, name, open)
			default:
				open = open[:len(open)-1]
			}
		}
		if len(open) > 0 {
			t.Fatalf("%q leaves %v open", text, open)
		}
	})
}
