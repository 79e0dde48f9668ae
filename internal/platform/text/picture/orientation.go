package picture

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
)

// An orient is an Exif orientation; 1 is upright. A picture must be rotated when it is
// re-encoded, because the Exif tag is lost.
type orient uint16

// turned reports whether width and height are swapped.
func (o orient) turned() bool { return o >= 5 && o <= 8 }

// apply returns img rotated upright.
func (o orient) apply(img image.Image) image.Image {
	if o < 2 || o > 8 {
		return img
	}
	return &upright{img: img, o: o, w: img.Bounds().Dx(), h: img.Bounds().Dy()}
}

// upright is a rotated or mirrored view of a picture.
type upright struct {
	img  image.Image
	o    orient
	w, h int // stored size
}

func (u *upright) ColorModel() color.Model { return u.img.ColorModel() }
func (u *upright) Opaque() bool            { return opaque(u.img) }

func (u *upright) Bounds() image.Rectangle {
	if u.o.turned() {
		return image.Rect(0, 0, u.h, u.w)
	}
	return image.Rect(0, 0, u.w, u.h)
}

func (u *upright) At(x, y int) color.Color {
	switch u.o {
	case 2:
		x = u.w - 1 - x
	case 3:
		x, y = u.w-1-x, u.h-1-y
	case 4:
		y = u.h - 1 - y
	case 5:
		x, y = y, x
	case 6:
		x, y = y, u.h-1-x
	case 7:
		x, y = u.w-1-y, u.h-1-x
	case 8:
		x, y = u.w-1-y, x
	}
	m := u.img.Bounds().Min
	return u.img.At(m.X+x, m.Y+y)
}

// orientation returns the orientation of a JPEG, or 1 if it is not specified.
func orientation(data []byte) orient {
	for rest := data[2:]; len(rest) >= 4 && rest[0] == 0xff; {
		marker, size := rest[1], int(binary.BigEndian.Uint16(rest[2:]))
		if marker == 0xda || size < 2 || size+2 > len(rest) { // start of the image data
			break
		}
		if body, ok := bytes.CutPrefix(rest[4:size+2], []byte("Exif\x00\x00")); ok && marker == 0xe1 {
			return exifOrientation(body)
		}
		rest = rest[size+2:]
	}
	return 1
}

// exifOrientation looks up the tag in the first directory of a TIFF structure.
func exifOrientation(tiff []byte) orient {
	var order binary.ByteOrder = binary.BigEndian
	if bytes.HasPrefix(tiff, []byte("II")) {
		order = binary.LittleEndian
	}
	if len(tiff) < 8 {
		return 1
	}
	at := uint64(order.Uint32(tiff[4:]))
	if at+2 > uint64(len(tiff)) {
		return 1
	}
	entries := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(entries) < 12 {
			break
		}
		if order.Uint16(entries) == 0x0112 {
			return orient(order.Uint16(entries[8:]))
		}
		entries = entries[12:]
	}
	return 1
}
