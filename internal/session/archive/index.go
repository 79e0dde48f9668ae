package archive

import (
	"path/filepath"
	"strings"
	"time"

	"adze/internal/platform/fs/cachefile"
	"adze/internal/platform/fs/filestate"
	"adze/internal/session/store"
)

// A listed is a session in the index.
type listed struct {
	Info
	stamp filestate.Stamp
}

// A diskIndex caches the metadata of logs. Its file may be removed at any time: it is validated
// against the logs, and rebuilt if it cannot be read.
type diskIndex struct {
	path  string
	known map[string]*listed
}

const indexName = ".index"

// indexFormat is read regardless of the version of adze that wrote it.
var indexFormat = cachefile.Format{Mark: "adze sessions 3\n", Max: 256 << 20}

// openIndex reads the index in home. A damaged index is treated as empty.
func openIndex(home string) *diskIndex {
	x := &diskIndex{path: filepath.Join(store.Projects(home), indexName)}
	if r := indexFormat.Load(x.path); r != nil {
		x.known = decodeIndex(r)
	}
	if x.known == nil {
		x.known = map[string]*listed{}
	}
	return x
}

// update adds infos to the index and writes it if anything has changed. Entries for files
// removed from the same folders are dropped.
func (x *diskIndex) update(files []file, infos []Info) {
	seen := map[string]bool{} // folders
	same := 0
	for i := range files {
		seen[files[i].folder.name] = true
		if known, ok := x.known[files[i].key]; ok && known.stamp == files[i].stamp && infos[i].Path != "" {
			same++
		}
	}
	if same == len(files) && same == len(x.known) {
		return
	}
	others := 0
	for key := range x.known {
		if folder, _, _ := strings.Cut(key, "/"); !seen[folder] {
			others++
		}
	}
	if same == len(files) && same+others == len(x.known) {
		return
	}
	fresh := make(map[string]*listed, len(files)+others)
	for key, l := range x.known {
		if folder, _, _ := strings.Cut(key, "/"); !seen[folder] {
			fresh[key] = l
		}
	}
	for i := range files {
		if infos[i].Path != "" {
			fresh[files[i].key] = &listed{infos[i], files[i].stamp}
		}
	}
	_ = indexFormat.Save(x.path, encodeIndex(fresh)) // ok: the list is correct without an index
}

func encodeIndex(known map[string]*listed) *cachefile.Writer {
	const perSession = 150 // approximate bytes
	w := &cachefile.Writer{}
	w.Grow(perSession * len(known))
	w.Number(uint64(len(known)))
	for key, l := range known {
		w.Text(key, l.Title, l.AutoTitle, l.Tag, l.Branch)
		created := int64(0)
		if !l.Created.IsZero() {
			created = l.Created.UnixMilli()
		}
		w.Number(uint64(created))
		w.Number(uint64(l.Messages))
		w.Flags(l.About)
		w.Stamp(l.stamp)
	}
	return w
}

// minListed is the minimum encoded size of a session.
const minListed = 5 + 2 + 1 + 40

// decodeIndex decodes an index, or returns nil.
func decodeIndex(r *cachefile.Reader) map[string]*listed {
	n := r.CountOf(minListed)
	known := make(map[string]*listed, n)
	all := make([]listed, n) // a single allocation
	for i := range all {
		key, l := r.Text(), &all[i]
		*l = listed{Info: Info{Title: r.Text(), AutoTitle: r.Text(), Tag: r.Text(), Branch: r.Text()}}
		if created := int64(r.Number()); created != 0 {
			l.Created = time.UnixMilli(created).UTC()
		}
		l.Messages, l.About, l.stamp = int(r.Number()), r.Flags()[0], r.Stamp()
		known[key] = l
	}
	if !r.Whole() {
		return nil
	}
	return known
}
