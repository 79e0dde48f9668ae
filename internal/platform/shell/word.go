package shell

import (
	"runtime"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// A wordReader performs quote removal on one word and records which bytes were quoted.
type wordReader struct {
	vars Vars
	text []byte
	bare []bool // the byte was not quoted
	word Word
}

// readWord returns w as bash would pass it on, as far as it is known.
func readWord(w *syntax.Word, vars Vars) Word {
	r := &wordReader{vars: vars}
	r.word.Static = true
	if w == nil {
		return r.word
	}
	for i, part := range w.Parts {
		r.part(part, i == 0, len(w.Parts) == 1)
	}
	if len(w.Parts) == 1 {
		_, r.word.pipe = w.Parts[0].(*syntax.ProcSubst)
	}
	r.checkBare()
	r.word.Value = string(r.text)
	r.word.Text = r.canonical()
	return r.word
}

func (r *wordReader) part(part syntax.WordPart, first, only bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		r.literal(p.Value, first, only)
	case *syntax.SglQuoted:
		value := p.Value
		if p.Dollar {
			r.dynamic("it uses $'…' quoting")
			value, _, _ = expand.Format(nil, value, nil) // ok: a guess at a word that is not static
		}
		r.add(value, false)
	case *syntax.DblQuoted:
		if p.Dollar {
			r.dynamic(`it uses $"…" quoting`)
		}
		for _, inner := range p.Parts {
			r.quoted(inner)
		}
	case *syntax.ParamExp:
		value, ok := r.variable(p)
		if ok && !strings.ContainsAny(value, " \t\n*?[\\") {
			r.word.expanded = true
			r.add(value, false)
			return
		}
		r.unknown(p)
		r.gap("it uses a variable ($"+paramName(p)+")", plainParam(p))
	case *syntax.ArithmExp:
		r.gap(construct(part), "")
	default:
		r.word.substs = true
		r.gap(construct(part), "")
	}
}

// gap records an unquoted expansion, which may expand to nothing, one word or several.
func (r *wordReader) gap(why, name string) {
	r.word.gaps = append(r.word.gaps, len(r.text))
	r.hole(why, name)
}

// hole records an unknown expansion. Name is the variable if it is a plain expansion.
func (r *wordReader) hole(why, name string) {
	r.word.holes = append(r.word.holes, len(r.text))
	r.word.names = append(r.word.names, name)
	r.dynamic(why)
}

// filled returns words with a digit in place of each unknown part, so that they can be parsed
// like others: as an operand, a number or part of a name.
func filled(words []Word) []Word {
	if !slices.ContainsFunc(words, func(w Word) bool { return len(w.holes) > 0 }) {
		return words
	}
	words = slices.Clone(words)
	for i, w := range words {
		if len(w.holes) == 0 {
			continue
		}
		var b strings.Builder
		from := 0
		for _, hole := range w.holes {
			b.WriteString(w.Value[from:hole])
			b.WriteByte('1')
			from = hole
		}
		b.WriteString(w.Value[from:])
		words[i].told, words[i].Value = w.Value, b.String()
	}
	return words
}

// quoted reads a part within double quotes.
func (r *wordReader) quoted(part syntax.WordPart) {
	switch p := part.(type) {
	case *syntax.Lit:
		v := p.Value
		for i := 0; i < len(v); i++ {
			if v[i] == '\\' && i+1 < len(v) && strings.IndexByte("$`\"\\\n", v[i+1]) >= 0 {
				if i++; v[i] == '\n' {
					continue
				}
			}
			r.add(v[i:i+1], false)
		}
	case *syntax.ParamExp:
		if value, ok := r.variable(p); ok {
			r.word.expanded = true
			r.add(value, false)
			return
		}
		r.unknown(p)
		why := "it uses a variable ($" + paramName(p) + ")"
		if paramName(p) == "@" || everyIndex(p.Index) || p.Names != 0 {
			r.gap(why, plainParam(p)) // several words, although quoted
			return
		}
		r.hole(why, plainParam(p))
	case *syntax.CmdSubst:
		if text, ok := quotedDocument(p); ok {
			r.word.expanded = true
			r.add(text, false)
			return
		}
		r.word.substs = true
		r.hole(construct(p), "")
	case *syntax.ArithmExp:
		r.hole(construct(part), "")
	default:
		r.word.substs = true
		r.hole(construct(part), "")
	}
}

