package picture

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// noise is a picture that hardly compresses.
func noise(w, h int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	r := rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		img.Pix[i] = byte(r.Uint32())
	}
	for i := 3; i < len(img.Pix); i += 4 {
		img.Pix[i] = 0xff
	}
	return img
}

// plain is a picture that compresses well.
func plain(w, h int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = 0xff
	}
	return img
}

func encoded(t testing.TB, mediaType string, img image.Image) []byte {
	t.Helper()
	var buf bytes.Buffer
	var err error
	switch mediaType {
	case PNG:
		err = png.Encode(&buf, img)
	case JPEG:
		err = jpeg.Encode(&buf, img, nil)
	case GIF:
		err = gif.Encode(&buf, img, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// tinyWebP is a lossless WebP with one pixel.
func tinyWebP(t testing.TB) []byte {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestSniff(t *testing.T) {
	for want, data := range map[string][]byte{
		PNG: encoded(t, PNG, plain(1, 1)), JPEG: encoded(t, JPEG, plain(1, 1)), GIF: encoded(t, GIF, plain(1, 1)), WebP: tinyWebP(t), "": []byte("RIFF0000WAVE"),
	} {
		if got := Sniff(data); got != want {
			t.Errorf("Sniff(%.12q) = %q, want %q", data, got, want)
		}
	}
}

// Proves IMG-01.
func TestFormats(t *testing.T) {
	for mediaType, data := range map[string][]byte{
		PNG: encoded(t, PNG, plain(30, 20)), JPEG: encoded(t, JPEG, plain(30, 20)), GIF: encoded(t, GIF, plain(30, 20)), WebP: tinyWebP(t),
	} {
		got, err := Fit(t.Context(), data, 1000)
		size := Size{30, 20}
		if mediaType == WebP {
			size = Size{1, 1}
		}
		if diff := cmp.Diff(Picture{MediaType: mediaType, Data: data, Size: size, Original: size}, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", mediaType, err, diff)
		}
	}
	whole := encoded(t, PNG, noise(50, 50))
	for in, want := range map[string]string{
		"":                                     "the picture is empty: it has 0 bytes",
		"%PDF-1.7":                             "this is not a PNG, JPEG, GIF or WebP picture: it looks like a PDF document",
		"BM\x00\x00":                           "it looks like a BMP picture",
		"hello, world":                         "it looks like text",
		"\x00\x01\x02\x03":                     "it looks like something else",
		string(whole[:len(whole)/2]):           "the PNG picture is damaged and cannot be decoded: png: invalid format: not enough pixel data",
		"\xff\xd8\xff\xe0":                     "the JPEG picture is damaged",
		"GIF89a":                               "the GIF picture is damaged",
		"RIFF\x04\x00\x00\x00WEBP":             "the WebP picture is damaged",
		"GIF89a\x00\x00\x00\x00\x00\x00\x00;;": "the GIF picture is damaged and cannot be decoded: its size is 0x0",
	} {
		if _, err := Fit(t.Context(), []byte(in), 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Fit(%.20q) = %v, want %s", in, err, want)
		}
	}
}

// Proves IMG-02.
func TestSteps(t *testing.T) {
	tenth := bounds{side: 200, bytes: 37_500, last: 40} // noise is slow at full size
	rough := encoded(t, PNG, noise(120, 90))
	last := fitter{ctx: t.Context(), img: noise(120, 90), size: Size{120, 90}}
	smallest, err := last.encode(JPEG, last.scaled(Size{40, 30}), lastQuality)
	if err != nil {
		t.Fatal(err)
	}
	barely := Tokens(len(smallest.Data))
	tests := []struct {
		name      string
		data      []byte
		bounds    bounds
		tokens    int
		mediaType string
		size      Size
	}{
		{"untouched", encoded(t, PNG, plain(2000, 100)), standard(0), 25_000, PNG, Size{2000, 100}},
		{"too wide", encoded(t, PNG, plain(4000, 100)), standard(0), 25_000, PNG, Size{2000, 50}},
		{"too high", encoded(t, JPEG, plain(100, 2500)), standard(0), 25_000, JPEG, Size{80, 2000}},
		{"too wide, unwritable format", encoded(t, GIF, plain(2400, 120)), standard(0), 25_000, PNG, Size{2000, 100}},
		{"too many bytes", encoded(t, PNG, noise(120, 110)), tenth, 0, JPEG, Size{120, 110}},
		{"compressed", encoded(t, PNG, noise(30, 20)), tenth, 180, JPEG, Size{30, 20}},
		{"compressed and scaled", rough, tenth, 300, JPEG, Size{84, 63}},
		{"last resort", rough, tenth, barely, JPEG, Size{40, 30}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.bounds.tokens = tt.tokens
			got, err := fit(t.Context(), tt.data, tt.bounds)
			if err != nil {
				t.Fatal(err)
			}
			_, original, err := Measure(tt.data)
			if err != nil {
				t.Fatal(err)
			}
			type facts struct {
				MediaType      string
				Size, Original Size
			}
			want := facts{tt.mediaType, tt.size, original}
			if diff := cmp.Diff(want, facts{got.MediaType, got.Size, got.Original}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if kind, size, err := Measure(got.Data); err != nil || kind != got.MediaType || size != got.Size {
				t.Errorf("the data is %s %v, %v", kind, size, err)
			}
			if n := Tokens(len(got.Data)); tt.tokens > 0 && n > tt.tokens || len(got.Data) > tt.bounds.bytes {
				t.Errorf("%d bytes, %d tokens of %d", len(got.Data), n, tt.tokens)
			}
		})
	}
	tenth.tokens = barely - 1
	_, err = fit(t.Context(), rough, tenth)
	if err == nil || !strings.Contains(err.Error(), "120x90 pixels") || !strings.Contains(err.Error(), "still too large at 40x30 pixels") {
		t.Errorf("beyond the last resort: %v", err)
	}
	if diff := cmp.Diff(bounds{side: 2000, bytes: 3_750_000, last: 400, tokens: 7}, standard(7), cmp.AllowUnexported(bounds{})); diff != "" {
		t.Errorf("the standard (-want +got):\n%s", diff)
	}
	if Tokens(0) != 0 || Tokens(6) != 1 || Tokens(7) != 2 || Tokens(150_000) != 25_000 {
		t.Error("tokens are not an eighth of base64")
	}
}

// Proves IMG-02.
func TestBombs(t *testing.T) {
	bomb := encoded(t, PNG, plain(1, 1))
	binary.BigEndian.PutUint32(bomb[16:], 10_001)
	binary.BigEndian.PutUint32(bomb[20:], 10_001)
	binary.BigEndian.PutUint32(bomb[29:], pngSum(bomb[12:29]))
	giant := tinyWebP(t)
	binary.LittleEndian.PutUint32(giant[21:], 0x3fff|0x3fff<<14)
	for name, data := range map[string][]byte{"PNG": bomb, "WebP": giant} {
		if _, err := Fit(t.Context(), data, 0); err == nil || !strings.Contains(err.Error(), "more than 100 million are not decoded") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// animatedWebP returns an animation of the given size with a one-pixel frame at 2, 4.
func animatedWebP(t testing.TB, width, height int) []byte {
	chunk := func(kind string, body []byte) string {
		head := binary.LittleEndian.AppendUint32([]byte(kind), uint32(len(body)))
		return string(append(append(head, body...), make([]byte, len(body)%2)...))
	}
	size := func(n int) string { return string([]byte{byte(n - 1), byte((n - 1) >> 8), byte((n - 1) >> 16)}) }
	frame := "\x01\x00\x00" + "\x02\x00\x00" + size(1) + size(1) + "\x64\x00\x00" + "\x00" + string(tinyWebP(t)[12:])
	body := "WEBP" + chunk("VP8X", []byte("\x02\x00\x00\x00"+size(width)+size(height))) + chunk("ANIM", make([]byte, 6)) + chunk("ANMF", []byte(frame)) + chunk("ANMF", []byte(frame))
	return []byte(chunk("RIFF", []byte(body)))
}

// TestAnimatedWebP checks that an animated WebP is handled like an animated GIF.
func TestAnimatedWebP(t *testing.T) {
	data := animatedWebP(t, 30, 20)
	p, err := Fit(t.Context(), data, 0)
	if err != nil || p.MediaType != WebP || !bytes.Equal(p.Data, data) || p.Original != (Size{30, 20}) {
		t.Errorf("%v, %s, %d bytes, %v", err, p.MediaType, len(p.Data), p.Original)
	}
	img, err := decode(WebP, data)
	if err != nil || img.Bounds() != image.Rect(0, 0, 30, 20) {
		t.Fatal(err)
	}
	still, err := decode(WebP, tinyWebP(t))
	if err != nil || color.NRGBAModel.Convert(img.At(2, 4)) != color.NRGBAModel.Convert(still.At(0, 0)) {
		t.Errorf("%v, the pixel is %v, want %v", err, img.At(2, 4), still.At(0, 0))
	}
	if p, err = Fit(t.Context(), animatedWebP(t, 2400, 24), 0); err != nil || p.Size != (Size{2000, 20}) {
		t.Errorf("a large one: %v, %v", p.Size, err)
	}
	if _, _, err := Measure(animatedWebP(t, 16000, 16000)); err == nil {
		t.Error("a giant one was accepted")
	}
	for n := range data { // truncated anywhere, it is refused or decoded
		Fit(t.Context(), data[:n], 0) // ok: it must not panic
	}
	alpha := frameFile([]byte("\x00\x00\x00\x00\x00\x00"), []byte("ALPH\x01\x00\x00\x00\x00\x00VP8 \x02\x00\x00\x00ab"))
	if want := "RIFF\x2a\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x10\x00\x00\x00\x00\x00\x00\x00\x00\x00ALPH\x01\x00\x00\x00\x00\x00VP8 \x02\x00\x00\x00ab"; string(alpha) != want {
		t.Errorf("with transparency: %q", alpha)
	}
}

// TestWebPFrameInCanvas checks a WebP file that declares a small canvas around a huge frame.
func TestWebPFrameInCanvas(t *testing.T) {
	frame := tinyWebP(t)[12:]
	binary.LittleEndian.PutUint32(frame[9:], 0x3fff|0x3fff<<14)
	canvas := "VP8X\x0a\x00\x00\x00" + strings.Repeat("\x00", 10)
	if w, h := webpFrame([]byte("RIFF0000WEBP"+canvas+string(frame)), 1, 1); w != 1<<14 || h != 1<<14 {
		t.Errorf("the frame is %dx%d", w, h)
	}
}

func pngSum(chunk []byte) uint32 {
	var sum uint32 = 0xffffffff
	for _, b := range chunk {
		sum ^= uint32(b)
		for range 8 {
			sum = sum>>1 ^ 0xedb88320*(sum&1)
		}
	}
	return ^sum
}

func TestTransparencyBecomesWhite(t *testing.T) {
	img := noise(90, 60)
	for i := 3; i < 4*90*20; i += 4 {
		img.Pix[i] = 0
	}
	got, err := Fit(t.Context(), encoded(t, PNG, img), 800)
	if err != nil || got.MediaType != JPEG {
		t.Fatal(got.MediaType, err)
	}
	small, err := decode(got.MediaType, got.Data)
	if err != nil {
		t.Fatal(err)
	}
	if r, g, b, _ := small.At(5, 5).RGBA(); min(r, g, b) < 0xf000 {
		t.Errorf("transparent pixels became %x %x %x", r, g, b)
	}
}

// withOrientation adds an Exif block to a JPEG.
func withOrientation(data []byte, o byte) []byte {
	exif := "Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00" + string(rune(o)) + "\x00\x00\x00\x00\x00\x00"
	return []byte("\xff\xd8\xff\xe1\x00" + string(rune(len(exif)+2)) + exif + string(data[2:]))
}

func TestOrientation(t *testing.T) {
	// As stored: red on the left, blue on the right.
	img := plain(64, 32)
	for x := range 64 {
		for y := range 32 {
			c := color.RGBA{R: 0xff, A: 0xff}
			if x >= 32 {
				c = color.RGBA{B: 0xff, A: 0xff}
			}
			img.Set(x, y, c)
		}
	}
	stored := encoded(t, JPEG, img)
	tests := []struct {
		o    byte
		size Size
		red  image.Point // a point that must be red
	}{
		{1, Size{64, 32}, image.Pt(4, 4)}, {2, Size{64, 32}, image.Pt(60, 4)}, {3, Size{64, 32}, image.Pt(60, 28)}, {4, Size{64, 32}, image.Pt(4, 28)},
		{5, Size{32, 64}, image.Pt(4, 4)}, {6, Size{32, 64}, image.Pt(28, 4)}, {7, Size{32, 64}, image.Pt(28, 60)}, {8, Size{32, 64}, image.Pt(4, 60)},
	}
	for _, tt := range tests {
		got, err := Fit(t.Context(), withOrientation(stored, tt.o), 0)
		if err != nil {
			t.Fatal(err)
		}
		if got.Size != tt.size || got.Scaled() {
			t.Errorf("orientation %d: %v of %v, want %v", tt.o, got.Size, got.Original, tt.size)
		}
		back, err := jpeg.Decode(bytes.NewReader(got.Data))
		if err != nil {
			t.Fatal(err)
		}
		if r, _, b, _ := back.At(tt.red.X, tt.red.Y).RGBA(); r < 0xc000 || b > 0x4000 {
			t.Errorf("orientation %d: %v is not red", tt.o, tt.red)
		}
		if other := back.At(tt.size.Width-1-tt.red.X, tt.size.Height-1-tt.red.Y); func() bool { r, _, _, _ := other.RGBA(); return r > 0x4000 }() {
			t.Errorf("orientation %d: the opposite corner is red too", tt.o)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Fit(ctx, encoded(t, PNG, plain(9, 9)), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func FuzzFit(f *testing.F) {
	for _, kind := range []string{PNG, JPEG, GIF} {
		f.Add(encoded(f, kind, noise(9, 7)), 50)
	}
	f.Add(tinyWebP(f), 0)
	f.Add(withOrientation(encoded(f, JPEG, noise(9, 7)), 6), 50)
	f.Fuzz(func(t *testing.T, data []byte, maxTokens int) {
		if _, size, err := Measure(data); err != nil || size.pixels() > 1_000_000 {
			return // large pictures add nothing but time
		}
		p, err := Fit(t.Context(), data, max(maxTokens, 0))
		if err != nil {
			return
		}
		if kind, size, err := Measure(p.Data); err != nil || kind != p.MediaType || size != p.Size {
			t.Errorf("a %s of %v was returned as %s of %v, %v", kind, size, p.MediaType, p.Size, err)
		}
	})
}

func BenchmarkFit(b *testing.B) {
	data := encoded(b, JPEG, noise(4000, 3000)) // noise is the worst case
	for b.Loop() {
		if _, err := Fit(b.Context(), data, 25_000); err != nil {
			b.Fatal(err)
		}
	}
}
