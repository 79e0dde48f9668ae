package gitrepo

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/platform/shell"
)

// An origin is an active setting and its source.
type origin struct {
	setting
	file  string // absolute; empty if the setting is not from a file
	users bool   // user or system setting, as opposed to a repository's
}

// settings gets all active settings from git.
func (q *inquiry) settings(v *Verdict, at string) ([]origin, error) {
	out, err := q.ask(at, nil, "config", "--list", "-z", "--show-origin", "--show-scope", "--includes")
	if err != nil {
		return nil, err
	}
	fields := bytes.Split(bytes.TrimSuffix(out, []byte{0}), []byte{0})
	if len(out) == 0 {
		return nil, nil
	}
	if len(fields)%3 != 0 {
		return nil, errors.New("git's answer about its settings is not understood")
	}
	var all []origin
	for ; len(fields) > 0; fields = fields[3:] {
		key, value, set := strings.Cut(string(fields[2]), "\n")
		if !set {
			value = "true"
		}
		o := origin{setting: setting{key, value}}
		if file, ok := strings.CutPrefix(string(fields[1]), "file:"); ok {
			base := v.Top
			if base == "" {
				base = at
			}
			o.file = resolve(base, file)
		}
		scope := string(fields[0])
		o.users = (scope == "system" || scope == "global") && o.file != ""
		all = append(all, o)
	}
	return all, nil
}

// note records settings that affect the repository's files. Git reads extensions from one file
// only; if another file sets them, they are unknown.
func (v *Verdict) note(all []origin) {
	v.hash = sha1.Size
	formats := map[string]int{"sha1": sha1.Size, "sha256": sha256.Size}
	set := false
	for _, o := range all {
		section, name, _ := split(o.key)
		switch {
		case o.key == "user.name":
			v.user = o.value
		case o.key == "extensions.objectformat":
			if v.hash = formats[o.value]; set || !sameFile(o.file, filepath.Join(v.Common, "config")) {
				v.hash = 0
			}
			set = true
		case o.key == "extensions.refstorage":
			v.tables = v.tables || o.value != "files"
		case (section == "include" || section == "includeif") && name == "path":
			// ~user and %(prefix) are not expanded here.
			v.loose = v.loose || strings.HasPrefix(o.value, "%(") || strings.HasPrefix(o.value, "~") && !strings.HasPrefix(o.value, "~/")
		}
	}
}

// checkSettings checks the active settings: repository settings must be known to be harmless, and user
// settings that cannot work in a jail are replaced.
func (q *inquiry) checkSettings(v *Verdict, all []origin) error {
	back := false // a setting names the work tree
	for _, o := range all {
		if o.users {
			if v.Top != "" && v.unjailed == nil && q.inside(v, o.file) {
				if err := doubtful(o.setting, v.Top); err != nil {
					v.unjailed = fmt.Errorf("%s lies in the repository: %w", o.file, err)
				}
			}
			continue
		}
		if o.key == "core.worktree" && sameFile(resolve(v.Dir, o.value), v.Top) && v.Dir != filepath.Join(v.Top, ".git") {
			back = true
			continue
		}
		if err := doubtful(o.setting, v.Top); err != nil {
			return err
		}
		if file, ok := fileOf(o.setting); ok && file != "" {
			q.roles.add(resolve(v.Top, file), entry)
			q.roles.add(resolve(v.Top, file), target)
		}
	}
	if v.Top != "" && !back && v.Dir == v.Common && v.Dir != filepath.Join(v.Top, ".git") {
		return fmt.Errorf("%s does not belong to %s", v.Dir, v.Top)
	}
	return nil
}

// inside reports whether a file is in the repository, after resolving links.
func (q *inquiry) inside(v *Verdict, file string) bool {
	file = real(file)
	return within(file, v.Top) || within(file, real(v.Dir)) || within(file, real(v.Common))
}

