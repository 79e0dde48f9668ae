package market

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"adze/internal/domain/plugin"
)

// forge is the base URL for OWNER/REPOSITORY.
const forge = "https://github.com/"

// ParseSource parses a marketplace source as users write it: OWNER/REPOSITORY, an address that
// git accepts, the https URL of a JSON file, or a path relative to dir, where ~ is home. A
// number sign and a branch or tag may follow a repository.
func ParseSource(text, dir, home string) (plugin.Source, error) {
	at, ref, _ := strings.Cut(text, "#")
	if err := checkRef(ref); err != nil {
		return plugin.Source{}, err
	}
	switch {
	case at == "":
		return plugin.Source{}, errors.New("the marketplace is missing: name OWNER/REPOSITORY, an address or a folder")
	case strings.ContainsFunc(text, unicode.IsControl):
		return plugin.Source{}, fmt.Errorf("%q has control characters", text)
	case isPath(at):
		return pathSource(text, dir, home)
	case strings.HasPrefix(at, "file://"):
		at = localPath(at)
		return plugin.Source{Kind: plugin.Git, At: at, Ref: ref}, checkSource(plugin.Source{Kind: plugin.Git, At: at, Ref: ref}, true)
	case isJSON(at):
		return plugin.Source{Kind: plugin.URL, At: at}, checkJSON(at)
	}
	if repo, ok := repository(at); ok {
		at = repo
	}
	return plugin.Source{Kind: plugin.Git, At: at, Ref: ref}, checkRemote(at)
}

// isPath reports whether a source is a path. Ambiguous paths must begin with a dot.
func isPath(at string) bool {
	return at[0] == '.' || at[0] == '~' || filepath.IsAbs(at) || filepath.VolumeName(at) != ""
}

// localPath returns the path of a local address, or any other address unchanged.
func localPath(at string) string {
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "file" || u.Host != "" || u.RawQuery != "" || u.Fragment != "" || strings.ContainsFunc(u.Path, unicode.IsControl) {
		return at
	}
	path := filepath.FromSlash(u.Path)
	if rest := strings.TrimPrefix(path, string(filepath.Separator)); filepath.VolumeName(rest) != "" {
		path = rest
	}
	if !filepath.IsAbs(path) {
		return at
	}
	return filepath.Clean(path)
}

// isJSON reports whether an address is the URL of a JSON file.
func isJSON(at string) bool {
	u, err := url.Parse(at)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && strings.HasSuffix(u.Path, ".json")
}

// repository returns the URL for OWNER/REPOSITORY, and whether text has that form.
func repository(text string) (string, bool) {
	owner, repo, ok := strings.Cut(text, "/")
	repo = strings.TrimSuffix(repo, ".git")
	if !ok || plugin.CheckName(owner) != nil || repo == "" || strings.Contains(repo, "/") || plugin.CheckName(strings.TrimLeft(repo, ".")) != nil {
		return "", false
	}
	return forge + owner + "/" + repo + ".git", true
}

// pathSource returns the source at a local path.
func pathSource(text, dir, home string) (plugin.Source, error) {
	path := text
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		if home == "" {
			return plugin.Source{}, errors.New("~ means the home directory, which is not known")
		}
		path = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	path = filepath.Clean(path)
	info, err := os.Stat(path)
	if err != nil {
		if bare, ref, ok := strings.Cut(text, "#"); ok {
			src, err := pathSource(bare, dir, home)
			if err == nil && src.Kind != plugin.Git {
				err = fmt.Errorf("%s is not a repository: it has no %s", src.At, ref)
			}
			src.Ref = ref
			return src, err
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("directory %s does not exist", path)
		}
		return plugin.Source{}, err
	}
	if !info.IsDir() {
		for _, name := range listingNames {
			if dir, ok := strings.CutSuffix(path, string(filepath.Separator)+filepath.FromSlash(name)); ok {
				return pathSource(dir, dir, home)
			}
		}
		return plugin.Source{}, fmt.Errorf("%s is not a directory: give the marketplace's directory", path)
	}
	for _, name := range listingNames {
		if _, err := os.Stat(filepath.Join(path, filepath.FromSlash(name))); err == nil {
			return plugin.Source{Kind: plugin.Directory, At: path}, nil
		}
	}
	for _, name := range []string{"HEAD", ".git"} {
		if _, err := os.Stat(filepath.Join(path, name)); err == nil {
			return plugin.Source{Kind: plugin.Git, At: path}, nil
		}
	}
	return plugin.Source{}, fmt.Errorf("%s is not a marketplace: it has no %s", path, listingNames[len(listingNames)-1])
}

