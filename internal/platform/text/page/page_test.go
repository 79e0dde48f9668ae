package page

import (
	"context"
	"fmt"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/japanese"
)

func convert(t testing.TB, body string) Doc {
	t.Helper()
	base, err := url.Parse("https://example.org/docs/page")
	if err != nil {
		t.Fatal(err)
	}
	return NewConverter().Markdown(t.Context(), []byte(body), "text/html; charset=utf-8", base)
}

// Proves WFT-09.
func TestMarkdown(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"headings and text", "<h1>One</h1><p>Some <b>bold</b> and <i>slanted</i>\n text.<h2>Two</h2>", "# One\n\nSome **bold** and *slanted* text.\n\n## Two"},
		{"unclosed items", "<ul><li>one<li>two<ol start=3><li>x<li>y</ol><li>three</ul>", "- one\n- two\n  \n  3. x\n  4. y\n- three"},
		{"code", `<pre><code class="language-go">func f() {
	return
}
</code></pre><p>and <code>x := 1</code>`, "```go\nfunc f() {\n\treturn\n}\n```\n\nand `x := 1`"},
		{"code in a named block", `<div class="highlight-python notranslate"><div class="highlight"><pre><span class="k">def</span> f(): <span>pass</span>
</pre></div></div>`, "```python\ndef f(): pass\n```"},
		{"a table", "<table><tr><th>A<th>B<tr><td>1<td>a|b</table>", "| A | B |\n|---|---|\n| 1 | a\\|b |"},
		{"absolute links", `<a href="../x?y=1">up</a> <a href="//b.example/z">other</a> <a href="/r#s">root</a>`, "[up](https://example.org/x?y=1) [other](https://b.example/z) [root](https://example.org/r#s)"},
		{"a base", `<base href="https://c.example/d/"><a href=e>e</a>`, "[e](https://c.example/d/e)"},
		{"links that lead nowhere", `<a href="javascript:alert(1)">one</a> <a href="data:text/html,x">two</a> <a href="#top">three</a> <a>four</a>`, "one two three four"},
		{"links without text", `a<a href="/x"> </a>b <a href="/y"><img src="/i.png" alt="I"></a> <a href="/` + strings.Repeat("z", 600) + `">long</a>`, "ab [![I](https://example.org/i.png)](https://example.org/y) long"},
		{"marks at headings", `<h2>Title<a class="headerlink" href="#title">¶</a></h2>`, "## Title"},
		{"pictures", `<img src="data:image/png;base64,AAAA" alt="no"><img src="/a.png" alt="A cat"><img src="/b.png">`, "![A cat](https://example.org/a.png)"},
		{"non-text", "a<script>evil()</script><style>b{}</style><!-- c --><svg><text>d</text></svg><template>e</template><noscript>f</noscript><iframe>g</iframe><button>h</button> i", "a i"},
		{"entities", "a &lt;b&gt; &amp; &uuml; &#x1F600; &nbsp;c", "a &lt;b&gt; & ü 😀 c"},
		{"broken", "<p>a<b>b<p>c</b>d</div></table>e<", "a**b**\n\ncde&lt;"},
		{"a quotation", "<blockquote><p>x<p>y</blockquote>", "> x\n> \n> y"},
		{"a list of terms", "<dl><dt>T<dd>D</dl>", "T\n\nD"},
		{"breaks", "a<br>b</br>c<hr>d", "a  \nb  \nc\n\n* * *\n\nd"},
		{"empty", "", ""},
		{"not HTML", "just words", "just words"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := convert(t, tt.in).Markdown; got != tt.want {
				t.Errorf("got:\n%q\nwant:\n%q", got, tt.want)
			}
		})
	}
}

