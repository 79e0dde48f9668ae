package trust

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/replace"
	"adze/internal/platform/fs/statefile"
)

// A ToolRecord records the definitions of MCP tools when the user began to rely on them, in one
// file per server. It is safe for concurrent use, also by several processes.
type ToolRecord struct {
	dir   string
	locks *replace.Replacer
	now   func() time.Time
}

// OpenTools returns the record in adze's home directory. It does not read anything yet.
func OpenTools(home string, locks *replace.Replacer) *ToolRecord {
	return &ToolRecord{filepath.Join(home, "mcp-tools"), locks, time.Now}
}

// Limits of the record. A server offers at most 1,000 tools at a time.
const (
	maxToolServers = 500
	maxTools       = 2000
	maxToolFile    = 1 << 20
)

// seenTools is the content of a server's file.
type seenTools struct {
	Version int               `json:"version"`
	Tools   map[string]string `json:"tools"` // digests by name
}

// Compare records the digests of a server's tools, keeping tools that it no longer has. It
// returns the previous digests of tools that have changed.
func (r *ToolRecord) Compare(ctx context.Context, server string, digests map[string]string) (before map[string]string, err error) {
	path := filepath.Join(r.dir, contentHash([]byte(server))[:32]+".json")
	data, err := r.read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, r.unusable(path, err)
	default:
		t, err := decodeTools(data)
		if err != nil {
			return nil, r.unusable(path, err)
		}
		if before, known := t.differences(digests); known && len(before) == 0 {
			return nil, nil
		}
	}
	return r.change(ctx, path, digests)
}

// read reads a file of the record and marks it as used.
func (r *ToolRecord) read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil {
		err = private(info)
	}
	if err != nil {
		return nil, err
	}
	if now := r.now(); now.Sub(info.ModTime()) > 24*time.Hour {
		os.Chtimes(path, now, now) // ok: at worst it is pruned first
	}
	return fsys.ReadSmall(path, maxToolFile)
}

func (r *ToolRecord) unusable(path string, err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return fmt.Errorf("%s cannot be used: %w; remove it", path, err)
}

func decodeTools(data []byte) (t seenTools, err error) {
	if err := json.Unmarshal(data, &t); err != nil {
		return t, err
	}
	if t.Version != version {
		return t, fmt.Errorf("it has version %d, and this program knows version %d", t.Version, version)
	}
	return t, nil
}

// differences returns the recorded digests that differ from now, and whether all tools in now
// are recorded.
func (t seenTools) differences(now map[string]string) (before map[string]string, known bool) {
	before, known = map[string]string{}, true
	for name, digest := range now {
		switch had, ok := t.Tools[name]; {
		case !ok:
			known = false
		case had != digest:
			before[name] = had
		}
	}
	return before, known
}

// change rewrites a server's file under a lock and returns the previous digests of changed
// tools.
func (r *ToolRecord) change(ctx context.Context, path string, digests map[string]string) (before map[string]string, err error) {
	file := statefile.File{Path: path, Max: maxToolFile, Locks: r.locks, Doing: "remembering tools"}
	err = file.Change(ctx, func(old *replace.Version) ([]byte, error) {
		if old == nil {
			r.prune()
			return json.Marshal(seenTools{version, digests})
		}
		t, err := decodeTools(old.Data)
		if err != nil {
			return nil, r.unusable(path, err)
		}
		before, _ = t.differences(digests)
		all := map[string]string{}
		if len(t.Tools) <= maxTools-len(digests) {
			maps.Copy(all, t.Tools)
		}
		maps.Copy(all, digests)
		return json.Marshal(seenTools{version, all})
	})
	return before, err
}

// prune removes the least recently used files to make room for another.
func (r *ToolRecord) prune() {
	list, err := os.ReadDir(r.dir)
	if err != nil || len(list) < maxToolServers {
		return
	}
	used := func(e fs.DirEntry) time.Time {
		if info, err := e.Info(); err == nil {
			return info.ModTime()
		}
		return time.Time{}
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return used(a).Compare(used(b)) })
	for _, e := range list[:len(list)-maxToolServers+1] {
		os.Remove(filepath.Join(r.dir, e.Name())) // ok: another process may have removed it
	}
}
