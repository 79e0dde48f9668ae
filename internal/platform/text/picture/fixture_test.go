package picture

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/color/palette"
	"image/gif"
	"strings"
	"testing"
)

// halves paints the left half red and the right half blue.
func halves(img interface{ Set(x, y int, c color.Color) }, w, h int) {
	for y := range h {
		for x := range w {
			if x < w/2 {
				img.Set(x, y, color.RGBA{R: 0xff, A: 0xff})
			} else {
				img.Set(x, y, color.RGBA{B: 0xff, A: 0xff})
			}
		}
	}
}

// blockJPEG returns a JPEG with two blocks of 8 by 8 pixels, each with one value per component.
// If progressive is set, only the first scan is present. Four components are inverted CMYK, as
// written by prepress software.
func blockJPEG(left, right []byte, progressive bool) []byte {
	n := byte(len(left))
	var out []byte
	segment := func(marker byte, body ...byte) {
		out = append(out, 0xff, marker, 0, byte(len(body)+2))
		out = append(out, body...)
	}
	out = append(out, 0xff, 0xd8)
	if n == 4 {
		segment(0xee, []byte("Adobe\x00\x64\x00\x00\x00\x00\x00")...)
	}
	segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)
	frame := []byte{8, 0, 8, 0, 16, n}
	scan := []byte{n}
	for i := range n {
		frame = append(frame, i+1, 0x11, 0)
		scan = append(scan, i+1, 0)
	}
	start, last := byte(0xc0), byte(63)
	if progressive {
		start, last = 0xc2, 0
	}
	segment(start, frame...)
	// Sizes 0 to 11 have 4-bit codes; the end of a block has a 1-bit code.
	segment(0xc4, append([]byte{0, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)...)
	segment(0xc4, append([]byte{0x10, 1}, make([]byte, 16)...)...)
	segment(0xda, append(scan, 0, last, 0)...)
	var bits []byte
	put := func(value, length int) {
		for i := length - 1; i >= 0; i-- {
			bits = append(bits, byte(value>>i&1))
		}
	}
	was := make([]int, n)
	for _, block := range [][]byte{left, right} {
		for i, v := range block {
			dc := (int(v) - 128) * 8
			diff := dc - was[i]
			was[i] = dc
			size := 0
			for m := max(diff, -diff); m > 0; m >>= 1 {
				size++
			}
			put(size, 4)
			if diff < 0 {
				diff += 1<<size - 1
			}
			put(diff, size)
			if !progressive {
				put(0, 1)
			}
		}
	}
	for len(bits)%8 > 0 {
		bits = append(bits, 1)
	}
	for i := 0; i < len(bits); i += 8 {
		var b byte
		for _, bit := range bits[i : i+8] {
			b = b<<1 | bit
		}
		if out = append(out, b); b == 0xff {
			out = append(out, 0)
		}
	}
	return append(out, 0xff, 0xd9)
}

// rawPNG returns a PNG with the given header and rows.
func rawPNG(t testing.TB, w, h uint32, depth, colours, interlaced byte, rows []byte) []byte {
	t.Helper()
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	if _, err := z.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	out := []byte("\x89PNG\r\n\x1a\n")
	chunk := func(kind string, body []byte) {
		out = binary.BigEndian.AppendUint32(out, uint32(len(body)))
		out = append(append(out, kind...), body...)
		out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(append([]byte(kind), body...)))
	}
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
	chunk("IHDR", append(head, depth, colours, 0, 0, interlaced))
	chunk("IDAT", packed.Bytes())
	chunk("IEND", nil)
	return out
}

