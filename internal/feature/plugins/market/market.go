// Package market fetches plugins from the git repositories and directories that marketplaces
// list. It runs git, and nothing from the plugins it fetches.
package market

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"adze/internal/domain/plugin"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/proc/osproc"
)

// Config configures Markets.
type Config struct {
	Store *plugin.Store
	Run   *osproc.Runner
	// Environ returns the user's environment, for git.
	Environ func() []string
	// Transport is used to download marketplace listings.
	Transport http.RoundTripper
	// Report, if non-nil, is called with short progress messages.
	Report func(string)
}

// Markets manages the marketplaces that the user added. It is safe for concurrent use.
type Markets struct{ cfg Config }

// New returns a Markets. It does not touch the disk.
func New(cfg Config) *Markets { return &Markets{cfg} }

func (m *Markets) git() *git { return &git{m.cfg.Run, m.cfg.Environ, m.cfg.Report, plugin.MaxTree} }

// Add fetches the listing of a marketplace and adds the marketplace.
func (m *Markets) Add(ctx context.Context, src plugin.Source) (*Listing, error) {
	return m.fetch(ctx, src, "", "")
}

// AddNamed is like Add, but fails if the marketplace has another name.
func (m *Markets) AddNamed(ctx context.Context, src plugin.Source, name string) (*Listing, error) {
	return m.fetch(ctx, src, name, "; it is not used")
}

// Update fetches a marketplace's listing again. Installed plugins are unaffected.
func (m *Markets) Update(ctx context.Context, name string) (*Listing, error) {
	known, err := m.known(name)
	if err != nil {
		return nil, err
	}
	return m.fetch(ctx, known.Source, name, renamedHint)
}

// Remove removes a marketplace. It fails if plugins from it are still installed.
func (m *Markets) Remove(ctx context.Context, name string) error {
	return m.cfg.Store.RemoveMarket(ctx, name)
}

// Listing returns a marketplace's listing as last fetched.
func (m *Markets) Listing(name string) (*Listing, error) {
	known, err := m.known(name)
	if err != nil {
		return nil, err
	}
	l, err := readListing(m.cfg.Store.MarketDir(known), known.Source)
	if err != nil {
		return nil, err
	}
	if l.Name != name {
		return nil, fmt.Errorf("the marketplace %s calls itself %s%s", name, l.Name, renamedHint)
	}
	l.Market = known
	return l, nil
}

