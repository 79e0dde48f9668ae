package archive

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"adze/internal/session/store"
)

// A stamp identifies a version of a file.
type stamp struct {
	size, modified int64
	inode          uint64
}

func stampOf(info fs.FileInfo) stamp {
	return stamp{info.Size(), info.ModTime().UnixNano(), inode(info)}
}

// A listed is a session in the index.
type listed struct {
	Info
	stamp stamp
}

// A diskIndex caches the metadata of logs. Its file may be removed at any time: it is validated
// against the logs, and rebuilt if it cannot be read.
type diskIndex struct {
	path  string
	known map[string]*listed
}

const (
	indexName  = ".index"
	indexMagic = "adze sessions 2\n"
)

// openIndex reads the index in home. A damaged index is treated as empty.
func openIndex(home string) *diskIndex {
	x := &diskIndex{path: filepath.Join(store.Projects(home), indexName)}
	data, err := os.ReadFile(x.path)
	if err == nil {
		x.known, err = parseIndex(data)
	}
	if err != nil {
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
	x.write(fresh) // ok: the list is correct without an index
}

// write replaces the index. It is not synced: a checksum detects truncation.
func (x *diskIndex) write(known map[string]*listed) error {
	tmp, err := os.CreateTemp(filepath.Dir(x.path), indexName+".*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(appendIndex(nil, known))
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), x.path)
	}
	if err != nil {
		os.Remove(tmp.Name()) // ok: the write error is returned
	}
	return err
}

func appendIndex(dst []byte, known map[string]*listed) []byte {
	dst = append(dst, indexMagic...)
	dst = append(dst, 0, 0, 0, 0)
	start := len(dst)
	str := func(s string) {
		dst = binary.AppendUvarint(dst, uint64(len(s)))
		dst = append(dst, s...)
	}
	dst = binary.AppendUvarint(dst, uint64(len(known)))
	for key, l := range known {
		for _, s := range []string{key, l.Title, l.AutoTitle, l.Tag, l.Branch} {
			str(s)
		}
		created := int64(0)
		if !l.Created.IsZero() {
			created = l.Created.UnixMilli()
		}
		about := int64(0)
		if l.About {
			about = 1
		}
		for _, n := range []int64{created, int64(l.Messages), about, l.stamp.size, l.stamp.modified} {
			dst = binary.AppendVarint(dst, n)
		}
		dst = binary.AppendUvarint(dst, l.stamp.inode)
	}
	binary.LittleEndian.PutUint32(dst[start-4:], crc32.ChecksumIEEE(dst[start:]))
	return dst
}

var errIndex = errors.New("the index of sessions is damaged")

func parseIndex(data []byte) (map[string]*listed, error) {
	if len(data) < len(indexMagic)+4 || string(data[:len(indexMagic)]) != indexMagic {
		return nil, errIndex
	}
	sum := binary.LittleEndian.Uint32(data[len(indexMagic):])
	data = data[len(indexMagic)+4:]
	if crc32.ChecksumIEEE(data) != sum {
		return nil, errIndex
	}
	p := indexParser{text: string(data), data: data}
	n := p.number()
	if n > uint64(len(data))/8 { // the minimum size of an entry
		return nil, errIndex
	}
	known := make(map[string]*listed, n)
	all := make([]listed, n) // a single allocation
	for i := range all {
		key, l := p.str(), &all[i]
		*l = listed{Info: Info{Title: p.str(), AutoTitle: p.str(), Tag: p.str(), Branch: p.str()}}
		if created := p.signed(); created != 0 {
			l.Created = time.UnixMilli(created).UTC()
		}
		l.Messages, l.About = int(p.signed()), p.signed() == 1
		l.stamp = stamp{size: p.signed(), modified: p.signed(), inode: p.number()}
		known[key] = l
	}
	if p.bad || len(p.data) != 0 {
		return nil, errIndex
	}
	return known, nil
}

// An indexParser reads consecutive values. Its strings are substrings of one string.
type indexParser struct {
	text string
	data []byte
	bad  bool
}

func (p *indexParser) advance(n int) {
	if n <= 0 {
		p.bad, p.data, p.text = true, nil, ""
		return
	}
	p.data, p.text = p.data[n:], p.text[n:]
}

func (p *indexParser) number() uint64 {
	v, n := binary.Uvarint(p.data)
	p.advance(n)
	return v
}

func (p *indexParser) signed() int64 {
	v, n := binary.Varint(p.data)
	p.advance(n)
	return v
}

func (p *indexParser) str() string {
	n := p.number()
	if n > uint64(len(p.data)) {
		p.bad = true
		return ""
	}
	s := p.text[:n]
	p.data, p.text = p.data[n:], p.text[n:]
	return s
}
