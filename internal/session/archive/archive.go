// Package archive lists, finds, searches and exports the sessions on disk. It reads as little
// as possible of the logs written by package store, and keeps a disposable index next to them.
package archive

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/platform/fs/filestate"
	"adze/internal/session/store"
)

// Info describes a session in a list.
type Info struct {
	ID   string
	Path string
	// Dir is the folder where the session started, or empty if unknown.
	Dir string
	// Title is the title set by the user. AutoTitle is the generated title or the first words
	// of the first prompt.
	Title, AutoTitle string
	Tag, Branch      string
	Created          time.Time
	Modified         time.Time
	// Messages is the number of prompts and answers, at least 1 in a session. For large logs it
	// is an estimate.
	Messages int
	About    bool
	Size     int64
}

// Name returns the session's title, or its ID if it has none.
func (i *Info) Name() string { return cmp.Or(i.Title, i.AutoTitle, i.ID) }

// ListOptions selects sessions.
type ListOptions struct {
	// Dir restricts the list to the project in this folder; empty means all projects.
	Dir string
}

// List returns the sessions, most recently changed first. It omits files that are not sessions.
func List(home string, o ListOptions) ([]Info, error) {
	infos, _, err := Survey(home, o)
	return infos, err
}

// Survey is like [List], and also returns the omitted files.
func Survey(home string, o ListOptions) ([]Info, Omitted, error) {
	files, err := find(home, o.Dir)
	if err != nil {
		return nil, Omitted{}, err
	}
	x := openIndex(home)
	infos := describe(files, x)
	x.update(files, infos)
	return byChange(infos), leftOut(files, infos), nil
}

// Omitted holds the session files that a list omits.
type Omitted struct {
	// Unreadable lists the unreadable files, newest first.
	Unreadable []Unreadable
	// Empty is the number of files without a readable message.
	Empty int
}

// Unreadable is a session that cannot be read.
type Unreadable struct {
	Path     string
	Modified time.Time
	Err      error
}

func (u *Unreadable) Error() string {
	return fmt.Sprintf("the session %s cannot be read: %v", u.Path, reason(u.Err))
}

// Unwrap returns the cause.
func (u *Unreadable) Unwrap() error { return u.Err }

// reason returns err without the file name.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

func leftOut(files []file, infos []Info) (left Omitted) {
	for i := range files {
		switch f := &files[i]; {
		case f.err != nil:
			left.Unreadable = append(left.Unreadable, Unreadable{f.path(), time.Unix(0, f.stamp.MTime), f.err})
		case infos[i].Path != "" && infos[i].Messages == 0:
			left.Empty++
		}
	}
	slices.SortFunc(left.Unreadable, func(a, b Unreadable) int { return b.Modified.Compare(a.Modified) })
	return left
}

// byChange returns the sessions among infos, most recently changed first.
func byChange(infos []Info) []Info {
	order := make([]*Info, 0, len(infos)) // an Info is large
	for i := range infos {
		if infos[i].Path != "" && infos[i].Messages > 0 {
			order = append(order, &infos[i])
		}
	}
	slices.SortFunc(order, func(a, b *Info) int {
		if c := b.Modified.Compare(a.Modified); c != 0 {
			return c
		}
		return strings.Compare(a.Path, b.Path)
	})
	sorted := make([]Info, len(order))
	for i, info := range order {
		sorted[i] = *info
	}
	return sorted
}

// A file is a potential session log.
type file struct {
	folder *folder
	name   string
	key    string // its key in the index
	stamp  filestate.Stamp
	err    error // why it cannot be read
}

// A folder is a project's session folder.
type folder struct {
	path, name string
	origin     func() string
}

func (f *file) path() string { return f.folder.path + string(filepath.Separator) + f.name }

// find returns the files of the project in dir, or of all projects.
func find(home, dir string) ([]file, error) {
	if dir != "" {
		return findIn(store.ProjectDir(home, dir), nil)
	}
	projects := store.Projects(home)
	folders, err := readDir(projects)
	if err != nil {
		return nil, fmt.Errorf("listing sessions: %w", err)
	}
	var files []file
	for _, f := range folders {
		if !f.IsDir() {
			continue
		}
		if files, err = findIn(filepath.Join(projects, f.Name()), files); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func findIn(dir string, files []file) ([]file, error) {
	entries, err := readDir(dir)
	if err != nil {
		return nil, fmt.Errorf("listing sessions: %w", err)
	}
	in := &folder{path: dir, name: filepath.Base(dir), origin: sync.OnceValue(func() string { return store.Origin(dir) })}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".jsonl") && !e.IsDir() {
			files = append(files, file{folder: in, name: e.Name(), key: in.name + "/" + e.Name()})
		}
	}
	return files, nil
}

// readDir lists a folder in no particular order. A missing folder is empty.
func readDir(dir string) ([]fs.DirEntry, error) {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

// describe returns the info of each file, from the index if it is still valid. Files that are
// not sessions get a zero Info.
func describe(files []file, x *diskIndex) []Info {
	infos := make([]Info, len(files))
	workers := min(runtime.GOMAXPROCS(0), len(files)/64+1)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			var r reader
			for i := w * len(files) / workers; i < (w+1)*len(files)/workers; i++ {
				infos[i] = r.describe(&files[i], x)
			}
		})
	}
	wg.Wait()
	return infos
}

func (r *reader) describe(f *file, x *diskIndex) Info {
	path := f.path()
	stat, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.err = err
	}
	if err != nil || !stat.Mode().IsRegular() {
		return Info{}
	}
	f.stamp = filestate.StampOf(stat)
	known, ok := x.known[f.key]
	info := Info{}
	if ok {
		info = known.Info
	}
	if !ok || known.stamp != f.stamp {
		from := int64(0)
		if ok && known.stamp.Inode == f.stamp.Inode && known.stamp.Dev == f.stamp.Dev && known.stamp.Size < f.stamp.Size {
			from = known.stamp.Size
		}
		if info, err = r.read(path, stat.Size(), from, info); err != nil {
			f.err = err
			return Info{}
		}
	}
	info.ID, info.Path, info.Dir = strings.TrimSuffix(f.name, ".jsonl"), path, f.folder.origin()
	info.Size, info.Modified = stat.Size(), stat.ModTime()
	return info
}

// Describe returns the info of the log at path, which may be anywhere.
func Describe(path string) (*Info, error) {
	stat, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading transcript: %w", err)
	}
	if !stat.Mode().IsRegular() {
		return nil, fmt.Errorf("reading transcript: %s is not a file", path)
	}
	var r reader
	info, err := r.read(path, stat.Size(), 0, Info{})
	if err != nil {
		return nil, fmt.Errorf("reading transcript: %w", err)
	}
	info.ID, info.Path = strings.TrimSuffix(filepath.Base(path), ".jsonl"), path
	info.Dir = store.Origin(filepath.Dir(path))
	if info.Dir == "" { // outside the session folders the file name means nothing
		info.Dir, info.ID = r.dir, cmp.Or(r.session, info.ID)
	}
	info.Size, info.Modified = stat.Size(), stat.ModTime()
	return &info, nil
}
