package permission

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/permission/compat"
	"adze/internal/permission/nested"
	"adze/internal/permission/rule"
	"adze/internal/platform/shell"
)

// Limits on inspecting the files a command copies, moves or links.
const (
	maxTransferred = 2000 // names below directories
	maxLinks       = 64
)

// A placement finds the paths a copy, move or link command writes: the names its sources get.
type placement struct {
	*resolver
	t      *shell.Transfer
	target Use
	dir    string // the command's working directory
	uses   []Use

	left, links int
}

// placed returns the paths a transfer writes in addition to its target.
func (r *resolver) placed(target Use, dir string) []Use {
	p := &placement{resolver: r, t: target.Transfer, target: target, dir: dir, left: maxTransferred, links: maxLinks}
	p.target.Transfer = nil
	if target.Glob != "" {
		p.unknown(shell.FromExpansion, "")
		return p.uses
	}
	r.transfers++
	for _, w := range p.t.Sources {
		p.source(w)
	}
	return p.uses
}

// write adds a use of a path. A soft use does not need confirmation in every mode.
func (p *placement) write(path string, soft bool) Use {
	use := p.target
	use.Given, use.Path, use.Soft = path, path, soft
	p.lookUp(&use, p.dir, path)
	p.uses = append(p.uses, use)
	return use
}

// unknown adds a use of an undetermined path, of which path is known.
func (p *placement) unknown(from shell.Unknown, path string) {
	use := p.target
	use.Target = Target{Write: true, Vague: true}
	use.Path, use.Glob, use.Known, use.Unknown = path, "", false, from
	p.uses = append(p.uses, use)
}

// source places the files a word expands to.
func (p *placement) source(w shell.Word) {
	switch {
	case !w.Static:
		p.unknown(shell.FromExpansion, "")
		return
	case !w.Glob:
		p.place(w.Value)
		return
	}
	found, ok := nested.Expand(p.dir, w.Value)
	p.unseen = true // the wildcard may match more files by the time it runs
	if !ok {
		p.unknown(shell.FromExpansion, "")
		return
	}
	if len(found) == 0 {
		p.place(w.Value)
	}
	parent, last := filepath.Split(strings.TrimRight(w.Value, "/"))
	for _, name := range found {
		if parent == "" && strings.HasPrefix(filepath.Base(name), "-") {
			p.unknown(shell.FromExpansion, "") // the name becomes an option
		}
		if strings.HasSuffix(w.Value, "/") {
			name += "/"
		}
		p.place(name)
	}
	if strings.HasPrefix(last, ".") && !strings.ContainsAny(parent, "*?[") {
		p.place(parent + ".") // some shells match it with .* too
	}
}

// place adds the destination paths of one source.
func (p *placement) place(source string) {
	full := source
	if !filepath.IsAbs(full) {
		full = p.dir + string(filepath.Separator) + full
	}
	base := filepath.Base(source)
	if strings.HasSuffix(source, "/.") || strings.HasSuffix(source, "/..") || source == "" {
		base = "."
	}
	contents := base == "." || base == ".."
	inside := p.t.Inside || !p.t.Itself && leadsToDir(p.target.full)
	// An earlier part may create the directory.
	maybe := !inside && !p.t.Itself && p.several
	var names []string
	if inside || maybe {
		switch {
		case p.t.Parents:
			names = append(names, p.target.full+"/"+source)
		case !contents:
			names = append(names, p.target.full+"/"+base)
		}
	}
	if contents || !inside || p.t.Tree && strings.HasSuffix(source, "/") {
		names = append(names, p.target.full)
	}
	info, err := os.Lstat(strings.TrimRight(full, "/"))
	p.unseen = p.unseen || err != nil
	link := err == nil && info.Mode()&fs.ModeSymlink != 0 && p.t.Keeps && !strings.HasSuffix(source, "/")
	for _, name := range names {
		if name != p.target.full {
			p.write(name, false)
		}
		if p.t.Suffix != "" {
			p.write(name+p.t.Suffix, false)
		}
		switch {
		case p.t.Alias && p.t.Symbolic:
			p.link(name, source)
		case p.t.Alias:
			p.write(full, true)
		case err != nil:
			p.made(name)
		case link:
			p.copyLink(full, name)
		}
		if p.t.Tree && err == nil && !link {
			p.tree(full, name)
		}
	}
}

// made adds the possible contents of a directory created by another part of the line, if the
// directory's name gives them a special meaning.
func (p *placement) made(name string) {
	switch base := plain(filepath.Base(name)); {
	case !p.several:
	case strings.HasSuffix(base, ".git"), base == ".cargo":
		p.write(name+"/config", false)
	case base == ".config":
		p.write(name+"/git", false)
	}
}

// link adds the target of a symlink at name: access to the link gives access to the target.
func (p *placement) link(name, to string) {
	if p.links--; p.links < 0 {
		p.unknown(shell.FromLinks, "")
		return
	}
	if !filepath.IsAbs(to) {
		to = name[:strings.LastIndexByte(name, '/')+1] + to
	}
	p.linked = true
	p.write(to, true)
	read := p.uses[len(p.uses)-1]
	read.Verb, read.Write = shell.ReadPath, false
	p.uses = append(p.uses, read)
}

