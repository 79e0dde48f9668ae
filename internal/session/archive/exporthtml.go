package archive

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	stdhtml "html"
	"strings"

	"adze/internal/msg"
)

//go:embed export.css
var stylesheet string

// html writes a session as a self-contained page: no scripts and no external resources.
type html struct {
	page
	render func(markdown string) string // may be nil
}

func (h *html) escape(s string) string { return stdhtml.EscapeString(h.text(s)) }

func (h *html) begin(info *Info) {
	title := h.escape(info.Name())
	h.print("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n",
		"<meta name=\"referrer\" content=\"no-referrer\">\n<title>", title, "</title>\n<style>\n", stylesheet, "</style>\n</head>\n<body>\n<main>\n",
		"<header>\n<h1>", title, "</h1>\n<dl>\n")
	for _, f := range facts(info) {
		h.print("<div><dt>", f[0], "</dt><dd>", h.escape(f[1]), "</dd></div>\n")
	}
	h.print("</dl>\n</header>\n")
}

func (h *html) said(e *msg.Entry) { h.message(e, "user", "You", nil) }

func (h *html) answered(e *msg.Entry, results map[string]*msg.ToolResult) {
	who := "Assistant"
	if e.Aborted {
		who += " (interrupted)"
	}
	h.message(e, "assistant", who, results)
}

func (h *html) message(e *msg.Entry, class, who string, results map[string]*msg.ToolResult) {
	h.print("<article class=\"", class, "\" id=\"", stdhtml.EscapeString(e.ID), "\">\n<h2>", who, " <time>", clock(e.Time), "</time>")
	if e.Model != "" {
		h.print(" <span class=\"model\">", h.escape(e.Model), "</span>")
	}
	h.print("</h2>\n")
	h.parts(e.Message.Parts, results)
	h.print("</article>\n")
}

func (h *html) compacted() {
	h.print("<p class=\"note\">The conversation was compacted here.</p>\n")
}

func (h *html) end(unreadable int) {
	if unreadable > 0 {
		h.print("<p class=\"note\">", unreadableText(unreadable), "</p>\n")
	}
	h.print("</main>\n</body>\n</html>\n")
}

func (h *html) parts(parts []msg.Part, results map[string]*msg.ToolResult) {
	for _, p := range parts {
		switch p := p.(type) {
		case *msg.Text:
			h.prose(p.Text)
		case *msg.Thinking:
			if strings.TrimSpace(p.Text) != "" {
				h.print("<details class=\"thinking\"><summary>Thinking</summary>\n<div class=\"prose plain\">", h.escape(strings.TrimSpace(p.Text)), "</div>\n</details>\n")
			}
		case *msg.ToolUse:
			h.call(p, results[p.ID])
		case *msg.ToolResult:
			h.print("<details class=\"call\"><summary>Result</summary>\n")
			h.result(p)
			h.print("</details>\n")
		case *msg.Image:
			h.image(p)
		case *msg.Document:
			h.print("<p class=\"note\">Document ", h.escape(p.Title), ", ", fmt.Sprint(len(p.Data)), " bytes</p>\n")
		}
	}
}

// prose writes text, as Markdown if it can be rendered.
func (h *html) prose(s string) {
	s = strings.TrimSpace(s)
	switch {
	case s == "":
	case h.render == nil:
		h.print("<div class=\"prose plain\">", h.escape(s), "</div>\n")
	default:
		h.print("<div class=\"prose\">\n", h.render(h.text(s)), "</div>\n")
	}
}

func (h *html) call(u *msg.ToolUse, result *msg.ToolResult) {
	fields := inputFields(u)
	class := "call"
	if result != nil && result.IsError {
		class += " failed"
	}
	h.print("<details class=\"", class, "\"><summary><b>", h.escape(u.Name), "</b> <span>")
	if len(fields) > 0 {
		h.print(stdhtml.EscapeString(h.value(fields[0].name, summary(fields))))
	}
	h.print("</span></summary>\n")
	for _, f := range fields {
		h.print("<h3>", h.escape(f.name), "</h3>\n<pre>", stdhtml.EscapeString(h.value(f.name, f.value)), "</pre>\n")
	}
	if result != nil {
		h.result(result)
	}
	h.print("</details>\n")
}

func (h *html) result(r *msg.ToolResult) {
	name := "Result"
	if r.IsError {
		name = "Error"
	}
	h.print("<h3>", name, "</h3>\n")
	if text := msg.PlainText(r.Parts); text != "" {
		h.print("<pre>", h.escape(text), "</pre>\n")
	}
	for _, p := range r.Parts {
		if _, ok := p.(*msg.Text); !ok {
			h.parts([]msg.Part{p}, nil)
		}
	}
}

// image shows a picture if browsers can display its type and it cannot run code.
func (h *html) image(p *msg.Image) {
	switch p.MediaType {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		h.print("<img alt=\"picture\" src=\"data:", p.MediaType, ";base64,", base64.StdEncoding.EncodeToString(p.Data), "\">\n")
	default:
		h.print("<p class=\"note\">Picture, ", h.escape(p.MediaType), ", ", fmt.Sprint(len(p.Data)), " bytes</p>\n")
	}
}
