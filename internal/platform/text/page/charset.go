package page

import (
	"bytes"
	"io"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
)

// decoded converts a body to UTF-8. The charset is determined by the byte order mark, the
// header or a meta tag, in that order. Without any of these, text that is not valid UTF-8 is
// treated as Windows-1252.
func decoded(body []byte, contentType string, html bool) io.Reader {
	for _, mark := range []struct{ bytes, name string }{{"\xef\xbb\xbf", "utf-8"}, {"\xff\xfe", "utf-16le"}, {"\xfe\xff", "utf-16be"}} {
		if rest, ok := bytes.CutPrefix(body, []byte(mark.bytes)); ok {
			return inCharset(rest, mark.name)
		}
	}
	if _, params, err := mime.ParseMediaType(contentType); err == nil {
		if r := inCharset(body, params["charset"]); r != nil {
			return r
		}
	}
	if html {
		name := declared(body[:min(len(body), 4096)])
		if strings.HasPrefix(strings.ToLower(name), "utf-16") {
			name = "utf-8" // a UTF-16 meta tag would not have been readable
		}
		if r := inCharset(body, name); r != nil {
			return r
		}
	}
	if utf8.Valid(body) {
		return bytes.NewReader(body)
	}
	return inCharset(body, "windows-1252")
}

// inCharset decodes a body from the named charset. It returns nil if the charset is unknown.
func inCharset(body []byte, name string) io.Reader {
	switch e := charset(name); e {
	case nil:
		return nil
	case encoding.Nop:
		return bytes.NewReader(body)
	default:
		return e.NewDecoder().Reader(bytes.NewReader(body))
	}
}

// charset returns the encoding with the given name: [encoding.Nop] for UTF-8, nil if unknown.
func charset(name string) encoding.Encoding {
	switch strings.ToLower(strings.Trim(name, " \t\"'")) {
	case "utf-8", "utf8", "unicode-1-1-utf-8":
		return encoding.Nop
	case "us-ascii", "ascii", "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "l1", "windows-1252", "cp1252", "x-cp1252":
		return charmap.Windows1252
	case "iso-8859-2", "latin2", "l2":
		return charmap.ISO8859_2
	case "iso-8859-3", "latin3":
		return charmap.ISO8859_3
	case "iso-8859-4", "latin4":
		return charmap.ISO8859_4
	case "iso-8859-5", "cyrillic":
		return charmap.ISO8859_5
	case "iso-8859-6", "arabic":
		return charmap.ISO8859_6
	case "iso-8859-7", "greek":
		return charmap.ISO8859_7
	case "iso-8859-8", "hebrew":
		return charmap.ISO8859_8
	case "iso-8859-10", "latin6":
		return charmap.ISO8859_10
	case "iso-8859-13":
		return charmap.ISO8859_13
	case "iso-8859-14":
		return charmap.ISO8859_14
	case "iso-8859-15", "latin9", "l9":
		return charmap.ISO8859_15
	case "iso-8859-16":
		return charmap.ISO8859_16
	case "iso-8859-9", "latin5", "windows-1254", "cp1254":
		return charmap.Windows1254
	case "windows-874", "tis-620", "iso-8859-11":
		return charmap.Windows874
	case "windows-1250", "cp1250":
		return charmap.Windows1250
	case "windows-1251", "cp1251":
		return charmap.Windows1251
	case "windows-1253", "cp1253":
		return charmap.Windows1253
	case "windows-1255", "cp1255":
		return charmap.Windows1255
	case "windows-1256", "cp1256":
		return charmap.Windows1256
	case "windows-1257", "cp1257":
		return charmap.Windows1257
	case "windows-1258", "cp1258":
		return charmap.Windows1258
	case "koi8-r", "koi8", "koi":
		return charmap.KOI8R
	case "koi8-u", "koi8-ru":
		return charmap.KOI8U
	case "ibm866", "cp866":
		return charmap.CodePage866
	case "macintosh", "mac", "x-mac-roman":
		return charmap.Macintosh
	case "shift_jis", "shift-jis", "sjis", "x-sjis", "ms_kanji", "windows-31j", "cp932":
		return japanese.ShiftJIS
	case "euc-jp", "x-euc-jp":
		return japanese.EUCJP
	case "iso-2022-jp":
		return japanese.ISO2022JP
	case "euc-kr", "ks_c_5601-1987", "korean", "windows-949", "cp949":
		return korean.EUCKR
	case "gbk", "gb2312", "gb_2312-80", "x-gbk", "chinese", "cp936":
		return simplifiedchinese.GBK
	case "gb18030":
		return simplifiedchinese.GB18030
	case "hz-gb-2312":
		return simplifiedchinese.HZGB2312
	case "big5", "big5-hkscs", "cn-big5", "x-x-big5":
		return traditionalchinese.Big5
	case "utf-16", "utf-16le":
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case "utf-16be":
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	}
	return nil
}

// declared returns the charset named in a meta tag or XML declaration at the beginning of a
// page, or "".
func declared(head []byte) string {
	lower := bytes.ToLower(head)
	for from := 0; ; {
		i := bytes.Index(lower[from:], []byte("charset"))
		if i < 0 {
			break
		}
		from += i + len("charset")
		tag := bytes.LastIndexByte(lower[:from], '<')
		value, ok := bytes.CutPrefix(bytes.TrimLeft(lower[from:], " \t\r\n"), []byte("="))
		if ok && tag >= 0 && bytes.HasPrefix(lower[tag:], []byte("<meta")) {
			return word(value)
		}
	}
	if rest, ok := bytes.CutPrefix(lower, []byte("<?xml")); ok {
		rest, _, _ = bytes.Cut(rest, []byte("?>"))
		if _, value, ok := bytes.Cut(rest, []byte("encoding=")); ok {
			return word(value)
		}
	}
	return ""
}

// word returns the first word of a value, which may be quoted.
func word(value []byte) string {
	value = bytes.TrimLeft(value, " \t\r\n\"'")
	if i := bytes.IndexAny(value, " \t\r\n\"';/>"); i >= 0 {
		value = value[:i]
	}
	return string(value)
}
