package terminal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"adze/internal/msg"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/text/picture"
	"adze/internal/ui/edit"
)

// Pictures stores the pictures of unsent messages, so that drafts can be restored with them.
type Pictures struct{ dir string }

const (
	// maxPicture is the maximum size of a picture, in bytes.
	maxPicture = 32 << 20
	// pictureAge is the age at which a picture is removed, because its message was sent or
	// discarded.
	pictureAge = 30 * 24 * time.Hour
)

// OpenPictures returns the pictures next to the drafts in a state home. Without a home they are
// kept in memory.
func OpenPictures(home string) *Pictures {
	if home == "" {
		return &Pictures{}
	}
	return &Pictures{filepath.Join(home, "drafts", "images")}
}

// Read stores the picture in a file.
func (p *Pictures) Read(ctx context.Context, path string) (edit.Image, error) {
	data, err := fsys.ReadSmall(path, maxPicture)
	if err != nil {
		return edit.Image{}, err
	}
	return p.Take(ctx, data)
}

// Take stores a picture as it will be sent, scaled to the models' maximum size.
func (p *Pictures) Take(ctx context.Context, data []byte) (edit.Image, error) {
	fit, err := picture.Fit(ctx, data, 0)
	if err != nil {
		return edit.Image{}, err
	}
	image := edit.Image{MediaType: fit.MediaType, Width: fit.Original.Width, Height: fit.Original.Height, Data: fit.Data}
	if p.dir == "" {
		return image, nil
	}
	if err := fsys.MkdirPrivate(p.dir); err != nil {
		return edit.Image{}, err
	}
	p.clean()
	sum := sha256.Sum256(fit.Data)
	path := filepath.Join(p.dir, hex.EncodeToString(sum[:]))
	if err := fsys.WriteAtomic(path, fit.Data, 0o600); err != nil {
		return edit.Image{}, fmt.Errorf("keeping the image: %w", err)
	}
	image.Path, image.Data = path, nil
	return image, nil
}

// clean removes old pictures.
func (p *Pictures) clean() {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > pictureAge {
			os.Remove(filepath.Join(p.dir, e.Name())) // ok: retried later
		}
	}
}

// Part returns a picture as a message part. It rejects files it has not stored itself.
func (p *Pictures) Part(image edit.Image) (msg.Part, error) {
	data := image.Data
	if data == nil {
		if p.dir == "" || filepath.Dir(image.Path) != p.dir {
			return nil, errors.New("the image is not there any more")
		}
		var err error
		if data, err = fsys.ReadSmall(image.Path, maxPicture); err != nil {
			return nil, fmt.Errorf("the image is not there any more: %w", err)
		}
	}
	mediaType, _, err := picture.Measure(data)
	if err != nil {
		return nil, err
	}
	return &msg.Image{MediaType: mediaType, Data: data}, nil
}
