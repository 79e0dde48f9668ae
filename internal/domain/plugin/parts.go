package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/platform/text/jsonscan"
)

// A partsReader finds a plugin's components.
type partsReader struct {
	*reader
	name     string // plugin name
	manifest string // manifest file name; empty if there is none
}

// read returns the default components and the ones listed by the manifest. It returns an error
// if the manifest lists something forbidden.
func (r *partsReader) read(m manifest) (Parts, error) {
	var p Parts
	var err error
	selected := slices.ContainsFunc(m.skills, func(s string) bool { name, _ := Local(s); return strings.HasPrefix(name, "skills/") })
	for _, l := range []struct {
		field, standard string
		written         []string
		// If instead is true, the manifest's list replaces the standard directory.
		instead bool
		to      *[]string
	}{
		// A manifest that lists single skills of the standard directory means only these.
		{"skills", "skills", m.skills, selected, &p.Skills},
		{"commands", "commands", m.commands, m.commands != nil, &p.Commands},
		{"agents", "agents", m.agents, m.agents != nil, &p.Agents},
		{"outputStyles", "output-styles", m.styles, m.styles != nil, &p.Styles},
	} {
		if !l.instead {
			r.standard(l.standard, l.to)
		}
		for _, written := range l.written {
			if err := r.named(l.field, written, l.to); err != nil {
				return Parts{}, err
			}
		}
	}
	if r.tree != nil && len(p.Skills) == 0 && m.skills == nil && r.isFile("SKILL.md") {
		r.rootSkill()
	}
	if p.Hooks, err = r.hooks(m.hooks); err != nil {
		return Parts{}, err
	}
	if p.Servers, err = r.servers("mcpServers", ".mcp.json", m.servers); err != nil {
		return Parts{}, err
	}
	if p.Languages, err = r.servers("lspServers", ".lsp.json", m.languages); err != nil {
		return Parts{}, err
	}
	return p, nil
}

// standard adds a directory if it exists. If it leads out of the plugin, it is omitted and
// reported as a problem.
func (r *partsReader) standard(name string, to *[]string) {
	dir, err := r.isDir(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		r.problem(name, "", "%v: it is not used", plain(err))
	case dir:
		r.add(name, to)
	}
}

// named adds a path listed by the manifest.
func (r *partsReader) named(field, written string, to *[]string) error {
	name, err := Local(written)
	if err != nil {
		return r.refusal(field, written, err)
	}
	info, err := r.stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.problem(r.manifest, field, "%s does not exist", written)
	case err != nil:
		return r.refusal(field, written, plain(err))
	case !info.IsDir() && !info.Mode().IsRegular():
		return r.refusal(field, written, errors.New("it is neither a file nor a folder"))
	case field == "skills" && info.IsDir() && r.isFile(name+"/SKILL.md"):
		if name == "." {
			r.rootSkill()
			return nil
		}
		r.add(name+"/SKILL.md", to)
	default:
		r.add(name, to)
	}
	return nil
}

// rootSkill reports a skill that would be named after the plugin's directory, which is a hash.
func (r *partsReader) rootSkill() {
	r.problem("SKILL.md", "", "it is not used: put it into skills/%s/", r.name)
}

// isFile reports whether name is a regular file inside the plugin.
func (r *partsReader) isFile(name string) bool {
	info, err := r.stat(name)
	return err == nil && info.Mode().IsRegular()
}

// refusal returns the error for a forbidden path in the manifest.
func (r *partsReader) refusal(field, written string, err error) error {
	return Problem{filepath.Join(r.dir, filepath.FromSlash(r.manifest)), field, fmt.Sprintf("%q: %v", shorten(written), err)}
}