// TestHiddenText checks that text invisible to a reader does not reach the model.
//
// Proves WFT-09.
func TestHiddenText(t *testing.T) {
	tests := []string{
		`<div style="display:none">EVIL</div>`, `<p style="DISPLAY : None !important">EVIL</p>`, `<span style="color:red;visibility:hidden">EVIL</span>`,
		`<span hidden>EVIL</span>`, `<div hidden=""><p>EVIL<p>EVIL</div>`, `<div aria-hidden="true">EVIL</div>`, `<div style="opacity:0">EVIL</div>`,
		`<div style="opacity: 0.01">EVIL</div>`, `<p style="font-size:0">EVIL</p>`, `<p style="font-size: 1px">EVIL</p>`, `<p style="font-size:0em">EVIL</p>`,
		`<div style="width:0;height:0;overflow:hidden">EVIL</div>`, `<div style="height:1px;overflow:hidden">EVIL</div>`, `<div style="max-height:0">EVIL</div>`,
		`<div style="position:absolute;left:-9999px">EVIL</div>`, `<div style="position:fixed;top:-100em">EVIL</div>`, `<p style="text-indent:-10000px">EVIL</p>`,
		`<div style="position:absolute;right:99999px">EVIL</div>`, `<p style="margin-left:-5000px">EVIL</p>`, `<div style="clip:rect(0,0,0,0)">EVIL</div>`,
		`<div style="clip-path:inset(50%)">EVIL</div>`, `<div style="transform:scale(0)">EVIL</div>`, `<p style="color:#fff;background:#FFFFFF">EVIL</p>`,
		`<p style="color:white;background-color:rgb(255, 255, 255)">EVIL</p>`, `<p style="color:transparent">EVIL</p>`, `<p style="color:rgba(0,0,0,0)">EVIL</p>`,
		`<p style="dis/* x */play:none">EVIL</p>`, `<p class="x sr-only">EVIL</p>`, `<p class="visually-hidden">EVIL</p>`, `<!-- EVIL -->`, `<!EVIL>`, `<?EVIL?>`,
		`<input type="hidden" value="EVIL">`, `<textarea>EVIL</textarea>`, `<script type="text/markdown">EVIL</script>`, `<template>EVIL</template>`,
		`<img src="/x.png" alt="EVIL" hidden>`, `<img src="/x.png" alt="EVIL" style="display:none">`, `<a href="/x" title="EVIL"></a>`, `<p title="EVIL" data-x="EVIL"></p>`,
		`<div style="display:none"><table><tr><td>EVIL</table></table>EVIL</div>`, `<meta name="description" content="EVIL">`, `<svg><foreignObject>EVIL</foreignObject></svg>`,
		`<details hidden><summary>EVIL</summary>EVIL</details>`, `<object data="x">EVIL</object>`, `<video>EVIL</video>`, `<noscript>EVIL</noscript>`, `<math><annotation>EVIL</annotation></math>`,
		"<p>" + tags("EVIL") + "</p>", `<div style="` + strings.Repeat("a:b;", 300) + `display:none">EVIL</div>`,
	}
	for _, in := range tests {
		if got := convert(t, "<p>Before.</p>"+in+"<p>After.</p>"); strings.Contains(got.Markdown, "EVIL") || strings.Contains(got.Markdown, tags("EVIL")) || !strings.Contains(got.Markdown, "Before.") || !strings.Contains(got.Markdown, "After.") {
			t.Errorf("%s: %q", in, got.Markdown)
		}
	}
	for _, in := range []string{
		`<body style="opacity:0"><p>SEEN`, `<p style="color:white;background:black">SEEN</p>`, `<div style="width:100%;height:0.5em">SEEN</div>`, `<p style="margin-left:-10px">SEEN</p>`,
		`<p style="display:none-such">SEEN</p>`, `<div aria-hidden="false">SEEN</div>`, `<p style="font-size:10px">SEEN</p>`, `<p class="hidden md:block">SEEN</p>`,
	} {
		if got := convert(t, in); !strings.Contains(got.Markdown, "SEEN") {
			t.Errorf("%s: %q", in, got.Markdown)
		}
	}
	if got := Text([]byte("a"+tags("EVIL")+"\u200b\u202eb\x1b[31mc"), ""); got != "ab[31mc" {
		t.Errorf("got %q", got)
	}
}

// tags encodes a text in invisible characters.
func tags(text string) string {
	return strings.Map(func(r rune) rune { return r + 0xe0000 }, text)
}

