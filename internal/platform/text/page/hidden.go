package page

import (
	"strconv"
	"strings"
	"unicode"
)

// visible removes invisible characters that may hide instructions: tags, zero-width characters
// and direction marks.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r' || r == '\u00a0':
			return ' '
		case r < ' ' || r >= 0x7f && r < 0xa0, r == '\u00ad', r == '\u034f', r == '\u115f', r == '\u1160', r == '\u3164', r == '\uffa0':
			return -1
		case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0000 && r <= 0xe0fff:
			return -1
		case r == '\u200d' || r == '\u200c': // visible effect in some scripts and emoji
			return r
		case unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, text)
}

// hidden reports whether an element's own attributes hide it.
func hidden(s *start) bool {
	for class := range strings.FieldsSeq(s.class) {
		switch class {
		case "sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "d-none":
			return true
		}
	}
	if s.style == "" {
		return false
	}
	style := declarations(s.style)
	switch {
	case style["display"] == "none", style["visibility"] == "hidden", style["visibility"] == "collapse",
		style["content-visibility"] == "hidden", zero(style["opacity"], 0.05), zero(style["font-size"], 1), zero(style["zoom"], 0),
		zero(style["max-height"], 1), zero(style["max-width"], 1), zero(style["line-height"], 0):
		return true
	case zero(style["width"], 1) && zero(style["height"], 1):
		return true
	case (zero(style["width"], 1) || zero(style["height"], 1)) && strings.Contains(style["overflow"], "hidden"):
		return true
	case strings.Contains(style["transform"], "scale(0)"), strings.Contains(style["clip-path"], "inset(50%"), strings.Contains(style["clip-path"], "inset(100%"),
		strings.HasPrefix(style["clip"], "rect(0"), strings.HasPrefix(style["clip"], "rect(1px"), strings.Contains(style["filter"], "opacity(0"):
		return true
	case away(style["text-indent"]), away(style["margin-left"]), away(style["margin-top"]):
		return true
	case (style["position"] == "absolute" || style["position"] == "fixed") && (away(style["left"]) || away(style["top"]) || far(style["right"]) || far(style["bottom"])):
		return true
	}
	return invisibleColour(style)
}

// declarations parses a style attribute, in lower case and without blanks.
func declarations(style string) map[string]string {
	all := map[string]string{}
	for d := range strings.SplitSeq(strings.ToLower(style), ";") {
		if i := strings.Index(d, "/*"); i >= 0 {
			if j := strings.Index(d[i:], "*/"); j >= 0 {
				d = d[:i] + d[i+j+2:]
			}
		}
		name, value, _ := strings.Cut(d, ":")
		value = strings.TrimSuffix(strings.Join(strings.Fields(value), ""), "!important")
		all[strings.TrimSpace(name)] = value
	}
	return all
}

// number parses a number with a unit.
func number(value string) (n float64, unit string, ok bool) {
	i := 0
	for i < len(value) && (value[i] >= '0' && value[i] <= '9' || value[i] == '.' || value[i] == '-' || value[i] == '+') {
		i++
	}
	n, err := strconv.ParseFloat(value[:i], 64)
	return n, value[i:], err == nil
}

// zero reports whether a length is at most the given number of pixels and thus too small to be
// visible.
func zero(value string, most float64) bool {
	n, unit, ok := number(value)
	if unit == "em" || unit == "rem" || unit == "%" {
		return ok && n <= 0.01
	}
	return ok && n <= most
}

// away reports whether a length moves an element off screen.
func away(value string) bool {
	n, unit, ok := number(value)
	if unit == "em" || unit == "rem" || unit == "vw" || unit == "vh" || unit == "%" {
		return ok && n <= -50
	}
	return ok && n <= -500
}

// far is like [away] in the other direction.
func far(value string) bool {
	n, _, ok := number(value)
	return ok && n >= 5000 || strings.HasPrefix(value, "-") && away(value)
}

// invisibleColour reports whether text is transparent or has the color of its background.
func invisibleColour(style map[string]string) bool {
	text := colour(style["color"])
	if text == "" {
		return false
	}
	if text == "transparent" || strings.HasPrefix(text, "rgba(") && strings.HasSuffix(text, ",0)") {
		return true
	}
	behind := colour(style["background-color"])
	if behind == "" {
		behind = colour(style["background"])
	}
	return text == behind
}

// colour normalizes a color.
func colour(value string) string {
	switch value {
	case "white":
		return "#ffffff"
	case "black":
		return "#000000"
	case "rgb(255,255,255)":
		return "#ffffff"
	case "rgb(0,0,0)":
		return "#000000"
	}
	if len(value) == 4 && value[0] == '#' {
		return "#" + strings.Repeat(value[1:2], 2) + strings.Repeat(value[2:3], 2) + strings.Repeat(value[3:4], 2)
	}
	return value
}