func (p *placement) copyLink(from, name string) {
	to, err := os.Readlink(strings.TrimRight(from, "/"))
	if err != nil {
		p.unknown(shell.FromLinks, "")
		return
	}
	p.link(name, to)
}

// tree adds the relevant files of a directory placed at name: protected names, symlinks, and
// files written through existing symlinks.
func (p *placement) tree(from, name string) {
	if !leadsToDir(from) {
		return
	}
	at := p.target
	p.lookUp(&at, p.dir, name)
	p.below(from, name, at.names, isDir(at.Set))
}

func (p *placement) below(from, name string, names []string, exists bool) {
	f, err := os.Open(from)
	if err != nil {
		return // unreadable, so the command cannot copy it either
	}
	entries, err := f.ReadDir(max(p.left, 0) + 1)
	f.Close() // ok: it was only read
	if err != nil && !errors.Is(err, io.EOF) {
		p.unknown(shell.FromTree, from)
		return
	}
	if p.left -= len(entries); p.left < 0 {
		p.unknown(shell.FromTree, p.target.Given)
		return
	}
	for _, entry := range entries {
		var inner []string
		for _, n := range names {
			inner = append(inner, n+"/"+p.p.anchors.Form(entry.Name()))
		}
		source, at := from+"/"+entry.Name(), name+"/"+entry.Name()
		var there fs.FileInfo
		if exists {
			there, _ = os.Lstat(at) // ok: a file that cannot be inspected cannot be written
		}
		linked := there != nil && there.Mode()&fs.ModeSymlink != 0
		if linked || p.p.places().protected(inner, p.p.cfg.Mode.Unattended()) != "" {
			p.write(at, !exists)
		}
		switch {
		case entry.Type()&fs.ModeSymlink != 0 && p.t.Keeps:
			p.copyLink(source, at)
		case entry.IsDir() || entry.Type()&fs.ModeSymlink != 0 && leadsToDir(source):
			p.below(source, at, inner, there != nil && there.IsDir() || linked && leadsToDir(at))
		}
		if p.left < 0 {
			return
		}
	}
}

func leadsToDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// carried returns the use that asks about a line that moves symlinks and then transfers files
// that cannot be determined now: a symlink's target depends on its location.
func (r *resolver) carried(uses []Use) []Use {
	if !r.linked || !r.unseen || r.transfers < 2 {
		return nil
	}
	for _, u := range uses {
		if u.Transfer != nil {
			u.Target = Target{Write: true, Vague: true}
			u.Path, u.Known, u.Unknown, u.Transfer = "", false, shell.FromLinks, nil
			return []Use{u}
		}
	}
	return nil
}

// A mention is a word of a part that may be a path not covered by a wildcard rule. The reason
// names the path.
type mention struct {
	part   *shell.Part
	reason Reason
}

// mentioned returns the words of a part that a wildcard rule does not cover: protected places
// it may write, and possible files outside the working directories.
func (r *resolver) mentioned(part *shell.Part, by *rule.Rule) []mention {
	var all []mention
	for _, text := range part.Mentions() {
		if text == "" || len(text) > maxPath {
			continue
		}
		use := r.looked(part, text)
		if why := r.p.places().protected(use.names, r.p.cfg.Mode.Unattended()); why != "" {
			all = append(all, mention{part, Reason{Kind: Protected, What: text, Text: why}})
		}
	}
	spelled := strings.Fields(strings.TrimSuffix(by.Content, ":*"))
	for _, reach := range part.Reaches() {
		if len(reach.Path) > maxPath || slices.Contains(spelled, reach.Word.Value) || slices.Contains(spelled, reach.Word.Text) {
			continue
		}
		if r.leaves(part, reach.Path) {
			all = append(all, mention{part, Reason{Kind: OutsideWildcard, Rule: by, What: reach.Path}})
		}
	}
	return all
}

// looked resolves a part's word as a path.
func (r *resolver) looked(part *shell.Part, text string) Use {
	if rest, ok := strings.CutPrefix(text, "~/"); ok {
		text = r.p.cfg.Home + "/" + rest
	}
	dir := r.p.cfg.Dir
	if dirs := part.Dirs(); len(dirs) > 0 && dirs[0] != "" {
		if dir = dirs[0]; !filepath.IsAbs(dir) {
			dir = filepath.Join(r.p.cfg.Dir, dir)
		}
	}
	var use Use
	r.lookUp(&use, dir, text)
	return use
}

// leaves reports whether a part's word is a path outside the places that may be read without
// asking, and exists or could be created.
func (r *resolver) leaves(part *shell.Part, text string) bool {
	use := r.looked(part, text)
	if use.Set.Remote || inside(r.p.places().public(), use.names) && !aside(use.names) {
		return false
	}
	check := pathCheck{r.p, &Facts{Names: []string{compat.Command}, Command: &Command{}}}
	if check.read(&use.Target).behavior == Allow {
		return false
	}
	if _, err := os.Lstat(use.Set.Path); err == nil {
		return true
	}
	parent := filepath.Dir(use.Set.Path)
	info, err := os.Stat(parent)
	return err == nil && info.IsDir() && parent != filepath.Dir(parent)
}