// interlacedPNG returns the picture as an interlaced PNG.
func interlacedPNG(t testing.TB) []byte {
	const w, h = 16, 8
	var rows []byte
	for _, p := range []struct{ x, y, dx, dy int }{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}} {
		for y := p.y; y < h; y += p.dy {
			rows = append(rows, 0)
			for x := p.x; x < w; x += p.dx {
				if x < w/2 {
					rows = append(rows, 0xff, 0, 0)
				} else {
					rows = append(rows, 0, 0, 0xff)
				}
			}
		}
	}
	return rawPNG(t, w, h, 8, 2, 1, rows)
}

// animatedGIF has the picture as its first frame, followed by another frame.
func animatedGIF(t testing.TB) []byte {
	first, second := image.NewPaletted(image.Rect(0, 0, 16, 8), palette.WebSafe), image.NewPaletted(image.Rect(4, 4, 8, 8), palette.WebSafe)
	halves(first, 16, 8)
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{first, second, second}, Delay: []int{5, 5, 5}}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func unbase64(t testing.TB, text string) []byte {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestFixtures checks that pictures from cameras, scanners, browsers and prepress software are
// accepted unchanged and look the same after compression.
//
// Proves X-152, IMG-01, IMG-02.
func TestFixtures(t *testing.T) {
	deep, grey, clear := image.NewRGBA64(image.Rect(0, 0, 16, 8)), image.NewGray16(image.Rect(0, 0, 16, 8)), image.NewNRGBA64(image.Rect(0, 0, 16, 8))
	halves(deep, 16, 8)
	halves(grey, 16, 8)
	halves(clear, 16, 8)
	clear.Set(0, 0, color.NRGBA64{R: 0xffff, A: 0x8000})
	indexed := image.NewPaletted(image.Rect(0, 0, 16, 8), palette.WebSafe)
	halves(indexed, 16, 8)
	red, blue := []byte{76, 85, 255}, []byte{29, 255, 107} // YCbCr
	stored := blockJPEG(red, blue, false)
	for _, tt := range []struct {
		name, media string
		data        []byte
		size        Size
		coloured    bool
	}{
		{"PNG with 16 bits", PNG, encoded(t, PNG, deep), Size{16, 8}, true},
		{"PNG with 16 bits and transparency", PNG, encoded(t, PNG, clear), Size{16, 8}, true},
		{"PNG in grey with 16 bits", PNG, encoded(t, PNG, grey), Size{16, 8}, false},
		{"PNG with a palette", PNG, encoded(t, PNG, indexed), Size{16, 8}, true},
		{"PNG, interlaced", PNG, interlacedPNG(t), Size{16, 8}, true},
		{"JPEG", JPEG, stored, Size{16, 8}, true},
		{"JPEG, progressive", JPEG, blockJPEG(red, blue, true), Size{16, 8}, true},
		{"JPEG in CMYK", JPEG, blockJPEG([]byte{255, 0, 0, 255}, []byte{0, 0, 255, 255}, false), Size{16, 8}, true},
		{"JPEG in grey", JPEG, blockJPEG([]byte{76}, []byte{29}, false), Size{16, 8}, false},
		{"JPEG of a camera that was turned", JPEG, withOrientation(stored, 6), Size{8, 16}, true},
		{"GIF, animated", GIF, animatedGIF(t), Size{16, 8}, true},
		{"WebP, lossy", WebP, unbase64(t, "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA"), Size{1, 1}, false},
		{"WebP, lossless", WebP, tinyWebP(t), Size{1, 1}, false},
		{"WebP, animated", WebP, animatedWebP(t, 30, 20), Size{30, 20}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			whole, err := Fit(t.Context(), tt.data, 0)
			if err != nil || whole.MediaType != tt.media || whole.Size != tt.size {
				t.Fatalf("%s %v, %v", whole.MediaType, whole.Size, err)
			}
			turned := whole.Size.Height > whole.Size.Width
			if !turned && !bytes.Equal(whole.Data, tt.data) {
				t.Error("it was written again for nothing")
			}
			img, err := decode(tt.media, tt.data)
			if err != nil {
				t.Fatal(err)
			}
			f := fitter{ctx: t.Context(), img: img, size: tt.size}
			small, err := f.encode(JPEG, f.scaled(tt.size), 90)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range []Picture{whole, small} {
				img, err := decode(p.MediaType, p.Data)
				if err != nil {
					t.Fatal(err)
				}
				b := img.Bounds()
				if b.Dx() != tt.size.Width || b.Dy() != tt.size.Height {
					t.Errorf("%s is %v", p.MediaType, b)
				}
				if !tt.coloured {
					continue
				}
				r, _, _, _ := img.At(2, 2).RGBA()
				_, _, blue, _ := img.At(b.Dx()-2, b.Dy()-2).RGBA()
				if r < 0xc000 || blue < 0xc000 {
					t.Errorf("%s: the corners are %v and %v", p.MediaType, img.At(2, 2), img.At(b.Dx()-2, b.Dy()-2))
				}
			}
			for n := range tt.data { // truncated anywhere, it is refused or decoded
				Fit(t.Context(), tt.data[:n], 1) // ok: it must not panic
			}
			for i := range tt.data { // likewise with corrupted bytes
				bent := bytes.Clone(tt.data)
				bent[i] ^= 0xff
				if _, size, err := Measure(bent); err == nil && size.pixels() < 1<<20 {
					Fit(t.Context(), bent, 1) // ok: as above
				}
			}
		})
	}
}