func TestContent(t *testing.T) {
	text := strings.Repeat("The quick brown fox jumps over the lazy dog. ", 20)
	menu := "<nav><ul><li><a href=/a>MENU</a></ul></nav>"
	tests := []struct{ name, in, without string }{
		{"main", menu + "<div>MENU and more</div><main><h1>T</h1><p>" + text + "</main><footer>MENU</footer>", "MENU"},
		{"a role", "<div role=navigation>MENU</div><div role=main><h1>T</h1><p>" + text + "</div>", "MENU"},
		{"an article", "<div>MENU</div><article><header><h1>T</h1></header><p>" + text + "</article><aside>MENU</aside>", "MENU"},
		{"a block with most of the text", "<div>MENU</div><div><div><h1>T</h1><p>" + text + "</div></div><div>MENU</div>", "MENU"},
		{"a header with the title", "<header><h1>T</h1></header><div><p>" + text + "</div>", "MENU"},
		{"two articles", "<article><h1>T</h1><p>" + text + "</article><article><p>" + text + "</article>", "MENU"},
		{"a page of links", "<h1>T</h1><nav>" + text + "</nav>", "MENU"},
		{"a small main", "<main>x</main><h1>T</h1><p>" + text, "MENU"},
	}
	for _, tt := range tests {
		got := convert(t, "<title>  The\n title </title>"+tt.in)
		if strings.Contains(got.Markdown, tt.without) || !strings.Contains(got.Markdown, "quick brown fox") || !strings.Contains(got.Markdown, "T") || got.Title != "The title" || got.Cut {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}

// Proves WFT-09.
func TestCharsets(t *testing.T) {
	sjis, err := japanese.ShiftJIS.NewEncoder().String("日本語のページ")
	if err != nil {
		t.Fatal(err)
	}
	base := &url.URL{Scheme: "https", Host: "example.org"}
	for _, tt := range []struct{ name, body, contentType, want string }{
		{"header", sjis, "text/html; charset=Shift_JIS", "日本語のページ"},
		{"meta", "<meta charset=shift_jis>" + sjis, "text/html", "日本語のページ"},
		{"old meta", `<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS">` + sjis, "", "日本語のページ"},
		{"XML", `<?xml version="1.0" encoding="Shift_JIS"?>` + sjis, "application/xhtml+xml", "日本語のページ"},
		{"mark", "\xef\xbb\xbfü", "text/html; charset=iso-8859-1", "ü"},
		{"UTF-16", "\xff\xfea\x00\xfc\x00", "text/html", "aü"},
		{"meta that cannot be", "<meta charset=utf-16>ü", "text/html", "ü"},
		{"none", "gr\xfc\xdfe", "text/html", "grüße"},
		{"unknown", "ü", "text/html; charset=x-made-up", "ü"},
		{"lies", "a\xffb", "text/html; charset=utf-8", "a\ufffdb"},
	} {
		if got := NewConverter().Markdown(t.Context(), []byte(tt.body), tt.contentType, base); got.Markdown != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got.Markdown, tt.want)
		}
	}
	if got := Text([]byte(sjis), "text/plain; charset=sjis"); got != "日本語のページ" {
		t.Errorf("got %q", got)
	}
}

func TestIsText(t *testing.T) {
	for body, want := range map[string]bool{"": true, "a\n\tb": true, "\xff\xfea\x00": true, "PK\x03\x04": false, "\x7fELF\x00": false, "\x89PNG\r\n\x1a\n": false} {
		if got := IsText([]byte(body)); got != want {
			t.Errorf("%q: %v", body, got)
		}
	}
}

