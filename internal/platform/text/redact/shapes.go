package redact

import "strings"

// A key describes the form of a service's secrets.
type key struct {
	prefix string
	least  int  // minimum number of bytes after the prefix
	mixed  bool // must look random, because the prefix alone is too common
	dots   bool // may contain dots
}

var keys = [...]key{
	{prefix: "sk-ant-", least: 16},
	{prefix: "sk-proj-", least: 16},
	{prefix: "sk-or-v1-", least: 16},
	{prefix: "sk-", least: 20, mixed: true},
	{prefix: "sk_live_", least: 10},
	{prefix: "sk_test_", least: 10},
	{prefix: "rk_live_", least: 10},
	{prefix: "rk_test_", least: 10},
	{prefix: "whsec_", least: 16},
	{prefix: "AKIA", least: 16, mixed: true},
	{prefix: "ASIA", least: 16, mixed: true},
	{prefix: "ghp_", least: 30},
	{prefix: "gho_", least: 30},
	{prefix: "ghu_", least: 30},
	{prefix: "ghs_", least: 30},
	{prefix: "ghr_", least: 30},
	{prefix: "github_pat_", least: 30},
	{prefix: "glpat-", least: 16},
	{prefix: "gldt-", least: 16},
	{prefix: "xoxb-", least: 10},
	{prefix: "xoxp-", least: 10},
	{prefix: "xoxa-", least: 10},
	{prefix: "xoxr-", least: 10},
	{prefix: "xoxs-", least: 10},
	{prefix: "xapp-", least: 10},
	{prefix: "AIza", least: 30},
	{prefix: "ya29.", least: 20, dots: true},
	{prefix: "npm_", least: 30},
	{prefix: "pypi-", least: 40},
	{prefix: "hf_", least: 30},
	{prefix: "gsk_", least: 30},
	{prefix: "xai-", least: 40},
	{prefix: "r8_", least: 30},
	{prefix: "pplx-", least: 30},
	{prefix: "dop_v1_", least: 40},
	{prefix: "doo_v1_", least: 40},
	{prefix: "shpat_", least: 24},
	{prefix: "shpss_", least: 24},
	{prefix: "SG.", least: 40, mixed: true, dots: true},
	{prefix: "eyJ", least: 40, mixed: true, dots: true},
	{prefix: "dckr_pat_", least: 20},
	{prefix: "lin_api_", least: 20},
	{prefix: "sntrys_", least: 30},
	{prefix: "PMAK-", least: 40},
	{prefix: "AGE-SECRET-KEY-1", least: 40},
	{prefix: "hvs.", least: 20},
	{prefix: "vault:v1:", least: 20},
}

// maxDotted limits how far a token is scanned after its first dot.
const maxDotted = 4096

// knownKey returns the end of the key at i, or 0.
func (r *redactor) knownKey(i int) int {
	s := r.in
	for k := range keys {
		key := &keys[k]
		if s[i] != key.prefix[0] || !strings.HasPrefix(s[i:], key.prefix) {
			continue
		}
		start := i + len(key.prefix)
		end := r.endOfToken(start)
		if key.dots {
			end = dotted(s, end)
		}
		for end > start && s[end-1] == '.' { // end of a sentence
			end--
		}
		v := s[start:max(start, end)]
		switch {
		case len(v) < key.least:
		case key.mixed && !random(v):
		case key.prefix == "eyJ" && strings.Count(v, ".") != 2: // unsigned JWT
		default:
			return end
		}
	}
	return 0
}

// dotted returns the end of a token with up to three parts, of which the first ends at i.
func dotted(s string, i int) int {
	dots := 0
	for end := i; end < len(s) && end < i+maxDotted; end++ {
		if s[end] == '.' {
			dots++
		}
		if dots > 2 || !tokenByte[s[end]] && s[end] != '.' {
			return end
		}
	}
	return min(len(s), i+maxDotted)
}

// endOfToken returns the end of the run of token bytes at i.
func (r *redactor) endOfToken(i int) int {
	if i >= r.tokenEnd {
		r.tokenEnd = i
		for r.tokenEnd < len(r.in) && tokenByte[r.in[r.tokenEnd]] {
			r.tokenEnd++
		}
	}
	return r.tokenEnd
}

