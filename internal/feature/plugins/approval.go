package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"

	"adze/internal/domain/plugin"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/replace"
	"adze/internal/platform/fs/statefile"
	"adze/internal/platform/text/jsonscan"
)

// An approval records the user's consent when a plugin was enabled. It covers one content hash:
// when any file of the plugin changes, the plugin is off until the user has seen the
// difference.
type approval struct {
	Hash    string   `json:"hash"`
	Effects []Effect `json:"effects,omitempty"`
}

// approvals stores approvals by plugin, in a file in the state home.
type approvals struct {
	path  string
	locks *replace.Replacer
}

func openApprovals(home string, locks *replace.Replacer) *approvals {
	return &approvals{filepath.Join(home, "plugins", "approved.json"), locks}
}

const (
	approvalsVersion = 1
	maxApprovals     = 16 << 20
)

// approvalsFile is the file's JSON format.
type approvalsFile struct {
	Version  int                 `json:"version"`
	Approved map[string]approval `json:"approved"`
}

// read returns the approvals. A missing file approves nothing; an unreliable one is an error.
func (a *approvals) read() (map[string]approval, error) {
	data, err := fsys.ReadSmall(a.path, maxApprovals)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var f approvalsFile
	if err == nil {
		f, err = decodeApprovals(data)
	}
	if err != nil {
		return nil, a.unusable(err)
	}
	return f.Approved, nil
}

// hashes returns the approved content hashes by plugin. It is used at startup and decodes
// nothing else.
func (a *approvals) hashes() (map[string]string, error) {
	data, err := fsys.ReadSmall(a.path, maxApprovals)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	all := map[string]string{}
	version := ""
	if err == nil {
		err = jsonscan.Object(data, func(name, value []byte) error {
			switch string(name) {
			case "version":
				version = string(value)
			case "approved":
				return approvedHashes(value, all)
			}
			return nil
		})
	}
	if err == nil && version != strconv.Itoa(approvalsVersion) {
		err = fmt.Errorf("it has version %s, and this program knows version %d", version, approvalsVersion)
	}
	if err != nil {
		return nil, a.unusable(err)
	}
	return all, nil
}

// approvedHashes adds the approved hashes to all.
func approvedHashes(approved []byte, all map[string]string) error {
	if jsonscan.IsNull(approved) {
		return nil
	}
	return jsonscan.Object(approved, func(id, value []byte) error {
		key := string(id)
		return jsonscan.Object(value, func(name, value []byte) error {
			if hash, ok := jsonscan.String(value); ok && string(name) == "hash" {
				all[key] = hash
			}
			return nil
		})
	})
}

func decodeApprovals(data []byte) (f approvalsFile, err error) {
	if err := json.Unmarshal(data, &f); err != nil {
		return f, err
	}
	if f.Version != approvalsVersion {
		return f, fmt.Errorf("it has version %d, and this program knows version %d", f.Version, approvalsVersion)
	}
	return f, nil
}

func (a *approvals) unusable(err error) error {
	return fmt.Errorf("no plugin is used, because %s cannot be read: %w; correct it, or remove it and enable the plugins again", a.path, err)
}

// set stores an approval; nil deletes it.
func (a *approvals) set(ctx context.Context, id plugin.ID, given *approval) error {
	file := statefile.File{Path: a.path, Max: maxApprovals, Locks: a.locks, Doing: "saving the approval of a plugin"}
	return file.Change(ctx, func(old *replace.Version) ([]byte, error) {
		f := approvalsFile{Version: approvalsVersion}
		switch {
		case old == nil && given == nil:
			return nil, nil
		case old != nil:
			var err error
			if f, err = decodeApprovals(old.Data); err != nil {
				return nil, a.unusable(err)
			}
		}
		if f.Approved == nil {
			f.Approved = map[string]approval{}
		}
		if given == nil {
			delete(f.Approved, id.String())
		} else {
			f.Approved[id.String()] = *given
		}
		return statefile.Encode(f)
	})
}
