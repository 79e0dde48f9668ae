package change

import (
	"bytes"
	"fmt"
	"sync"

	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/fs/paths"
	"adze/internal/platform/fs/replace"
	"adze/internal/tool"
)

// A Target is a call's file. Its path is fixed when the call is bound, and resolved once, so
// that the file written is the file that was judged.
type Target struct {
	Path string // absolute, normalized for comparison
	// Blind means that the change does not depend on the known content: the file need not have
	// been read, and may have changed since.
	Blind bool

	files *Files
	typed string
	base  paths.Base
	set   func() (paths.ResolvedPath, error)
	// change is the history's number for the change.
	change int64
}

// Target returns the file at a path given by a model. It touches no files; its error is for the
// model.
func (f *Files) Target(path string) (*Target, error) {
	base := paths.Base{Dir: f.Dir()}
	if f.Home != nil {
		base.Home = f.Home()
	} else {
		base.Home = paths.UserHome()
	}
	expanded, err := base.Expand(path)
	if err != nil {
		return nil, err
	}
	return &Target{
		Path: expanded, files: f, typed: path, base: base,
		set: sync.OnceValues(func() (paths.ResolvedPath, error) { return base.Resolve(path) }),
	}, nil
}

func (t *Target) target() *Target { return t }

// Shown returns the path for display.
func (t *Target) Shown() string { return paths.Relative(t.base.Dir, t.Path) }

// Remote reports whether the path may be on a network share.
func (t *Target) Remote() bool { return paths.IsUNC(t.typed) }

// Access lists the call's file accesses.
func (t *Target) Access() []tool.Access {
	return []tool.Access{{Verb: tool.Write, Target: t.typed}}
}

// Paths returns every path that the path resolves through, for the rules to judge. It is the
// same for the whole call.
func (t *Target) Paths(string) (paths.ResolvedPath, error) { return t.set() }

// Known returns the conversation's record of the file.
func (t *Target) Known() (filestate.Entry, bool) { return t.files.State.Get(t.Path) }

// Find locates the file. It refuses files that can never be changed. A missing file has no
// Info.
func (t *Target) Find() (paths.ResolvedPath, error) {
	set, err := t.set()
	if err == nil && set.Remote {
		set, err = set.Follow()
	}
	switch {
	case err != nil:
		return set, err
	case set.ResolveErr != nil:
		return set, set.ResolveErr
	case paths.IsBlocked(set.Real):
		return set, fmt.Errorf("%s is a device or a view into a running process, and is never written.", t.Path)
	case set.Info == nil:
		return set, nil
	case set.Info.IsDir():
		return set, fmt.Errorf("%s is a directory. Give the path of a file in it.", t.Path)
	case !set.Info.Mode().IsRegular():
		return set, fmt.Errorf("%s is not a regular file (%s), and is never written.", t.Path, set.Info.Mode().Type())
	case set.Info.Size() > MaxBytes:
		return set, tooLarge(t.Path, set.Info.Size())
	}
	return set, nil
}

// Peek returns the file's current content for a preview, or nil if it does not exist.
func (t *Target) Peek() ([]byte, error) {
	set, err := t.Find()
	if err != nil || set.Info == nil {
		return nil, err
	}
	f, err := set.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var buf bytes.Buffer
	if _, err = buf.ReadFrom(f); err != nil {
		return nil, err
	}
	version, err := t.unsaved(&replace.Version{Data: buf.Bytes()})
	return version.Data, err
}
