// Package remote fetches skills from URLs that the user has configured: a name that begins with
// _canonical_ refers to the SKILL.md in the directory named by the rest. Fetched skills are
// plain text: nothing in them runs, and their front matter is ignored.
package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"unicode/utf8"

	"adze/internal/domain/skill"
	"adze/internal/platform/net/web"
)

// Prefix begins the names of fetched skills.
const Prefix = "_canonical_"

const (
	// maxFile bounds a file, in bytes, and maxSlug a name without the prefix.
	maxFile = 256 << 10
	maxSlug = 64
	// maxCached is the number of prompts cached per session.
	maxCached = 50
)

// A Source fetches skills. It is safe for concurrent use.
type Source struct {
	bases  []*url.URL
	client *web.Client

	mu     sync.Mutex
	cached map[string]string // prompts by slug
}

// New returns a source that tries the bases in order, and an error for each invalid base. It
// returns nil without a valid base. A base is an https URL, or gs://BUCKET/PATH or
// s3://BUCKET/PATH for a public bucket.
func New(bases []string, client *web.Client) (*Source, []error) {
	s := &Source{client: client, cached: map[string]string{}}
	var wrong []error
	for _, text := range bases {
		u, err := parseBase(text)
		if err == nil {
			u, err = client.Check(u.String())
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("remoteSkills: %q is not used: %w", text, err))
			continue
		}
		s.bases = append(s.bases, u)
	}
	if len(s.bases) == 0 {
		return nil, wrong
	}
	return s, wrong
}

// parseBase returns the URL for a base.
func parseBase(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case err != nil:
		return nil, errors.New("it is not an address")
	case u.Host == "" || u.Opaque != "":
		return nil, errors.New("it names no host or bucket")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("it must have no user, query or fragment")
	}
	for part := range strings.SplitSeq(u.Path, "/") {
		if part == ".." || part == "." {
			return nil, errors.New("its path must not have . or ..")
		}
	}
	switch u.Scheme {
	case "https":
		return u, nil
	case "gs", "s3":
		if !isSlug(u.Host) {
			return nil, errors.New("the name of its bucket has other characters than a-z, 0-9, - and _: write the address with https")
		}
	default:
		return nil, errors.New("it begins with none of https://, gs:// and s3://")
	}
	bucket := url.URL{Scheme: "https", Host: u.Host + ".s3.amazonaws.com", Path: u.Path}
	if u.Scheme == "gs" {
		bucket.Host, bucket.Path = "storage.googleapis.com", "/"+u.Host+u.Path
	}
	return &bucket, nil
}

// isSlug reports whether text can be used in a URL without escaping.
func isSlug(text string) bool {
	if text == "" || len(text) > maxSlug {
		return false
	}
	for _, r := range text {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' {
			return false
		}
	}
	return true
}

// Find returns the skill with the given name, or nil if the name can't be fetched. Its text is
// fetched on demand, once per session.
func (s *Source) Find(name string) *skill.Skill {
	slug, ok := strings.CutPrefix(name, Prefix)
	if s == nil || !ok || !isSlug(slug) {
		return nil
	}
	return &skill.Skill{
		Name: name, Head: skill.Head{Description: "fetched from " + s.bases[0].Host},
		Origin: skill.Origin{Kind: skill.Remote},
		Text:   func(ctx context.Context) (string, error) { return s.text(ctx, slug) },
	}
}

// text returns a skill's prompt.
func (s *Source) text(ctx context.Context, slug string) (string, error) {
	s.mu.Lock()
	body, ok := s.cached[slug]
	s.mu.Unlock()
	if ok {
		return body, nil
	}
	for _, base := range s.bases {
		folder := base.JoinPath(slug)
		body, found, err := s.fetch(ctx, folder)
		if err != nil {
			return "", err
		}
		if found {
			s.mu.Lock()
			defer s.mu.Unlock()
			if len(s.cached) < maxCached {
				s.cached[slug] = body
			}
			return body, nil
		}
	}
	return "", fmt.Errorf("none of the addresses in remoteSkills has a file %s/SKILL.md", slug)
}

// fetch fetches the skill at a URL, and reports whether it exists.
func (s *Source) fetch(ctx context.Context, folder *url.URL) (body string, found bool, err error) {
	file := folder.JoinPath("SKILL.md")
	resp, err := s.client.Get(ctx, file, web.FetchOptions{})
	switch {
	case err != nil:
		return "", false, err
	case resp.Status == http.StatusNotFound:
		return "", false, nil
	case resp.Status != http.StatusOK:
		return "", false, fmt.Errorf("%s answered with status %d", file, resp.Status)
	case len(resp.Body) > maxFile:
		return "", false, fmt.Errorf("%s has more than %d KB", file, maxFile>>10)
	case !utf8.Valid(resp.Body):
		return "", false, fmt.Errorf("%s is not text in UTF-8", file)
	}
	if _, body, _, err = skill.Parse(file.String(), resp.Body); err != nil {
		return "", false, err
	}
	for _, name := range []string{"${ADZE_SKILL_DIR}", "${CLAUDE_SKILL_DIR}"} {
		body = strings.ReplaceAll(body, name, folder.String())
	}
	return body, true, nil
}
