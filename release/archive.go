package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// A file is a file of an archive or a package.
type file struct {
	name string // slash-separated, relative to the installation prefix
	data []byte
	mode fs.FileMode
}

// packageMark is the file that says how a program was installed; adze update reads it. Its first
// line names the package manager, the second is the command that updates.
const packageMark = "share/adze/package"

func mark(manager, update string) file {
	return file{packageMark, []byte(manager + "\n" + update + "\n"), 0o644}
}

// installed returns the files of an installation below its prefix: the program in bin, the
// documents in share.
func (r *release) installed(p platform) ([]file, error) {
	data, err := os.ReadFile(r.binaries[p])
	if err != nil {
		return nil, err
	}
	return append([]file{{"bin/" + p.exe(), data, 0o755}}, r.docs...), nil
}

// archive writes the archive of each platform.
func (r *release) archive(_ context.Context, _ string) error {
	for _, p := range r.platforms {
		files, err := r.installed(p)
		if err != nil {
			return err
		}
		name := r.archiveName(p)
		dir := strings.TrimSuffix(strings.TrimSuffix(name, ".zip"), ".tar.gz") + "/"
		for i := range files {
			files[i].name = dir + files[i].name
		}
		pack := tarGzip
		if p.os == "windows" {
			pack = zipped
		}
		data, err := pack(files, r.commit.time)
		if err != nil {
			return err
		}
		if err := r.write(name, data); err != nil {
			return err
		}
	}
	return nil
}

func tarGzip(files []file, when time.Time) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	data, err := tarred(files, when)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func tarred(files []file, when time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range sorted(files) {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: int64(f.mode), Size: int64(len(f.data)), ModTime: when, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

func zipped(files []file, when time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range sorted(files) {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: when}
		h.SetMode(f.mode)
		part, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := part.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

func sorted(files []file) []file {
	return slices.SortedFunc(slices.Values(files), func(a, b file) int { return cmp.Compare(a.name, b.name) })
}
