package picture

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/draw"
)

// bounds are the limits for a picture.
type bounds struct {
	side, bytes int // general limits; models downscale larger pictures
	last        int // side length for the last resort
	tokens      int // token limit for this picture; 0 means none
}

// standard returns the limits of providers. Their limit of 5 MB applies to the base64 encoding.
func standard(tokens int) bounds {
	return bounds{side: 2000, bytes: 3_750_000, last: 400, tokens: tokens}
}

func (b bounds) admit(data []byte) bool {
	return len(data) <= b.bytes && (b.tokens == 0 || Tokens(len(data)) <= b.tokens)
}

// lastQuality is the JPEG quality of the last resort.
const lastQuality = 20

// A fitter makes smaller and smaller versions of a decoded picture.
type fitter struct {
	ctx  context.Context
	img  image.Image // scaled to the general limits by plain
	size Size        // original size
	bounds
}

// fit tries three steps and stops at the first that suffices.
func (f *fitter) fit(mediaType string, data []byte) (Picture, error) {
	if p, err := f.plain(mediaType, data); err != nil || f.admit(p.Data) {
		return p, err
	}
	if p, err := f.compressed(); err != nil || p.Data != nil {
		return p, err
	}
	p, err := f.encode(JPEG, f.scaled(f.size.within(f.last)), lastQuality)
	if err == nil && !f.admit(p.Data) {
		return Picture{}, fmt.Errorf("the picture of %v pixels and %d bytes is still too large at %v pixels and %d bytes: "+
			"about %d tokens, and at most %d are returned",
			f.size, len(data), p.Size, len(p.Data), Tokens(len(p.Data)), f.tokens)
	}
	return p, err
}

// plain returns the picture within the general limits, in its own format if there is an encoder
// for it.
func (f *fitter) plain(mediaType string, data []byte) (Picture, error) {
	size := f.size.within(f.side)
	if _, lying := f.img.(*upright); !lying && size == f.size && len(data) <= f.bytes {
		return Picture{MediaType: mediaType, Data: data, Size: size, Original: size}, nil
	}
	f.img = f.scaled(size)
	if mediaType != JPEG && !(mediaType == WebP && opaque(f.img)) {
		p, err := f.encode(PNG, f.img, 0)
		if err != nil || len(p.Data) <= f.bytes {
			return p, err
		}
	}
	return f.encode(JPEG, f.img, 85)
}

// compressed reduces quality before size, because a blurred letter can still be read and a lost
// one cannot. It returns no data if nothing fits.
func (f *fitter) compressed() (Picture, error) {
	for side := f.side; side > f.last; side = side * 3 / 4 {
		size := f.size.within(side)
		if size == f.size && side*3/4 > max(size.Width, size.Height) {
			continue // the next iteration has the same size
		}
		img := f.scaled(size)
		for _, quality := range []int{75, 50, 30} {
			p, err := f.encode(JPEG, img, quality)
			if err != nil || f.admit(p.Data) {
				return p, err
			}
		}
	}
	return Picture{}, nil
}

// within scales a size so that no side is longer than side.
func (s Size) within(side int) Size {
	long := max(s.Width, s.Height)
	if long <= side {
		return s
	}
	scale := func(n int) int { return max(1, (n*side+long/2)/long) }
	return Size{scale(s.Width), scale(s.Height)}
}

// scaled scales the picture down to size.
func (f *fitter) scaled(size Size) image.Image {
	src := f.img
	had := Size{src.Bounds().Dx(), src.Bounds().Dy()}
	if size == had {
		return src
	}
	// The high-quality filter reads every pixel several times, so a huge picture is first
	// scaled down roughly.
	if near := (Size{size.Width * 2, size.Height * 2}); had.Width > near.Width*3/2 {
		rough := newRGBA(near)
		draw.ApproxBiLinear.Scale(rough, rough.Bounds(), src, src.Bounds(), draw.Src, nil)
		src = rough
	}
	dst := newRGBA(size)
	draw.CatmullRom.Scale(dst, dst.Bounds(), src, src.Bounds(), draw.Src, nil)
	return dst
}

func newRGBA(s Size) *image.RGBA { return image.NewRGBA(image.Rect(0, 0, s.Width, s.Height)) }

// encode encodes img. JPEG has no transparency, so transparent pixels become white.
func (f *fitter) encode(mediaType string, img image.Image, quality int) (Picture, error) {
	if err := f.ctx.Err(); err != nil {
		return Picture{}, err
	}
	var buf bytes.Buffer
	var err error
	if mediaType == PNG {
		err = png.Encode(&buf, img)
	} else {
		err = jpeg.Encode(&buf, flat(img), &jpeg.Options{Quality: quality})
	}
	if err != nil {
		return Picture{}, fmt.Errorf("writing the picture as %s: %w", name(mediaType), err)
	}
	b := img.Bounds()
	return Picture{MediaType: mediaType, Data: buf.Bytes(), Size: Size{b.Dx(), b.Dy()}, Original: f.size}, nil
}

// flat returns img on a white background.
func flat(img image.Image) image.Image {
	if opaque(img) {
		return img
	}
	dst := image.NewRGBA(image.Rect(0, 0, img.Bounds().Dx(), img.Bounds().Dy()))
	draw.Draw(dst, dst.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(dst, dst.Bounds(), img, img.Bounds().Min, draw.Over)
	return dst
}

func opaque(img image.Image) bool {
	o, ok := img.(interface{ Opaque() bool })
	return ok && o.Opaque()
}
