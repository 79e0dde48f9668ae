package pdf

import (
	"strconv"
	"strings"
	"sync"
)

// simpleTable returns the text of the 256 codes of a simple font.
func (d *Document) simpleTable(f dict) *[256]string {
	encoding := d.resolve(f["Encoding"])
	base, _ := encoding.(name)
	custom, _ := encoding.(dict)
	if custom != nil {
		base, _ = d.resolve(custom["BaseEncoding"]).(name)
	}
	table := new([256]string)
	high := winAnsi
	if base == "MacRomanEncoding" {
		high = macRoman
	}
	for i := ' '; i < 0x7f; i++ {
		table[i] = string(i)
	}
	i := 0x80
	for _, r := range high {
		table[i] = string(r)
		i++
	}
	if base == "" && custom == nil {
		builtIn(table)
	}
	code := 0
	for _, o := range d.list(custom["Differences"]) {
		switch o := d.resolve(o).(type) {
		case int:
			code = o
		case name:
			if code >= 0 && code < 256 {
				table[code] = glyphText(string(o))
			}
			code++
		}
	}
	return table
}

// builtIn adds the usual ligatures for a font with an unspecified encoding: the standard
// encoding's and, at codes otherwise unused, TeX's.
func builtIn(table *[256]string) {
	table[0xae], table[0xaf] = "fi", "fl"
	for i, t := range []string{"ff", "fi", "fl", "ffi", "ffl"} {
		table[0x0b+i] = t
	}
}

// The upper halves of the two named encodings.
const (
	winAnsi = "€•‚ƒ„…†‡ˆ‰Š‹Œ•Ž••‘’“”•–—˜™š›œ•žŸ\u00a0¡¢£¤¥¦§¨©ª«¬-®¯°±²³´µ¶·¸¹º»¼½¾¿" +
		"ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ"
	macRoman = "ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»…\u00a0" +
		"ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\uf8ffÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ"
)

// glyphText returns the text for a glyph name, or "" if unknown.
func glyphText(glyph string) string {
	if base, _, ok := strings.Cut(glyph, "."); ok && base != "" {
		glyph = base // a.small is a
	}
	if len(glyph) == 1 {
		return glyph
	}
	if t, ok := glyphNames()[glyph]; ok {
		return t
	}
	for _, prefix := range []string{"uni", "u"} {
		if digits, ok := strings.CutPrefix(glyph, prefix); ok && len(digits) >= 4 && len(digits) <= 6 {
			if n, err := strconv.ParseUint(digits, 16, 32); err == nil {
				return string(rune(n))
			}
		}
	}
	return accented(glyph)
}

// accented returns the letter for a glyph name that ends in an accent.
func accented(glyph string) string {
	const letters = "AaCcDdEeGgIiKkLlNnOoRrSsTtUuWwYyZz"
	if len(glyph) < 2 || !strings.Contains(letters, glyph[:1]) {
		return ""
	}
	for _, a := range []struct{ name, from, to string }{
		{"acute", "AaCcEeIiLlNnOoRrSsUuYyZz", "ÁáĆćÉéÍíĹĺŃńÓóŔŕŚśÚúÝýŹź"},
		{"grave", "AaEeIiOoUu", "ÀàÈèÌìÒòÙù"},
		{"circumflex", "AaCcEeGgIiOoSsUuWwYy", "ÂâĈĉÊêĜĝÎîÔôŜŝÛûŴŵŶŷ"},
		{"dieresis", "AaEeIiOoUuYy", "ÄäËëÏïÖöÜüŸÿ"},
		{"tilde", "AaIiNnOoUu", "ÃãĨĩÑñÕõŨũ"},
		{"caron", "CcDdEeLlNnRrSsTtZz", "ČčĎďĚěĽľŇňŘřŠšŤťŽž"},
		{"cedilla", "CcSsTt", "ÇçŞşŢţ"},
		{"ring", "AaUu", "ÅåŮů"},
		{"ogonek", "AaEeIiUu", "ĄąĘęĮįŲų"},
		{"breve", "AaGgUu", "ĂăĞğŬŭ"},
		{"dotaccent", "CcEeGgIZz", "ĊċĖėĠġİŻż"},
		{"macron", "AaEeIiOoUu", "ĀāĒēĪīŌōŪū"},
		{"hungarumlaut", "OoUu", "ŐőŰű"},
		{"slash", "Oo", "Øø"},
	} {
		if glyph[1:] == a.name {
			if i := strings.Index(a.from, glyph[:1]); i >= 0 {
				return string([]rune(a.to)[i])
			}
		}
	}
	return ""
}

// glyphNames maps the glyph names whose text does not follow from the name.
var glyphNames = sync.OnceValue(func() map[string]string {
	const list = `exclam ! quotedbl " numbersign # dollar $ percent % ampersand & quotesingle ' quoteright ’ quoteleft ‘
parenleft ( parenright ) asterisk * plus + comma , hyphen - minus − period . slash / zero 0 one 1 two 2 three 3 four 4 five 5
six 6 seven 7 eight 8 nine 9 colon : semicolon ; less < equal = greater > question ? at @ bracketleft [ backslash \ bracketright ]
asciicircum ^ underscore _ grave ` + "`" + ` braceleft { bar | braceright } asciitilde ~ exclamdown ¡ cent ¢ sterling £ fraction ⁄ yen ¥
florin ƒ section § currency ¤ quotedblleft “ quotedblright ” guillemotleft « guillemotright » guilsinglleft ‹ guilsinglright ›
fi fi fl fl ff ff ffi ffi ffl ffl endash – emdash — dagger † daggerdbl ‡ periodcentered · paragraph ¶ bullet • quotesinglbase ‚
quotedblbase „ ellipsis … perthousand ‰ questiondown ¿ acute ´ circumflex ˆ tilde ˜ macron ¯ breve ˘ dotaccent ˙ dieresis ¨
ring ˚ cedilla ¸ hungarumlaut ˝ ogonek ˛ caron ˇ AE Æ ae æ OE Œ oe œ Lslash Ł lslash ł dotlessi ı germandbls ß Eth Ð eth ð
Thorn Þ thorn þ brokenbar ¦ degree ° copyright © registered ® trademark ™ onehalf ½ onequarter ¼ threequarters ¾ onesuperior ¹
twosuperior ² threesuperior ³ mu µ multiply × divide ÷ plusminus ± logicalnot ¬ ordfeminine ª ordmasculine º Euro € Dcroat Đ
dcroat đ Alpha Α Beta Β Gamma Γ Delta ∆ Epsilon Ε Theta Θ Lambda Λ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω alpha α beta β gamma γ
delta δ epsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ nu ν xi ξ omicron ο pi π rho ρ sigma σ tau τ upsilon υ phi φ
chi χ psi ψ omega ω arrowleft ← arrowup ↑ arrowright → arrowdown ↓ partialdiff ∂ summation ∑ product ∏ radical √ infinity ∞
integral ∫ approxequal ≈ notequal ≠ lessequal ≤ greaterequal ≥ lozenge ◊ element ∈`
	names := map[string]string{"space": " ", "nbspace": " ", "softhyphen": "-"}
	fields := strings.Fields(list)
	for i := 0; i+1 < len(fields); i += 2 {
		names[fields[i]] = fields[i+1]
	}
	return names
})
