package content

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"mime"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"
)

// name returns a file name for results, made from their source and a hash.
func (r *renderer) name(data []byte) string {
	sum := sha256.Sum256(data)
	return r.fileName(sum[:])
}

func (r *renderer) fileName(sum []byte) string {
	return "mcp-" + word(r.from.Server) + "-" + word(r.from.Name) + "-" + hex.EncodeToString(sum[:4])
}

// word returns the letters, digits and hyphens of a name.
func word(name string) string {
	name = strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, name), "-")
	if name == "" {
		return "x"
	}
	return name[:min(len(name), 30)]
}

// Extension returns the file extension for data. The data decide; the server's declared type
// only distinguishes among text types, so that a saved file is never a program.
func Extension(data []byte, given string) string {
	kind, _, _ := mime.ParseMediaType(http.DetectContentType(data)) // ok: then its type is unknown
	switch {
	case bytes.HasPrefix(data, []byte("fLaC")):
		return "flac"
	case len(data) > 1 && data[0] == 0xff && data[1]&0xe0 == 0xe0 && kind == "application/octet-stream":
		return "mp3"
	}
	switch kind {
	case "image/png":
		return "png"
	case "image/jpeg":
		return "jpg"
	case "image/gif":
		return "gif"
	case "image/webp":
		return "webp"
	case "image/bmp":
		return "bmp"
	case "image/x-icon":
		return "ico"
	case "application/pdf":
		return "pdf"
	case "application/zip":
		return "zip"
	case "application/x-gzip":
		return "gz"
	case "application/x-rar-compressed":
		return "rar"
	case "audio/wave":
		return "wav"
	case "audio/mpeg":
		return "mp3"
	case "audio/aiff":
		return "aiff"
	case "audio/midi":
		return "mid"
	case "application/ogg":
		return "ogg"
	case "video/mp4":
		if strings.HasPrefix(given, "audio/") {
			return "m4a"
		}
		return "mp4"
	case "video/webm":
		return "webm"
	case "video/avi":
		return "avi"
	case "font/ttf", "font/otf", "font/woff", "font/woff2":
		return strings.TrimPrefix(kind, "font/")
	}
	if !utf8.Valid(data) || bytes.ContainsFunc(data, func(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) }) {
		return "bin"
	}
	given, _, _ = mime.ParseMediaType(given) // ok: then it is plain text
	switch given {
	case "application/json":
		return "json"
	case "text/csv":
		return "csv"
	case "text/markdown":
		return "md"
	case "application/xml", "text/xml":
		return "xml"
	case "application/yaml", "text/yaml", "application/x-yaml":
		return "yaml"
	}
	return "txt"
}
