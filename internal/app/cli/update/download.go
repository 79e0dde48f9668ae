package update

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"aead.dev/minisign"
)

// Limits on what is downloaded, in bytes.
const (
	maxText    = 100_000
	maxArchive = 200 << 20
	maxProgram = 400 << 20
)

// get downloads a file of at most limit bytes.
func (u *Updater) get(ctx context.Context, path string, limit int64) ([]byte, error) {
	address := strings.TrimRight(u.Source, "/") + "/" + path
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "adze/"+u.Version)
	resp, err := u.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotFound:
		return nil, fmt.Errorf("%s does not exist", address)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s: the server answered %s", address, resp.Status)
	}
	data, err := io.ReadAll(io.LimitReader(u.progress(resp), limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", address, err)
	case int64(len(data)) > limit:
		return nil, fmt.Errorf("%s is larger than %d bytes", address, limit)
	}
	return data, nil
}

// progressStep is after how many bytes progress is reported.
const progressStep = 5 << 20

// progress returns the body of a response, which reports progress while it is read.
func (u *Updater) progress(resp *http.Response) io.Reader {
	if resp.ContentLength < 2*progressStep {
		return resp.Body
	}
	done, next := int64(0), int64(progressStep)
	return io.TeeReader(resp.Body, writerFunc(func(p []byte) (int, error) {
		if done += int64(len(p)); done >= next {
			next += progressStep
			u.Say(fmt.Sprintf("%d of %d MB", done>>20, resp.ContentLength>>20))
		}
		return len(p), nil
	}))
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// signed downloads a text that the release key has signed as what comment says.
func (u *Updater) signed(ctx context.Context, path, comment string) (string, error) {
	var public minisign.PublicKey
	if err := public.UnmarshalText([]byte(u.Key)); err != nil {
		return "", fmt.Errorf("the release key of this program is damaged: %w", err)
	}
	text, err := u.get(ctx, path, maxText)
	if err != nil {
		return "", err
	}
	signature, err := u.get(ctx, path+".minisig", maxText)
	if err != nil {
		return "", err
	}
	var s minisign.Signature
	if err := s.UnmarshalText(signature); err != nil || !minisign.Verify(public, text, signature) {
		return "", fmt.Errorf("the signature of %s is wrong; nothing was changed", path)
	}
	if s.TrustedComment != comment {
		return "", fmt.Errorf("%s is signed as %q instead of %q; nothing was changed", path, s.TrustedComment, comment)
	}
	return string(text), nil
}

// download returns a file of a version after checking its signed checksum.
func (u *Updater) download(ctx context.Context, version, name string) ([]byte, error) {
	sums, err := u.signed(ctx, "v"+version+"/SHA256SUMS", "adze "+version)
	if err != nil {
		return nil, err
	}
	want := ""
	for line := range strings.Lines(sums) {
		if sum, file, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  "); file == name {
			want = sum
		}
	}
	if want == "" {
		return nil, fmt.Errorf("adze %s has no file %s", version, name)
	}
	data, err := u.get(ctx, "v"+version+"/"+name, maxArchive)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != want {
		return nil, fmt.Errorf("%s is incomplete or was changed: its checksum is not the signed one; nothing was changed", name)
	}
	return data, nil
}

// extract returns a file of an archive.
func extract(data []byte, archive, name string) ([]byte, error) {
	if strings.HasSuffix(archive, ".zip") {
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return nil, err
		}
		f, err := z.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return readProgram(f)
	}
	gz, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	for t := tar.NewReader(gz); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s is missing", name)
		}
		if err != nil {
			return nil, err
		}
		if h.Name == name && h.Typeflag == tar.TypeReg {
			return readProgram(t)
		}
	}
}

func readProgram(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxProgram+1))
	if err == nil && len(data) > maxProgram {
		err = errors.New("the program is too large")
	}
	return data, err
}