// bearer returns the token after the word Bearer at i, or zeros.
func bearer(s string, i int) (start, end int) {
	const word = "bearer "
	if len(s)-i < len(word) || s[i]|0x20 != 'b' || !strings.EqualFold(s[i:i+len(word)], word) {
		return 0, 0
	}
	start = i + len(word)
	for end = start; end < len(s) && valueByte[s[end]]; {
		end++
	}
	if end-start < 16 || !random(s[start:end]) {
		return 0, 0
	}
	return start, end
}

// maxCredential limits how far a URL is scanned for a user and password.
const maxCredential = 512

// urlPassword returns the range of the password in a URL whose scheme ends at i, or zeros.
func urlPassword(s string, i int) (start, end int) {
	if !strings.HasPrefix(s[i:], "://") || i == 0 || !letterByte(s[i-1]) {
		return 0, 0
	}
	from := i + 3
	colon := 0
	for at := from; at < len(s) && at < from+maxCredential; at++ {
		switch c := s[at]; {
		case c == ':' && colon == 0:
			colon = at + 1
		case c == '@':
			if colon == 0 || colon == at || placeholder(s[colon:at]) {
				return 0, 0
			}
			return colon, at
		case c <= ' ', c == '/', c == '?', c == '#', c == '"', c == '\'', c == '`', c == '<', c == '>', c == '\\', c == '{', c == '(':
			return 0, 0
		}
	}
	return 0, 0
}

const (
	pemBegin = "-----BEGIN "
	pemEnd   = "-----END "
)

// privateKey returns the end of the private key whose header begins at i, or 0. A truncated key
// ends after its base64 lines.
func privateKey(s string, i int) int {
	if !strings.HasPrefix(s[i:], pemBegin) {
		return 0
	}
	head := s[i+len(pemBegin):]
	label := head[:min(len(head), 60)]
	stop := strings.Index(label, "-----")
	if stop < 0 || !strings.Contains(label[:stop], "PRIVATE KEY") {
		return 0
	}
	at := i + len(pemBegin) + stop + len("-----")
	for at < len(s) {
		if c := s[at]; c == '-' && strings.HasPrefix(s[at:], pemEnd) {
			line := s[at:min(len(s), at+90)]
			if n := strings.Index(line[len(pemEnd):], "-----"); n >= 0 {
				return at + len(pemEnd) + n + len("-----")
			}
			return len(s[:at]) + len(line)
		} else if !pemByte[c] && !lineEscape(s[at:]) {
			break
		}
		at++
	}
	return at
}

// lineEscape reports whether s begins with an escaped line break, as in a string literal.
func lineEscape(s string) bool {
	return len(s) > 1 && s[0] == '\\' && (s[1] == 'n' || s[1] == 'r' || s[1] == 't' || s[1] == '\\' && lineEscape(s[1:min(len(s), 4)]))
}

// A nameKind classifies a name by its likely value.
type nameKind uint8

const (
	notSecret   nameKind = iota
	maybe                // a word for secrets that is also common in code
	secret               // a word rarely used for anything but secrets
	header               // an HTTP header
	credentials          // the part after the scheme in a header
)

// maxName limits the length of names.
const maxName = 64

// nameBefore classifies the name before the separator at i.
func nameBefore(s string, i int) nameKind {
	end := i
	for end > 0 && end > i-3 && (s[end-1] == ' ' || s[end-1] == '"' || s[end-1] == '\'' || s[end-1] == '\\') {
		end--
	}
	start := end
	for start > 0 && end-start < maxName && (tokenByte[s[start-1]] || s[start-1] == '.') {
		start--
	}
	if end-start < 3 {
		return notSecret
	}
	name := squash(s[start:end])
	switch {
	case name == "authorization", name == "proxyauthorization", name == "xapikey", name == "cookie", name == "setcookie":
		return header
	case hasAny(name, "password", "passwd", "passphrase", "apikey", "secretkey", "accesskey", "clientsecret", "privatekey",
		"authtoken", "accesstoken", "refreshtoken", "bearertoken", "secrettoken", "signingkey", "encryptionkey"):
		return secret
	case hasAny(name, "token", "secret", "credential", "pwd"), strings.HasSuffix(name, "auth"):
		return maybe
	}
	return notSecret
}

// squash returns a name in lower case without word separators.
func squash(name string) string {
	var b [maxName]byte
	n := 0
	for _, c := range []byte(name) {
		switch {
		case c >= 'A' && c <= 'Z':
			c |= 0x20
		case c == '_', c == '-', c == '.':
			continue
		}
		b[n] = c
		n++
	}
	return string(b[:n])
}

