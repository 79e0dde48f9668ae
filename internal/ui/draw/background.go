package draw

import (
	"math"
	"strconv"
	"strings"
)

// A Background is a terminal's background.
type Background uint8

// The backgrounds. Colors of neither theme are readable on those between dark and light.
const (
	UnknownBackground Background = iota
	DarkBackground
	LightBackground
)

// theme returns the name of the theme for a background.
func (b Background) theme() string {
	return [...]string{UnknownBackground: AutoTheme, DarkBackground: "dark", LightBackground: "light"}[b]
}

// BackgroundFor returns the background according to COLORFGBG, which some terminals set to the
// numbers of their text and background colors.
func BackgroundFor(getenv func(string) string) Background {
	value := getenv("COLORFGBG")
	switch n, err := strconv.Atoi(value[strings.LastIndexByte(value, ';')+1:]); {
	case err != nil || n < 0 || n > 15:
		return UnknownBackground
	case n == 7 || n > 8:
		return LightBackground
	}
	return DarkBackground
}

// maxColour is the maximum length of a color in a terminal's reply.
const maxColour = 40

// ReadBackground returns the background in a terminal's reply to the query for its background
// color, without its delimiters: 11;rgb:1e1e/1e1e/1e1e.
func ReadBackground(reply string) (b Background, ok bool) {
	colour, ok := strings.CutPrefix(reply, "11;")
	if !ok || len(colour) > maxColour {
		return UnknownBackground, false
	}
	var parts []string
	if digits, ok := strings.CutPrefix(colour, "#"); ok && len(digits)%3 == 0 {
		n := len(digits) / 3
		parts = []string{digits[:n], digits[n : 2*n], digits[2*n:]}
	} else if _, list, ok := strings.Cut(colour, ":"); ok && strings.HasPrefix(colour, "rgb") {
		parts = strings.Split(list, "/")
	}
	if len(parts) < 3 || len(parts) > 4 { // the fourth is the opacity
		return UnknownBackground, false
	}
	luminance := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(parts[i], 16, 16)
		if err != nil || len(parts[i]) > 4 {
			return UnknownBackground, false
		}
		luminance += weight * linear(float64(n)/float64(uint(1)<<(4*len(parts[i]))-1))
	}
	switch {
	case luminance < 0.1:
		return DarkBackground, true
	case luminance > 0.5:
		return LightBackground, true
	}
	return UnknownBackground, true
}

// linear returns the light intensity of a color component.
func linear(v float64) float64 {
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}
