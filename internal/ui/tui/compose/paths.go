package compose

import (
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"
)

// A DroppedFile is a file dropped into the terminal, which pastes its path.
type DroppedFile struct {
	// Text is the pasted path, and Path the file.
	Text, Path string
}

const (
	// maxDropped is the maximum number of files in one paste, and maxPath its maximum length.
	maxDropped = 20
	maxPath    = 16 << 10
)

// imageEndings are the extensions of image files.
var imageEndings = []string{".png", ".jpg", ".jpeg", ".gif", ".webp"}

// Drops returns the files that a paste consists of, if all of them are images by their names.
// It does not check whether they exist. Home is the user's home directory.
func Drops(pasted, home string) []DroppedFile {
	if len(pasted) > maxPath {
		return nil
	}
	var found []DroppedFile
	for _, w := range words(strings.TrimSpace(pasted)) {
		w.Path = file(w.Path, home)
		if w.Path == "" || len(found) == maxDropped || !slices.Contains(imageEndings, strings.ToLower(filepath.Ext(w.Path))) {
			return nil
		}
		found = append(found, w)
	}
	return found
}

// file returns the absolute path of a pasted path, or "".
func file(path, home string) string {
	if u, err := url.Parse(path); err == nil && u.Scheme == "file" {
		path = u.Path
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok && home != "" {
		path = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(path) {
		return ""
	}
	return filepath.Clean(path)
}

// words splits a text like a shell, because terminals quote the paths they paste.
func words(text string) []DroppedFile {
	var all []DroppedFile
	var path strings.Builder
	begin, quote := -1, rune(0)
	escaped := false
	end := func(at int) {
		if begin >= 0 {
			all = append(all, DroppedFile{text[begin:at], path.String()})
		}
		begin = -1
		path.Reset()
	}
	for i, r := range text {
		if begin < 0 && !unicode.IsSpace(r) {
			begin = i
		}
		switch {
		case escaped:
			path.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'' && runtime.GOOS != "windows":
			escaped = true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case quote == 0 && unicode.IsSpace(r):
			end(i)
		default:
			path.WriteRune(r)
		}
	}
	if quote != 0 || escaped {
		return nil
	}
	end(len(text))
	return all
}