// add adds a path, unless a symlink could lead its readers out of the plugin.
func (r *partsReader) add(name string, to *[]string) {
	full := filepath.Join(r.dir, filepath.FromSlash(name))
	if slices.Contains(*to, full) {
		return
	}
	if r.tree != nil && len(r.tree.escapes) > 0 {
		link := under(r.tree.links, name)
		for dir := range parents(name) {
			if slices.Contains(r.tree.links, dir) {
				link = dir
			}
		}
		if link != "" {
			r.problem(name, "", "it is not used: %s is a link, and there are links in the plugin that lead out of it", link)
			return
		}
	}
	*to = append(*to, full)
}

// parents yields a name and its parent directories.
func parents(name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for name != "." && yield(name) {
			i := strings.LastIndexByte(name, '/')
			if i < 0 {
				return
			}
			name = name[:i]
		}
	}
}

// objects returns the objects in the default file and in the manifest or the files it names.
// Each object carries the name of the file it comes from.
func (r *partsReader) objects(field, standard string, written []json.RawMessage) ([]part, error) {
	var all []part
	read := func(name string) error {
		if slices.ContainsFunc(all, func(p part) bool { return p.file == name }) {
			return nil
		}
		data, err := r.file(name, MaxFile)
		if err != nil {
			return err
		}
		r.used = append(r.used, usedFile{name, data})
		members, err := object(data)
		if err != nil {
			r.problem(name, "", "%v: it is not used", err)
			return nil
		}
		all = append(all, part{name, members})
		return nil
	}
	if err := read(standard); err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.problem(standard, "", "%v: it is not used", err)
	}
	for _, w := range written {
		if isObject(w) {
			members, err := object(w)
			if err != nil {
				return nil, r.refusal(field, "", err)
			}
			all = append(all, part{r.manifest, members})
			continue
		}
		path, _ := jsonscan.String(w)
		name, err := Local(path)
		if err == nil {
			_, err = r.stat(name)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			r.problem(r.manifest, field, "%s does not exist", path)
		case err != nil:
			return nil, r.refusal(field, path, plain(err))
		default:
			if err := read(name); err != nil {
				r.problem(name, "", "%v: it is not used", err)
			}
		}
	}
	return all, nil
}

// A part is an object with the name of its file.
type part struct {
	file    string
	members map[string]json.RawMessage
}

// hooks returns all hooks by event.
func (r *partsReader) hooks(written []json.RawMessage) (json.RawMessage, error) {
	all, err := r.objects("hooks", "hooks/hooks.json", written)
	if err != nil {
		return nil, err
	}
	events := map[string][]json.RawMessage{}
	for _, p := range all {
		members := p.members
		if inner, ok := members["hooks"]; ok {
			if members, err = object(inner); err != nil {
				r.problem(p.file, "hooks", "%v", err)
				continue
			}
		}
		for _, event := range slices.Sorted(maps.Keys(members)) {
			if event == "description" {
				continue
			}
			err := jsonscan.List(members[event], func(value []byte) error {
				events[event] = append(events[event], slices.Clone(value))
				return nil
			})
			if err != nil {
				r.problem(p.file, event, "it must be a list of hooks")
			}
		}
	}
	return encode(len(events), events)
}

// servers returns all servers by name.
func (r *partsReader) servers(field, standard string, written []json.RawMessage) (json.RawMessage, error) {
	all, err := r.objects(field, standard, written)
	if err != nil {
		return nil, err
	}
	servers := map[string]json.RawMessage{}
	for _, p := range all {
		members := p.members
		if inner, ok := members[field]; ok {
			if members, err = object(inner); err != nil {
				r.problem(p.file, field, "%v", err)
				continue
			}
		}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			switch {
			case name == "$schema":
			case !isObject(members[name]):
				r.problem(p.file, field, "%s is not an object", shorten(name))
			case servers[name] != nil:
				r.problem(p.file, field, "there are two servers called %s: the first is used", shorten(name))
			default:
				servers[name] = members[name]
			}
		}
	}
	return encode(len(servers), servers)
}

// encode returns v as JSON, or nil if n is 0.
func encode(n int, v any) (json.RawMessage, error) {
	if n == 0 {
		return nil, nil
	}
	return json.Marshal(v)
}