// adapt determines how to make the user's settings work in a jail, in which git can run only
// itself.
func (q *inquiry) adapt(v *Verdict, all []origin) error {
	last := make(map[string]string)
	filters, drivers := []string{}, []string{}
	for _, o := range all {
		last[o.key] = o.value
		section, name, sub := split(o.key)
		switch {
		case section == "filter" && sub != "" && slices.Contains([]string{"clean", "smudge", "process"}, name):
			filters = append(filters, sub)
		case section == "diff" && sub != "" && (name == "textconv" || name == "command"):
			drivers = append(drivers, sub)
		case section == "pretty" || o.key == "format.pretty":
			if shell.SignsFormat(o.value) {
				return fmt.Errorf("the format %s has signatures checked, which runs a program", o.key)
			}
		}
		if secret(o.setting) && !slices.Contains(v.secrets, o.key) {
			v.secrets = append(v.secrets, o.key)
		}
	}
	replace := func(key, with string) {
		if value, ok := last[key]; ok && !strings.EqualFold(value, "false") && value != "" && value != "0" && value != "no" && value != "off" {
			v.overrides = append(v.overrides, setting{key, with})
		}
	}
	replace("core.fsmonitor", "")
	replace("log.showsignature", "false")
	replace("status.submodulesummary", "false")
	v.plain = last["diff.external"] != ""
	q.userFiles(v, all, last)
	if v.Top == "" {
		return nil
	}
	if used, err := q.usedBy(v, "filter", filters); err != nil {
		return err
	} else if used {
		v.filtered = errors.New("files of the repository go through a filter, which is a program")
	}
	used, err := q.usedBy(v, "diff", drivers)
	v.plain = v.plain || used
	return err
}

// usedBy reports whether an attribute of a tracked file has any of the values.
func (q *inquiry) usedBy(v *Verdict, attribute string, values []string) (bool, error) {
	if len(values) == 0 {
		return false, nil
	}
	v.attributes = true
	args := []string{"ls-files", "-z", "--"}
	for _, value := range slices.Compact(slices.Sorted(slices.Values(values))) {
		if strings.Trim(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
			return true, nil // assume so
		}
		args = append(args, ":(top,attr:"+attribute+"="+value+")")
	}
	for _, file := range append(q.attributes(), filepath.Join(v.Top, ".gitattributes"), filepath.Join(v.Common, "info", "attributes")) {
		q.roles.add(file, target)
	}
	out, err := q.ask(v.Top, guards(), args...)
	return len(out) > 0, err
}

// userFiles records the user's files that git reads.
func (q *inquiry) userFiles(v *Verdict, all []origin, last map[string]string) {
	var files []string // configuration files
	if q.home != "" {
		files = append(files, filepath.Join(q.home, ".gitconfig"))
	}
	if dir := q.userDir(); dir != "" {
		files = append(files, filepath.Join(dir, "config"))
		v.reads = append(v.reads, filepath.Join(dir, "ignore"))
	}
	for _, o := range all {
		section, name, _ := split(o.key)
		switch {
		case o.users && (section == "include" || section == "includeif") && name == "path":
			files = append(files, resolve(filepath.Dir(o.file), q.untilde(o.value)))
		case o.users:
			files = append(files, o.file)
		}
	}
	slices.Sort(files)
	for _, file := range slices.Compact(files) {
		q.roles.add(file, target)
		v.reads = append(v.reads, file)
	}
	v.reads = append(v.reads, q.attributes()...)
	for _, key := range []string{"core.excludesfile", "core.attributesfile", "blame.ignorerevsfile", "mailmap.file", "diff.orderfile"} {
		if value := q.untilde(last[key]); filepath.IsAbs(value) {
			v.reads = append(v.reads, value)
		}
	}
}

// userDir returns the user's git configuration directory, or "".
func (q *inquiry) userDir() string {
	switch {
	case q.xdg != "":
		return filepath.Join(q.xdg, "git")
	case q.home != "":
		return filepath.Join(q.home, ".config", "git")
	}
	return ""
}

// attributes returns the user's attributes file, unless a setting names another.
func (q *inquiry) attributes() []string {
	if dir := q.userDir(); dir != "" {
		return []string{filepath.Join(dir, "attributes")}
	}
	return nil
}

// untilde expands ~ in a setting's path.
func (q *inquiry) untilde(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(q.home, rest)
	}
	return path
}

// split splits a key: section.name or section.sub.name.
func split(key string) (section, name, sub string) {
	section, rest, _ := strings.Cut(key, ".")
	if i := strings.LastIndexByte(rest, '.'); i >= 0 {
		return section, rest[i+1:], rest[:i]
	}
	return section, rest, ""
}

// secret reports whether a setting contains a secret.
func secret(s setting) bool {
	_, name, sub := split(s.key)
	for _, word := range []string{"extraheader", "token", "passw", "secret", "cookie", "oauth", "apikey", "privatekey", "smtppass"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return withPassword(s.value) || withPassword(sub)
}

// withPassword reports whether text contains a URL with a password or a possible one.
func withPassword(text string) bool {
	_, rest, ok := strings.Cut(text, "://")
	if !ok {
		return false
	}
	host, _, _ := strings.Cut(rest, "/")
	i := strings.LastIndexByte(host, '@')
	if i < 0 {
		return false
	}
	user := host[:i]
	return strings.Contains(user, ":") || len(user) >= 20
}