// known returns an added marketplace.
func (m *Markets) known(name string) (plugin.Market, error) {
	all, err := m.cfg.Store.Markets()
	if err != nil {
		return plugin.Market{}, err
	}
	var names []string
	for _, k := range all {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	if len(names) == 0 {
		return plugin.Market{}, fmt.Errorf("no marketplace is called %q: add it first", name)
	}
	return plugin.Market{}, fmt.Errorf("no marketplace is called %q: add it first. Known are %s", name, strings.Join(names, ", "))
}

// renamedHint is the hint for a marketplace whose name has changed.
const renamedHint = " by now: remove it and add it again"

// fetch fetches and stores a marketplace's listing. If name is not empty and the marketplace
// has another name, the error ends with otherwise.
func (m *Markets) fetch(ctx context.Context, src plugin.Source, name, otherwise string) (*Listing, error) {
	if err := checkSource(src, true); err != nil {
		return nil, err
	}
	market := plugin.Market{Name: name, Source: src, At: time.Now().UTC()}
	dir, tree := src.At, ""
	if src.Kind != plugin.Directory {
		stage, err := m.cfg.Store.Stage()
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(stage)
		tree = filepath.Join(stage, "tree")
		dir, market.Tree = tree, strings.ToLower(rand.Text())
		if src.Kind == plugin.Git {
			root, _ := places(src)
			market.Commit, _, err = m.clone(ctx, src, stage, tree, root)
		} else {
			err = m.download(ctx, src.At, tree)
		}
		if err != nil {
			return nil, err
		}
	}
	l, err := readListing(dir, src)
	if err != nil {
		return nil, err
	}
	if name != "" && l.Name != name {
		return nil, fmt.Errorf("the marketplace %s calls itself %s%s", name, l.Name, otherwise)
	}
	market.Name = l.Name
	l.Market = market
	return l, m.cfg.Store.SetMarket(ctx, market, tree)
}

// clone fetches a commit into a directory of the stage, and writes the files below folder to
// tree.
func (m *Markets) clone(ctx context.Context, src plugin.Source, stage, tree, folder string) (commit string, submodules []string, err error) {
	repo := filepath.Join(stage, "git")
	g := m.git()
	if commit, err = g.fetch(ctx, src, repo); err != nil {
		return "", nil, err
	}
	submodules, err = g.extract(ctx, repo, commit, folder, tree)
	return commit, submodules, err
}

const downloadTime = time.Minute

// download fetches a listing from its URL and writes it to a new directory under its usual
// name.
func (m *Markets) download(ctx context.Context, at, tree string) error {
	ctx, cancel := context.WithTimeout(ctx, downloadTime)
	defer cancel()
	client := &http.Client{Transport: m.cfg.Transport, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		switch first := via[0].URL; {
		case len(via) > 5:
			return errors.New("it is redirected too often")
		case req.URL.Host != first.Host || req.URL.Scheme != first.Scheme:
			return fmt.Errorf("it is redirected to %s: add that address if you trust it", (&url.URL{Scheme: req.URL.Scheme, Host: req.URL.Host, Path: req.URL.Path}).String())
		}
		return nil
	}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	late := func(err error) error {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return fmt.Errorf("the server took longer than %v", downloadTime)
		}
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("fetching the marketplace: %w", late(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("fetching %s: the server answered %d", at, resp.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxListing+1))
	if err != nil {
		return fmt.Errorf("fetching %s: %w", at, late(err))
	}
	file := filepath.Join(tree, filepath.FromSlash(listingNames[0]))
	if err := fsys.MkdirPrivate(filepath.Dir(file)); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o600)
}

// readListing reads the listing in a marketplace's directory.
func readListing(dir string, src plugin.Source) (*Listing, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the marketplace: %w", err)
	}
	defer root.Close()
	_, names := places(src)
	for _, name := range names {
		info, err := root.Stat(filepath.FromSlash(name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		switch src.Kind { // the staging path means nothing to the user
		case plugin.URL:
			file = src.At
		case plugin.Git:
			file = src.String() + ": " + name
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: it cannot be read, or leads out of the marketplace", file)
		case !info.Mode().IsRegular() || info.Size() > maxListing:
			return nil, fmt.Errorf("%s: not a regular file of at most %d bytes", file, maxListing)
		}
		data, err := root.ReadFile(filepath.FromSlash(name))
		if err != nil {
			return nil, err
		}
		return parseListing(file, data, filepath.IsAbs(src.At))
	}
	return nil, fmt.Errorf("%s is not a marketplace: it has no %s", src, names[len(names)-1])
}

// places returns the repository directory that is the marketplace, and the candidate listing
// files in it.
func places(src plugin.Source) (root string, names []string) {
	if !strings.HasSuffix(src.Path, ".json") {
		return src.Path, listingNames[:]
	}
	root, name := path.Split(src.Path)
	root = path.Clean(root)
	if base := path.Base(root); base == ".adze-plugin" || base == ".claude-plugin" {
		root, name = path.Dir(root), base+"/"+name
	}
	return root, []string{name}
}

// A Candidate is a plugin that was fetched but not installed. The caller must install or
// discard it.
type Candidate struct {
	// Plugin is the fetched plugin, and Old the installed one. Old is nil if none is installed
	// or its files are damaged.
	Plugin, Old *plugin.Plugin
	Problems    []plugin.Problem
	// Difference lists the changes from Old to Plugin.
	Difference plugin.Difference
	// Same is true if this version is already installed.
	Same bool

	store     *plugin.Store
	installed plugin.Installed
	stage     string
}

// Install installs the candidate.
func (c *Candidate) Install(ctx context.Context) (*plugin.Plugin, error) {
	defer c.Discard()
	c.installed.At = time.Now().UTC()
	return c.store.Install(ctx, c.installed, c.Plugin.Dir)
}

// Discard removes the candidate's files.
func (c *Candidate) Discard() { _ = os.RemoveAll(c.stage) } // ok: the next run tries again

// Shown removes the temporary directory from a text about the candidate: it means nothing to
// the user and will not exist later.
func (c *Candidate) Shown(text string) string {
	return strings.ReplaceAll(text, c.stage+string(filepath.Separator), "")
}

// A stagedError is an error about a candidate's files.
type stagedError struct {
	error
	c *Candidate
}

func (e stagedError) Error() string { return e.c.Shown(e.error.Error()) }
func (e stagedError) Unwrap() error { return e.error }

// Fetch fetches a plugin as its marketplace lists it, without installing it. The error is a
// [*plugin.PinError] if the marketplace offers different content under the installed version.
func (m *Markets) Fetch(ctx context.Context, id plugin.ID) (*Candidate, error) {
	l, err := m.Listing(id.Market)
	if err != nil {
		return nil, err
	}
	e := l.Find(id.Name)
	switch {
	case e == nil:
		return nil, fmt.Errorf("the marketplace %s has no plugin called %s", id.Market, id.Name)
	case e.Refused != nil:
		return nil, fmt.Errorf("%s: %w", id, e.Refused)
	}
	stage, err := m.cfg.Store.Stage()
	if err != nil {
		return nil, err
	}
	c := &Candidate{store: m.cfg.Store, stage: stage, installed: plugin.Installed{ID: id}}
	if err := m.stage(ctx, c, l, e); err != nil {
		c.Discard()
		return nil, fmt.Errorf("%s: %w", id, stagedError{err, c})
	}
	if err := m.cfg.Store.CheckPin(c.installed); err != nil {
		c.Discard()
		return nil, err
	}
	loaded := m.cfg.Store.Load(id)[0]
	if loaded.Err == nil && m.cfg.Store.Verify(id) == nil {
		c.Old = loaded.Plugin
	}
	c.Same = c.Old != nil && c.Old.Hash == c.Plugin.Hash
	c.Difference = plugin.Compare(c.Old, c.Plugin)
	return c, nil
}

// stage fetches and reads a candidate's files.
func (m *Markets) stage(ctx context.Context, c *Candidate, l *Listing, e *Entry) (err error) {
	tree := filepath.Join(c.stage, e.Name)
	in := &c.installed
	var submodules []string
	switch {
	case e.relative == "":
		in.Source = e.source
		in.Commit, submodules, err = m.clone(ctx, e.source, c.stage, tree, e.source.Path)
	case l.Source.Kind == plugin.URL:
		err = errors.New("the plugin is a folder of the marketplace, of which only the list was fetched: add the repository of the marketplace instead")
	default:
		in.Source, in.Commit = l.Source, l.Commit
		in.Source.Path = e.relative
		err = plugin.Copy(m.cfg.Store.MarketDir(l.Market), e.relative, tree, in.ID)
	}
	if err != nil {
		return err
	}
	if err := e.complete(tree); err != nil {
		return err
	}
	if err := plugin.CheckLinks(tree); err != nil { // check before the user is prompted
		return err
	}
	for _, name := range submodules {
		c.Problems = append(c.Problems, plugin.Problem{File: e.Name + "/" + name, Text: "it is a submodule, which is left out"})
	}
	p, problems, err := plugin.Read(tree, in.ID)
	c.Problems = append(c.Problems, problems...)
	if err != nil {
		return err
	}
	if in.Version = p.Version; in.Version == "" {
		in.Version = e.Version
	}
	in.Hash, in.Description = p.Hash, e.Description
	if p.Description == "" {
		p.Description = e.Description
	}
	p.Commit, p.Data, p.Version = in.Commit, m.cfg.Store.Data(in.ID), in.Version
	c.Plugin = p
	return nil
}
