package main

import (
	"bytes"
	"context"
	"encoding/pem"
	"io"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// image writes a container image for Linux, as an OCI layout in a tar file: the program and
// the certificates it needs, to run as it is or to copy into another image.
func (r *release) image(_ context.Context, work string) error {
	var roots bytes.Buffer
	for c := range bundle.Roots() {
		if err := pem.Encode(&roots, &pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate}); err != nil {
			return err
		}
	}
	var index v1.ImageIndex = mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	count := 0
	for _, p := range r.platforms {
		if p.os != "linux" {
			continue
		}
		img, err := r.platformImage(p, roots.Bytes())
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.os, Architecture: p.arch}},
		})
		count++
	}
	if count == 0 {
		return nil
	}
	dir := filepath.Join(work, "image")
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	name := map[string]string{"org.opencontainers.image.ref.name": r.version}
	if err := path.AppendIndex(index, layout.WithAnnotations(name)); err != nil {
		return err
	}
	var all []file
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		all = append(all, file{filepath.ToSlash(name), data, 0o644})
		return err
	})
	if err != nil {
		return err
	}
	data, err := tarred(all, r.commit.time)
	if err != nil {
		return err
	}
	return r.write("adze-"+r.version+"-image.tar", data)
}

func (r *release) platformImage(p platform, roots []byte) (v1.Image, error) {
	files, err := r.installed(p)
	if err != nil {
		return nil, err
	}
	files = append(files, mark("image", "docker pull "+r.config.Image))
	for i := range files {
		files[i].name = "usr/" + files[i].name
	}
	files = append(files, file{"etc/ssl/certs/ca-certificates.crt", roots, 0o644})
	content, err := tarred(files, r.commit.time)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(
		func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
		tarball.WithMediaType(types.OCILayer),
	)
	if err != nil {
		return nil, err
	}
	made := v1.Time{Time: r.commit.time}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err = mutate.Append(img, mutate.Addendum{Layer: layer, History: v1.History{Created: made, CreatedBy: "adze " + r.version}})
	if err != nil {
		return nil, err
	}
	old, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(img, &v1.ConfigFile{
		OS: p.os, Architecture: p.arch, Created: made, RootFS: old.RootFS, History: old.History,
		Config: v1.Config{
			Entrypoint: []string{"/usr/bin/adze"}, WorkingDir: "/work",
			Env: []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root"},
			Labels: map[string]string{
				"org.opencontainers.image.title": "adze", "org.opencontainers.image.version": r.version,
				"org.opencontainers.image.revision": r.commit.id, "org.opencontainers.image.created": r.commit.time.Format(time.RFC3339),
				"org.opencontainers.image.licenses": r.config.License, "org.opencontainers.image.description": r.config.Summary,
			},
		},
	})
}
