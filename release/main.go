// Command release builds a version of adze for all platforms, packs it in the formats that people
// install, and signs the checksums. scripts/release runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
)

const usage = `usage: scripts/release [options] VERSION [OS/ARCH...]

Build VERSION, such as 0.2.0, for these platforms (default: all), into DIR.

  -o DIR         output directory (default: dist); must be empty or missing
  -config FILE   addresses and names (default: release/release.json)
  -key FILE      sign with this minisign key; RELEASE_PASSWORD decrypts it
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("release", flag.ExitOnError)
	flags.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	out := flags.String("o", "dist", "")
	config := flags.String("config", "", "")
	keyFile := flags.String("key", "", "")
	source := flags.String("source", "..", "") // the root of the project
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 || !versionForm.MatchString(flags.Arg(0)) {
		flags.Usage()
		os.Exit(2)
	}
	r := &release{version: flags.Arg(0), root: *source, out: *out}
	var err error
	if r.platforms, err = parsePlatforms(flags.Args()[1:]); err != nil {
		return err
	}
	if r.config, err = readConfig(*config); err != nil {
		return err
	}
	if *keyFile != "" {
		if r.key, err = readKey(*keyFile, os.Getenv("RELEASE_PASSWORD")); err != nil {
			return err
		}
	}
	return r.make(ctx)
}

// versionForm is the form of a version: X.Y.Z or X.Y.Z-PRERELEASE.
var versionForm = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)

// A platform is an operating system and an architecture, in Go's names.
type platform struct{ os, arch string }

var allPlatforms = []platform{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

func (p platform) String() string { return p.os + "/" + p.arch }

// exe returns the file name of the program.
func (p platform) exe() string {
	if p.os == "windows" {
		return "adze.exe"
	}
	return "adze"
}

func parsePlatforms(names []string) ([]platform, error) {
	if len(names) == 0 {
		return allPlatforms, nil
	}
	var chosen []platform
next:
	for _, name := range names {
		for _, p := range allPlatforms {
			if p.String() == name {
				chosen = append(chosen, p)
				continue next
			}
		}
		return nil, fmt.Errorf("no platform %s; there are %v", name, allPlatforms)
	}
	return chosen, nil
}

// A release is a version being built.
type release struct {
	version   string
	root      string // the project's
	out       string
	platforms []platform
	config    config
	key       *key // nil: not signed

	commit   commit
	binaries map[platform]string // paths
	docs     []file              // further files in archives and packages
	made     []string            // names of the files in out, without the checksums
	hashes   map[string]string   // SHA-256 by name
}

// make builds everything.
func (r *release) make(ctx context.Context) error {
	if entries, err := os.ReadDir(r.out); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s is not empty: remove it or choose another directory with -o", r.out)
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "adze-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if r.commit, err = lastCommit(ctx, r.root); err != nil {
		return err
	}
	steps := []struct {
		name string
		do   func(ctx context.Context, work string) error
	}{
		{"binaries", r.build},
		{"documents", r.document},
		{"archives", r.archive},
		{"Linux packages", r.linuxPackages},
		{"npm packages", r.npmPackages},
		{"container image", r.image},
		{"SBOM and notes", r.describe},
		{"manifests", r.manifests},
		{"checksums", r.sign},
	}
	for _, s := range steps {
		fmt.Println(s.name)
		if err := s.do(ctx, work); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	if r.key == nil {
		fmt.Println("The checksums are not signed: adze update and install.sh refuse this release. Sign it with -key FILE.")
	}
	return nil
}

// write writes a file of the release.
func (r *release) write(name string, data []byte) error {
	path := filepath.Join(r.out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return err
	}
	return r.add(name)
}

// add records a file that was written to out.
func (r *release) add(name string) error {
	sum, err := sumFile(filepath.Join(r.out, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	if r.hashes == nil {
		r.hashes = map[string]string{}
	}
	if r.hashes[name] != "" {
		return errors.New(name + " was made twice")
	}
	r.hashes[name] = sum
	r.made = append(r.made, name)
	fmt.Println("  " + name)
	return nil
}

// archiveName returns the name of a platform's archive.
func (r *release) archiveName(p platform) string {
	name := strings.Join([]string{"adze", r.version, p.os, p.arch}, "-")
	if p.os == "windows" {
		return name + ".zip"
	}
	return name + ".tar.gz"
}