// unknown records the variables in an unknown expansion.
func (r *wordReader) unknown(p *syntax.ParamExp) {
	if p.Length {
		return // a number
	}
	r.word.unset = append(r.word.unset, paramName(p))
	if p.Exp != nil || p.Repl != nil {
		r.word.substs = true // ${x:-$(rm x)}
	}
}

// literal reads unquoted text. The parser leaves its backslashes in place.
func (r *wordReader) literal(v string, first, only bool) {
	if first && strings.HasPrefix(v, "~") {
		rest := v[1:]
		if r.vars.Home == "" || (rest != "" || !only) && !strings.HasPrefix(rest, "/") {
			r.dynamic("it names a home directory with ~")
		} else {
			r.word.expanded = true
			r.add(r.vars.Home, false)
			v = rest
		}
	}
	for i := 0; i < len(v); i++ {
		if v[i] == '\\' && i+1 < len(v) {
			// The parser removes most line continuations, but not after a backslash.
			if i++; v[i] != '\n' {
				r.add(v[i:i+1], false)
			}
			continue
		}
		r.add(v[i:i+1], true)
	}
}

func (r *wordReader) add(s string, bare bool) {
	for i := range len(s) {
		r.text = append(r.text, s[i])
		r.bare = append(r.bare, bare)
	}
}

func (r *wordReader) dynamic(why string) {
	r.word.Static = false
	if r.word.why == "" {
		r.word.why = why
	}
}

// checkBare looks for characters that are special if unquoted.
func (r *wordReader) checkBare() {
	var bracket, assigned bool
	for i, c := range r.text {
		if !r.bare[i] {
			continue
		}
		switch c {
		case '*', '?':
			r.word.Glob = true
		case '[':
			bracket = true
		case ']':
			r.word.Glob = r.word.Glob || bracket
		case '{':
			r.word.brace = true
		case ',':
			if r.word.brace {
				r.dynamic("it uses brace expansion")
			}
		case '.':
			if r.word.brace && i > 0 && r.text[i-1] == '.' && r.bare[i-1] {
				r.dynamic("it uses brace expansion")
			}
		case '=':
			assigned = true
		case '~':
			if assigned && (r.text[i-1] == '=' || r.text[i-1] == ':') {
				r.dynamic("it names a home directory with ~")
			}
		}
	}
}

// canonical returns the word with as few quotes as possible.
func (r *wordReader) canonical() string {
	if len(r.text) == 0 {
		return "''"
	}
	var b strings.Builder
	for i := 0; i < len(r.text); {
		if r.plain(i) {
			b.WriteByte(r.text[i])
			i++
			continue
		}
		b.WriteByte('\'')
		for ; i < len(r.text) && !r.plain(i); i++ {
			if r.text[i] == '\'' {
				b.WriteString(`'\''`)
			} else {
				b.WriteByte(r.text[i])
			}
		}
		b.WriteByte('\'')
	}
	// 'a b'/c and 'a b/c' are the same word, and quoting the whole is easier to match.
	if !r.word.Glob && strings.ContainsRune(b.String(), '\'') {
		return quote(string(r.text))
	}
	return b.String()
}

// plain reports whether byte i of the word needs no quotes.
func (r *wordReader) plain(i int) bool {
	c := r.text[i]
	if r.word.Glob && strings.IndexByte("*?[]!^-", c) >= 0 {
		return r.bare[i]
	}
	return safeByte(c)
}

// safeByte reports whether c is never special in a word.
func safeByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		strings.IndexByte("%+-./:=@_,", c) >= 0 || c >= 0x80
}

