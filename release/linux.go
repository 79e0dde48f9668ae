package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/apk"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// linuxFormats are the packages for Linux, with the command that updates them.
var linuxFormats = []struct{ format, update string }{
	{"deb", "sudo apt-get install --only-upgrade adze"},
	{"rpm", "sudo dnf upgrade adze"},
	{"apk", "sudo apk upgrade adze"},
}

// linuxPackages writes the packages for Debian, Fedora and Alpine.
func (r *release) linuxPackages(_ context.Context, work string) error {
	// The packagers read this from the environment.
	if err := os.Setenv("SOURCE_DATE_EPOCH", strconv.FormatInt(r.commit.time.Unix(), 10)); err != nil {
		return err
	}
	for _, p := range r.platforms {
		if p.os != "linux" {
			continue
		}
		for _, f := range linuxFormats {
			if err := r.linuxPackage(p, f.format, f.update, filepath.Join(work, f.format+"-"+p.arch)); err != nil {
				return fmt.Errorf("%s for %s: %w", f.format, p, err)
			}
		}
	}
	return nil
}

func (r *release) linuxPackage(p platform, format, update, stage string) error {
	all, err := r.installed(p)
	if err != nil {
		return err
	}
	var contents files.Contents
	for _, f := range append(all, mark(format, update)) {
		path := filepath.Join(stage, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.data, f.mode); err != nil {
			return err
		}
		info := &files.ContentFileInfo{Owner: "root", Group: "root", Mode: f.mode, MTime: r.commit.time}
		contents = append(contents, &files.Content{Source: path, Destination: "/usr/" + f.name, FileInfo: info})
	}
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "adze", Arch: p.arch, Platform: "linux", Version: r.version, Release: "1", Section: "devel", Priority: "optional",
		Maintainer: r.config.Maintainer, Vendor: r.config.Maintainer, Description: r.config.Summary, Homepage: r.config.Homepage, License: r.config.License,
		MTime: r.commit.time, DisableGlobbing: true,
		Overridables: nfpm.Overridables{
			Contents: contents, Recommends: []string{"git", "bubblewrap"},
			RPM: nfpm.RPM{BuildHost: "localhost", Summary: r.config.Summary},
		},
	})
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	name := packager.ConventionalFileName(info)
	out, err := os.Create(filepath.Join(r.out, name))
	if err != nil {
		return err
	}
	defer out.Close()
	if err := packager.Package(info, out); err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	return r.add(name)
}