// DecodeSource decodes a marketplace source from settings: an object whose source is github,
// git, url or directory. A relative directory is resolved against dir, unless dir is empty.
func DecodeSource(raw json.RawMessage, dir string) (plugin.Source, error) {
	src, relative, err := decode(raw)
	switch {
	case err != nil:
		return plugin.Source{}, err
	case relative != "":
		return plugin.Source{}, errors.New("the source of a marketplace must be an object")
	}
	switch {
	case src.Kind == plugin.Git && isJSON(src.At):
		src.Kind = plugin.URL
	case src.Kind == plugin.Directory && dir != "" && src.At != "" && !filepath.IsAbs(src.At):
		src.At = filepath.Join(dir, src.At)
	}
	return src, checkSource(src, true)
}

// checkSource returns the reason a source must not be fetched, or nil. Paths are allowed only
// if the user named one.
func checkSource(src plugin.Source, paths bool) error {
	if err := checkRef(src.Ref); err != nil {
		return err
	}
	switch {
	case src.Kind == plugin.URL:
		return checkJSON(src.At)
	case filepath.IsAbs(src.At):
		if paths {
			return nil
		}
		return errors.New("it is a path on this machine, which a marketplace of another one must not name")
	case src.Kind == plugin.Directory:
		return fmt.Errorf("%q is not an absolute path", src.At)
	}
	return checkRemote(src.At)
}

// checkRemote returns the reason an address must not be passed to git, or nil.
func checkRemote(at string) error {
	const take = "use https or ssh"
	scheme, rest, ok := strings.Cut(at, "://")
	switch {
	case at == "" || at[0] == '-' || strings.Contains(at, "::") || strings.ContainsFunc(at, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }):
		return fmt.Errorf("%q is not a repository URL: %s", at, take)
	case !ok:
		return checkShort(at)
	case scheme != "https" && scheme != "ssh":
		return fmt.Errorf("%q: addresses with %s are not used: %s", at, scheme, take)
	}
	u, err := url.Parse(at)
	if err != nil {
		return fmt.Errorf("%q is not a repository URL: %s", rest, take)
	}
	if _, secret := u.User.Password(); secret {
		return errors.New("the address has a password, which would be kept in a file: leave it to git's credential helper")
	}
	if host := u.Hostname(); host == "" || host[0] == '-' || strings.HasPrefix(u.User.Username(), "-") || strings.HasPrefix(u.Path, "/-") {
		return fmt.Errorf("%q is not a repository URL: %s", at, take)
	}
	return nil
}

// checkShort returns the reason an address of the form USER@HOST:PATH must not be used, or nil.
func checkShort(at string) error {
	server, path, ok := strings.Cut(at, ":")
	user, host, named := strings.Cut(server, "@")
	if !ok || !named || user == "" || host == "" || path == "" || strings.ContainsAny(server, "/\\") || user[0] == '-' || host[0] == '-' || path[0] == '-' {
		return fmt.Errorf("%q is not a marketplace: give OWNER/REPOSITORY, an https or ssh URL, or a path that begins with ./", at)
	}
	return nil
}

// checkJSON returns the reason a URL must not be fetched, or nil.
func checkJSON(at string) error {
	u, err := url.Parse(at)
	switch {
	case err != nil || u.Host == "":
		return fmt.Errorf("%q is not a URL", at)
	case u.User != nil:
		return errors.New("the address has credentials, which would be kept in a file")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return fmt.Errorf("%q: unencrypted downloads can be tampered with: use https", at)
	case u.Scheme != "https" && u.Scheme != "http":
		return fmt.Errorf("%q: addresses with %s are not used: use https", at, u.Scheme)
	}
	return nil
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback() || host == "localhost"
}

// checkRef returns an error if ref is not a valid branch or tag. It may be empty.
func checkRef(ref string) error {
	bad := strings.HasPrefix(ref, "-") || strings.HasSuffix(ref, "/") || strings.HasPrefix(ref, "/") || strings.Contains(ref, "..") || strings.Contains(ref, "@{") ||
		strings.HasSuffix(ref, ".lock") || len(ref) > 200
	if bad || strings.ContainsFunc(ref, func(r rune) bool {
		return r <= ' ' || r == 0x7f || unicode.IsControl(r) || strings.ContainsRune(`~^:?*[\+`, r)
	}) {
		return fmt.Errorf("%q is not a branch or tag", ref)
	}
	return nil
}

// checkSHA returns an error if sha is not a commit hash. It may be empty.
func checkSHA(sha string) error {
	if sha == "" {
		return nil
	}
	if len(sha) != 40 && len(sha) != 64 || strings.Trim(sha, "0123456789abcdef") != "" {
		return fmt.Errorf("%q is not a commit: give all 40 hex digits in lower case", sha)
	}
	return nil
}
