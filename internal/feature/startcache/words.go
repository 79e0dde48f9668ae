package startcache

import (
	"hash/crc32"
	"sync"

	"adze/internal/platform/fs/cachefile"
)

// Words holds the search words of skills, in the search tool's format. They make up most of a
// start and are needed last, so they are stored in a separate file that is read in the
// background. Nil is empty.
type Words struct {
	text func() string
}

// NewWords returns words.
func NewWords(text string) *Words {
	if text == "" {
		return nil
	}
	return &Words{func() string { return text }}
}

// Text waits for the words and returns them; empty if they cannot be read or do not match the
// start.
func (w *Words) Text() string {
	if w == nil {
		return ""
	}
	return w.text()
}

// wordsFormat is their file format.
var wordsFormat = cachefile.Format{Mark: "adze-words 1\n", Max: 8 << 20}

// wordsFile returns the path of the words file for the start at path.
func wordsFile(path string) string { return path + ".words" }

// save writes the words. The start identifies them by their checksum.
func (w *Words) save(path string) error {
	if w == nil {
		return nil
	}
	var out cachefile.Writer
	out.Text(w.Text())
	return wordsFormat.Save(wordsFile(path), &out)
}

// sum returns the checksum of the words; 0 if empty.
func (w *Words) sum() uint32 { return crc32.ChecksumIEEE([]byte(w.Text())) }

// readWords starts reading the words with a checksum.
func readWords(path string, sum uint32) *Words {
	if sum == 0 {
		return nil
	}
	w := &Words{}
	w.text = sync.OnceValue(func() string {
		r := wordsFormat.Load(wordsFile(path))
		if r == nil || r.Foreign() {
			return ""
		}
		text := r.Text()
		if !r.Whole() || NewWords(text).sum() != sum {
			return ""
		}
		return text
	})
	go w.text()
	return w
}
