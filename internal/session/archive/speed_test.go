package archive

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/session/store"
)

// BenchmarkList lists thousands of sessions with and without the index.
func BenchmarkList(b *testing.B) {
	m := &maker{t: b, home: b.TempDir()}
	const sessions = 5000
	body := strings.Repeat("some words of an answer, \"quoted\"\n", 60)
	for n := range sessions {
		texts := []string{"Please look at this"}
		for range 4 + n%20 {
			texts = append(texts, body)
		}
		m.session(fmt.Sprintf("/work/app%d", n%40), fmt.Sprintf("s%d", n), nil, texts...)
	}
	index := filepath.Join(store.Projects(m.home), indexName)
	list := func(b *testing.B) {
		infos, err := List(m.home, ListOptions{})
		if err != nil || len(infos) != sessions {
			b.Fatal(len(infos), err)
		}
	}
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			os.Remove(index) // ok: missing the first time
			list(b)
		}
	})
	b.Run("warm", func(b *testing.B) {
		for b.Loop() {
			list(b)
		}
	})
}
