// Package picture prepares pictures for a model: it detects their type by content, rejects
// decompression bombs, and scales and compresses pictures to fit a budget. It does no I/O.
package picture

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"unicode/utf8"

	"golang.org/x/image/webp"
)

// Media types of pictures that models accept.
const (
	PNG  = "image/png"
	JPEG = "image/jpeg"
	GIF  = "image/gif"
	WebP = "image/webp"
)

// maxPixels limits the size of pictures to decode, because each pixel costs memory however
// small the file is. Pixels with 16 bits per color count twice.
const maxPixels = 100_000_000

// ErrEmpty means that the data is empty.
var ErrEmpty = errors.New("the picture is empty: it has 0 bytes")

// Sniff returns the media type of the picture that begins with head, or "" if it is not a type
// that models accept.
func Sniff(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return PNG
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return JPEG
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return GIF
	case len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP":
		return WebP
	}
	return ""
}

// A Size is a picture's size in pixels.
type Size struct{ Width, Height int }

func (s Size) String() string { return fmt.Sprintf("%dx%d", s.Width, s.Height) }

func (s Size) pixels() int64 { return int64(s.Width) * int64(s.Height) }

// Measure returns a picture's media type and size without decoding it. It rejects data that is
// not a picture and pictures of more than 100 megapixels.
func Measure(data []byte) (mediaType string, size Size, err error) {
	if len(data) == 0 {
		return "", Size{}, ErrEmpty
	}
	mediaType = Sniff(data)
	var c image.Config
	switch mediaType {
	case PNG:
		c, err = png.DecodeConfig(bytes.NewReader(data))
	case JPEG:
		c, err = jpeg.DecodeConfig(bytes.NewReader(data))
	case GIF:
		c, err = gif.DecodeConfig(bytes.NewReader(data))
	case WebP:
		still, canvas, _ := webpStill(data)
		if c, err = webp.DecodeConfig(bytes.NewReader(still)); err == nil {
			c.Width, c.Height = webpFrame(still, max(c.Width, canvas.Width), max(c.Height, canvas.Height))
		}
	default:
		return "", Size{}, fmt.Errorf("this is not a PNG, JPEG, GIF or WebP picture: it looks like %s. Convert it first", found(data))
	}
	if err != nil {
		return "", Size{}, damaged(mediaType, err)
	}
	size = Size{c.Width, c.Height}
	most := int64(maxPixels)
	if c.ColorModel == color.RGBA64Model || c.ColorModel == color.NRGBA64Model {
		most /= 2
	}
	switch {
	case size.pixels() == 0:
		return "", Size{}, damaged(mediaType, fmt.Errorf("its size is %v", size))
	case size.pixels() > most:
		return "", Size{}, fmt.Errorf("the %s picture is %v pixels, and more than %d million are not decoded. Scale it down first",
			name(mediaType), size, most/1_000_000)
	}
	if mediaType == JPEG && orientation(data).turned() {
		size = Size{size.Height, size.Width}
	}
	return mediaType, size, nil
}

// found guesses the type of data, for error messages.
func found(data []byte) string {
	for _, kind := range []struct{ magic, name string }{
		{"%PDF", "a PDF document"}, {"BM", "a BMP picture"}, {"II*\x00", "a TIFF picture"}, {"MM\x00*", "a TIFF picture"},
		{"<svg", "an SVG picture"}, {"PK\x03\x04", "a zip archive"}, {"\x00\x00\x01\x00", "an icon"},
	} {
		if bytes.HasPrefix(data, []byte(kind.magic)) {
			return kind.name
		}
	}
	if len(data) >= 12 && string(data[4:8]) == "ftyp" {
		switch string(data[8:12]) {
		case "avif", "avis":
			return "an AVIF picture"
		case "heic", "heix", "hevc", "heim", "heis", "mif1", "msf1":
			return "a HEIC picture"
		}
	}
	if head := data[:min(len(data), 512)]; bytes.IndexByte(head, 0) < 0 && utf8.Valid(head[:max(0, len(head)-utf8.UTFMax)]) {
		return "text"
	}
	return "something else"
}

func damaged(mediaType string, err error) error {
	return fmt.Errorf("the %s picture is damaged and cannot be decoded: %w", name(mediaType), err)
}

// name returns the common name of a media type.
func name(mediaType string) string {
	switch mediaType {
	case WebP:
		return "WebP"
	default:
		return strings.ToUpper(strings.TrimPrefix(mediaType, "image/"))
	}
}

// decode decodes a picture that has been measured. For an animation it returns the first frame.
func decode(mediaType string, data []byte) (img image.Image, err error) {
	defer func() {
		if v := recover(); v != nil { // decoders may panic on untrusted data
			err = fmt.Errorf("the decoder failed: %v", v)
		}
		if err != nil {
			err = damaged(mediaType, err)
		}
	}()
	src := bytes.NewReader(data)
	switch mediaType {
	case PNG:
		return png.Decode(src)
	case GIF:
		return gif.Decode(src)
	case WebP:
		return decodeWebP(data)
	}
	if img, err = jpeg.Decode(src); err != nil {
		return nil, err
	}
	return orientation(data).apply(img), nil
}

// Tokens estimates the token cost of a picture of n bytes.
func Tokens(n int) int { return (base64.StdEncoding.EncodedLen(n) + 7) / 8 }

// A Picture is a picture to send to a model.
type Picture struct {
	MediaType string
	Data      []byte
	// Size is the size of Data. Original is the size before scaling.
	Size, Original Size
}

// Scaled reports whether the picture was scaled down.
func (p Picture) Scaled() bool { return p.Size != p.Original }

// Fit scales and compresses the picture in data to at most maxTokens, or only to the general
// limits if maxTokens is 0. It returns the data unchanged if that already fits. The result can
// always be decoded.
func Fit(ctx context.Context, data []byte, maxTokens int) (Picture, error) {
	return fit(ctx, data, standard(maxTokens))
}

func fit(ctx context.Context, data []byte, b bounds) (Picture, error) {
	mediaType, size, err := Measure(data)
	if err != nil {
		return Picture{}, err
	}
	if err := ctx.Err(); err != nil {
		return Picture{}, err
	}
	img, err := decode(mediaType, data)
	if err != nil {
		return Picture{}, err
	}
	f := fitter{ctx: ctx, img: img, size: size, bounds: b}
	return f.fit(mediaType, data)
}
