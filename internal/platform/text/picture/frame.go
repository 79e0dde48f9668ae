package picture

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/draw"
	"iter"

	"golang.org/x/image/webp"
)

// chunks yields the chunks of a WebP file or frame with their types.
func chunks(data []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for len(data) >= 8 {
			kind, size := string(data[:4]), int(binary.LittleEndian.Uint32(data[4:]))
			data = data[8:]
			if !yield(kind, data[:min(size, len(data))]) {
				return
			}
			if size += size & 1; size > len(data) {
				return
			}
			data = data[size:]
		}
	}
}

// webpFrame returns the maximum of a WebP file's declared size and its frames' sizes, because
// the decoder allocates memory for the size of a frame.
func webpFrame(data []byte, width, height int) (int, int) {
	for kind, body := range chunks(data[12:]) {
		w, h := 0, 0
		switch {
		case kind == "VP8 " && len(body) >= 10:
			w = int(binary.LittleEndian.Uint16(body[6:])) & 0x3fff
			h = int(binary.LittleEndian.Uint16(body[8:])) & 0x3fff
		case kind == "VP8L" && len(body) >= 5:
			bits := binary.LittleEndian.Uint32(body[1:])
			w, h = int(bits&0x3fff)+1, int(bits>>14&0x3fff)+1
		}
		width, height = max(width, w), max(height, h)
	}
	return width, height
}

// uint24 decodes a 24-bit number.
func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

// webpStill returns the first frame of an animated WebP as a file that the decoder accepts,
// with the size of the animation and the frame's position in it. Other files are returned
// unchanged.
func webpStill(data []byte) (still []byte, canvas Size, at image.Point) {
	animated := false
	for kind, body := range chunks(data[12:]) {
		switch {
		case kind == "VP8X" && len(body) >= 10 && body[0]&0x02 != 0:
			animated = true
			canvas = Size{uint24(body[4:]) + 1, uint24(body[7:]) + 1}
		case kind == "ANMF" && animated && len(body) >= 16:
			size := body[6:12] // stored minus one
			return frameFile(size, body[16:]), canvas, image.Pt(2*uint24(body), 2*uint24(body[3:]))
		}
	}
	return data, Size{}, image.Point{}
}

// frameFile returns a WebP file with one frame.
func frameFile(size, frame []byte) []byte {
	file := []byte("RIFF\x00\x00\x00\x00WEBP")
	add := func(kind string, body []byte) {
		file = binary.LittleEndian.AppendUint32(append(file, kind...), uint32(len(body)))
		if file = append(file, body...); len(body)%2 == 1 {
			file = append(file, 0)
		}
	}
	for kind, body := range chunks(frame) {
		switch kind {
		case "ALPH": // requires an extended header
			add("VP8X", append([]byte{0x10, 0, 0, 0}, size...))
			add(kind, body)
		case "VP8 ", "VP8L":
			add(kind, body)
		}
	}
	binary.LittleEndian.PutUint32(file[4:], uint32(len(file)-8))
	return file
}

// decodeWebP decodes a picture, or the first frame of an animation.
func decodeWebP(data []byte) (image.Image, error) {
	still, canvas, at := webpStill(data)
	img, err := webp.Decode(bytes.NewReader(still))
	if err != nil || canvas == (Size{}) || img.Bounds() == image.Rect(0, 0, canvas.Width, canvas.Height) {
		return img, err
	}
	whole := image.NewNRGBA(image.Rect(0, 0, canvas.Width, canvas.Height))
	draw.Draw(whole, img.Bounds().Add(at), img, img.Bounds().Min, draw.Src)
	return whole, nil
}