// quote returns s as one static shell word.
func quote(s string) string {
	for i := range len(s) {
		if !safeByte(s[i]) {
			return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
		}
	}
	if s == "" {
		return "''"
	}
	return s
}

// reserved are the words that begin or end a construct in command position.
var reserved = setOf(`if then elif else fi for while until do done case esac in select function coproc`)

// asCommand returns the canonical form of a word in command position: if it looks like an
// assignment or is a reserved word, it is quoted, since a quote kept it from being one.
func (w *Word) asCommand() string {
	name, value, ok := strings.Cut(w.Text, "=")
	switch {
	case reserved(w.Text):
		return "'" + w.Text + "'"
	case !ok || !assignable(name):
		return w.Text
	case w.Glob:
		return name + "'='" + value
	}
	return "'" + w.Text + "'"
}

// assignable reports whether a word that begins with name and = is an assignment: to a
// variable, to an array element, or by appending.
func assignable(name string) bool {
	name = strings.TrimSuffix(name, "+")
	if i := strings.IndexByte(name, '['); i >= 0 && strings.HasSuffix(name, "]") {
		name = name[:i]
	}
	return syntax.ValidName(name)
}

// variable returns the value of a plain $NAME or ${NAME}, if known.
func (r *wordReader) variable(p *syntax.ParamExp) (string, bool) {
	if plainParam(p) == "" {
		return "", false
	}
	var value string
	switch p.Param.Value {
	case "HOME":
		value = r.vars.Home
	case "PWD":
		value = r.vars.Dir
	case "USER":
		value = r.vars.User
	case "TMPDIR":
		value = r.vars.Temp
	}
	return value, value != ""
}

// plainParam returns the name of a $NAME or ${NAME}, or "" for any other expansion.
func plainParam(p *syntax.ParamExp) string {
	if p.Param == nil || p.Flags != nil || p.Excl || p.Length || p.Width || p.IsSet || p.NestedParam != nil ||
		p.Index != nil || len(p.Modifiers) > 0 || p.Slice != nil || p.Repl != nil || p.Names != 0 || p.Exp != nil ||
		p.Split != syntax.OptUnset || p.GlobSubst != syntax.OptUnset || p.RcExpand != syntax.OptUnset {
		return ""
	}
	return p.Param.Value
}

func paramName(p *syntax.ParamExp) string {
	if p.Param == nil {
		return "{…}"
	}
	return p.Param.Value
}

// quotedDocument returns the text of $(cat <<'TAG' … TAG), which is equivalent to a literal.
func quotedDocument(c *syntax.CmdSubst) (string, bool) {
	if c.Backquotes || c.TempFile || c.ReplyVar || len(c.Stmts) != 1 {
		return "", false
	}
	st := c.Stmts[0]
	call, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || st.Negated || st.Background || st.Coprocess || st.Disown || len(st.Redirs) != 1 ||
		len(call.Assigns) != 0 || len(call.Args) != 1 || call.Args[0].Lit() != "cat" {
		return "", false
	}
	doc := st.Redirs[0]
	if doc.Op != syntax.Hdoc || doc.N != nil || !quotedTag(doc.Word) {
		return "", false
	}
	text, ok := literalText(doc.Hdoc)
	// bash on macOS looks for the end of the substitution without parsing here-documents.
	if !ok || runtime.GOOS == "darwin" && strings.ContainsAny(text, "()") && strings.ContainsAny(text, "'\"`\\") {
		return "", false
	}
	return strings.TrimRight(text, "\n"), true
}

// quotedTag reports whether a here-document's delimiter prevents expansion of its text.
func quotedTag(w *syntax.Word) bool {
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.SglQuoted, *syntax.DblQuoted:
			return true
		case *syntax.Lit:
			if strings.Contains(p.Value, `\`) {
				return true
			}
		}
	}
	return false
}

// literalText returns the text of a word that consists only of literals.
func literalText(w *syntax.Word) (string, bool) {
	if w == nil {
		return "", true
	}
	var b strings.Builder
	for _, part := range w.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return "", false
		}
		b.WriteString(lit.Value)
	}
	return b.String(), true
}
