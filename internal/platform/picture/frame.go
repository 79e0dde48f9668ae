package picture

import "encoding/binary"

// webpFrame returns the larger of the size a WebP file declares and those of the frames in it: the
// decoder allocates what a frame says.
func webpFrame(data []byte, width, height int) (int, int) {
	for rest := data[12:]; len(rest) >= 8; {
		kind, size := string(rest[:4]), int(binary.LittleEndian.Uint32(rest[4:]))
		body := rest[8:]
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
		size += size & 1
		if size > len(body) {
			break
		}
		rest = body[size:]
	}
	return width, height
}