func hasAny(s string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// valueStart returns the start of the value after a separator, and whether it is quoted.
func valueStart(s string, i int) (start int, quoted bool) {
	for n := 0; i < len(s) && n < 4; n++ {
		switch s[i] {
		case ' ', '\t', '\\', '=', '>': // including := and =>
			i++
			continue
		case '"', '\'', '`':
			return i + 1, true
		}
		break
	}
	return i, false
}

// cutScheme reports whether value is the scheme before the credentials in a header, and returns
// the number of blanks after it.
func cutScheme(value, rest string) (int, bool) {
	switch strings.ToLower(value) {
	case "bearer", "basic", "token", "digest", "negotiate":
		return len(rest) - len(strings.TrimLeft(rest[:min(2, len(rest))], " ")) - max(0, len(rest)-2), true
	}
	return 0, false
}

// secretValue decides whether the value after a name is a secret. In code, most such values are
// not.
func secretValue(v string, n nameKind, quoted bool, rest string) bool {
	switch {
	case len(v) < 6 || placeholder(v):
		return false
	case rest != "" && (rest[0] == '(' || rest[0] == '['): // a call
		return false
	case n == credentials:
		return len(v) >= 8
	case n == header:
		return len(v) >= 8 && (hasDigit(v) || hasSign(v))
	case n == secret && quoted:
		return hasDigit(v) || hasSign(v)
	case n == secret:
		return len(v) >= 8 && hasDigit(v) && !identifier(v) || len(v) >= 16 && random(v)
	}
	return len(v) >= 12 && random(v) && !identifier(v)
}

// placeholder reports whether v is a placeholder for a value elsewhere.
func placeholder(v string) bool {
	if v == "" || strings.ContainsAny(v[:1], "$<{[*%") || strings.Trim(v, string(v[0])) == "" {
		return true
	}
	low := strings.ToLower(v)
	for _, w := range []string{"redacted", "example", "placeholder", "changeme", "your", "xxxx", "...", "env.", "getenv", "secrets."} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}

// identifier reports whether v looks like an identifier: words joined by dots or underscores,
// with digits only at the ends of words.
func identifier(v string) bool {
	for _, word := range strings.FieldsFunc(v, func(r rune) bool { return r == '.' || r == '_' || r == '-' }) {
		body := strings.TrimRight(word, "0123456789")
		if body == "" || strings.ContainsAny(body, "0123456789+/=!@#$%^&*~") || len(word)-len(body) > 4 {
			return false
		}
		// Capitals begin words; in random text they occur everywhere.
		capitals := 0
		for i := 1; i < len(body); i++ {
			if body[i] >= 'A' && body[i] <= 'Z' {
				capitals++
			}
		}
		if capitals*4 > len(body) && strings.ToUpper(body) != body {
			return false
		}
	}
	return true
}

// random reports whether v looks generated rather than typed: a mix of many different letters
// and digits.
func random(v string) bool {
	v = v[:min(len(v), 128)]
	var seen [256]bool
	distinct, digits, letters, changes := 0, 0, 0, 0
	class := byte(0)
	for _, c := range []byte(v) {
		if !seen[c] {
			seen[c] = true
			distinct++
		}
		k := byte(2)
		switch {
		case c >= '0' && c <= '9':
			digits++
			k = 1
		case letterByte(c):
			letters++
			if c >= 'a' {
				k = 3
			}
		default:
			k = class // other characters continue the class
		}
		if class != 0 && k != class {
			changes++
		}
		class = k
	}
	return digits > 0 && letters > 0 && distinct >= min(8, len(v)*2/3) && changes*6 >= len(v)
}

func hasDigit(v string) bool { return strings.ContainsAny(v, "0123456789") }
func hasSign(v string) bool  { return strings.ContainsAny(v, "!@#$%^&*~+/") }

func letterByte(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func byteSet(also string) (t [256]bool) {
	for c := range t {
		t[c] = letterByte(byte(c)) || c >= '0' && c <= '9'
	}
	for _, c := range []byte(also) {
		t[c] = true
	}
	return t
}

var (
	wordByte  = byteSet("_")
	tokenByte = byteSet("_-")
	valueByte = byteSet("_-.+/!@#$%^&*~")
	pemByte   = byteSet("+/= \t\r\n:,")
)
