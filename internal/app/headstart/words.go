package headstart

import (
	"hash/crc32"
	"sync"

	"adze/internal/platform/cachefile"
)

// Words are those that skills are found by, as the tool that finds them has them. They are most of what a start keeps and are
// needed last, so they have a file of their own, which is read beside everything else. Nil are none.
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

// Text returns the words, once they are read; empty if they cannot be, or are not those of the start.
func (w *Words) Text() string {
	if w == nil {
		return ""
	}
	return w.text()
}

// wordsFormat is that of their file.
var wordsFormat = cachefile.Format{Mark: "adze-words 1\n", Max: 8 << 20}

// wordsFile is where the words of the start in a file are kept.
func wordsFile(path string) string { return path + ".words" }

// save writes the words. The start that they belong to knows them by their sum.
func (w *Words) save(path string) error {
	if w == nil {
		return nil
	}
	var out cachefile.Writer
	out.Text(w.Text())
	return wordsFormat.Save(wordsFile(path), &out)
}

// sum is what the words are known by; 0 if there are none.
func (w *Words) sum() uint32 { return crc32.ChecksumIEEE([]byte(w.Text())) }

// readWords begins to read the words with a sum.
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