// TestBombsAreNotDecoded checks that a small file declaring a huge picture is refused before
// any of it is decoded.
//
// Proves X-152, IMG-02.
func TestBombsAreNotDecoded(t *testing.T) {
	rows := make([]byte, 1<<20)
	gigantic := blockJPEG([]byte{0}, []byte{0}, false)
	at := bytes.Index(gigantic, []byte{0xff, 0xc0})
	binary.BigEndian.PutUint16(gigantic[at+5:], 0xffff)
	binary.BigEndian.PutUint16(gigantic[at+7:], 0xffff)
	animation := animatedGIF(t)
	binary.LittleEndian.PutUint16(animation[6:], 0xffff)
	binary.LittleEndian.PutUint16(animation[8:], 0xffff)
	for name, bomb := range map[string]struct {
		data []byte
		most string
	}{
		"PNG":              {rawPNG(t, 20_000, 20_000, 8, 2, 0, rows), "100 million"},
		"PNG, one row":     {rawPNG(t, 1<<31-1, 1, 1, 0, 0, rows), "100 million"},
		"PNG with 16 bits": {rawPNG(t, 8_000, 8_000, 16, 6, 0, rows), "50 million"},
		"JPEG":             {gigantic, "100 million"},
		"GIF":              {animation, "100 million"},
		"WebP, animated":   {animatedWebP(t, 16_000, 16_000), "100 million"},
	} {
		if _, err := Fit(t.Context(), bomb.data, 0); err == nil || !strings.Contains(err.Error(), "more than "+bomb.most+" are not decoded") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A file with more data than its declared size is only read up to that size.
	if _, err := Fit(t.Context(), rawPNG(t, 8, 8, 8, 2, 0, make([]byte, 64<<20)), 1); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("more pixels than it says: %v", err)
	}
}

// TestOtherPicturesAreNamed checks that errors name the type of unsupported pictures.
//
// Proves X-152, IMG-01.
func TestOtherPicturesAreNamed(t *testing.T) {
	for data, want := range map[string]string{
		"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00": "a HEIC picture. Convert it first",
		"\x00\x00\x00\x1cftypavif\x00\x00\x00\x00": "an AVIF picture. Convert it first",
		"\x00\x00\x00\x1cftypisom\x00\x00\x00\x00": "something else",
		"II*\x00\x08\x00\x00\x00":                  "a TIFF picture",
		"<svg xmlns=''>":                           "an SVG picture",
	} {
		if _, err := Fit(t.Context(), []byte(data), 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", data, err)
		}
	}
}