// hostile returns pages designed to be slow or large.
func hostile() map[string]string {
	const n = 1 << 18
	fill := func(s string) string { return strings.Repeat(s, n/len(s)) }
	attributes := &strings.Builder{}
	formats := &strings.Builder{}
	for i := range 10_000 {
		fmt.Fprintf(attributes, " a%d=%d", i, i)
		fmt.Fprintf(formats, "<font color=%d><b class=%d>", i, i)
	}
	return map[string]string{
		"nested blocks": fill("<div>"), "nested quotations": fill("<blockquote>x\n"), "nested lists": fill("<ul><li>x"), "nested tables": fill("<table><tr><td>x"),
		"nested formats": fill("<b><i>x"), "formats and paragraphs": formats.String() + fill("<p>x"), "closed in the wrong order": fill("<b><p></b></p>"),
		"unmatched ends": strings.Repeat("<div>", 50_000) + fill("</span>"), "unmatched ends in a table": "<b><table>" + strings.Repeat("<div>", 50_000) + fill("</b>"),
		"attributes": "<p" + attributes.String() + ">x", "a long attribute": `<a href="` + fill("a") + `">x</a><img src="data:` + fill("b") + `" alt=x>`,
		"a wide table": "<table><tr>" + strings.Repeat("<td>x", 5000) + strings.Repeat("<tr><td>y", 50_000) + "</table>", "a wide cell": "<table><tr><td>" + fill("x") + strings.Repeat("<tr><td>y", 20_000),
		"spans": "<table>" + fill("<tr><td rowspan=65000 colspan=65000>x") + "</table>", "breaks": fill("<br>"), "entities": fill("&lt;&#x41;"), "backticks": "<pre>" + fill("\x60") + "</pre>",
		"brackets": fill("[*_") + "<a href=x>" + fill("](") + "</a>", "comments": fill("<!--"), "an open tag": "<p " + fill("x=y "), "headers": fill("<header><h1>x"),
		"links": fill("<a href=x>y</a>"), "blanks": fill(" \n"), "text": fill("word "), "zero bytes": fill("\x00"), "invalid": fill("\xff\xc0"),
		"pre in lists": fill("<ul><li><pre>a\n\n</pre>"), "emphasis": fill("<em><strong><em>x</em></strong></em>"),
	}
}

func TestHostilePages(t *testing.T) {
	for name, body := range hostile() {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			began := time.Now()
			got := convert(t, body)
			took := time.Since(began)
			runtime.ReadMemStats(&after)
			t.Logf("%v, %d MB, %d bytes", took, (after.TotalAlloc-before.TotalAlloc)>>20, len(got.Markdown))
			if took > 2*time.Minute || len(got.Markdown) > 8*MaxChars {
				t.Errorf("%d bytes after %v", len(got.Markdown), took)
			}
		})
	}
}

// document returns a manual page with a little of everything.
func document(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `<h2 id="s%d">Section %d<a class="headerlink" href="#s%d">¶</a></h2><p>Some <b>bold</b> text with <a href="/x/y">a link</a> and <code>code()</code> for you to read, more or less.</p>
<ul><li>one<li>two <em>three</em></ul><pre><code class="language-go">func main() {
	fmt.Println()
}</code></pre><table><tr><th>A<th>B<tr><td>1<td>2</table>`, i, i, i)
	}
	return b.String()
}

func TestLargePageIsCut(t *testing.T) {
	got := convert(t, document(1<<20))
	if !got.Cut || len(got.Markdown) < MaxChars || !strings.Contains(got.Markdown, "## Section 0\n") {
		t.Errorf("%d bytes, cut %v", len(got.Markdown), got.Cut)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := NewConverter().Markdown(ctx, []byte(document(1<<20)), "", &url.URL{}); got != (Doc{}) {
		t.Error("an interrupted conversion has a result")
	}
}

// BenchmarkMarkdown converts a 1 MB page.
func BenchmarkMarkdown(b *testing.B) {
	page, c := []byte(document(1<<20)), NewConverter()
	base := &url.URL{Scheme: "https", Host: "example.org"}
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		c.Markdown(b.Context(), page, "text/html", base)
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{"<p>a<b>b", "<table><tr><td>x</td></tr></table>", "<ul><li>a<ul><li>b", "<a href=#x>¶</a>", "<div style='display:none'>x</div>y"} {
		f.Add(s)
	}
	c, base := NewConverter(), &url.URL{Scheme: "https", Host: "example.org"}
	f.Fuzz(func(t *testing.T, body string) {
		if d := c.Markdown(t.Context(), []byte(body), "text/html", base); strings.ContainsAny(d.Markdown, "\u202e\x1b") {
			t.Errorf("%q became %q", body, d.Markdown)
		}
	})
}
