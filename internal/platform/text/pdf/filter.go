package pdf

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"encoding/ascii85"
	"fmt"
	"io"
)

// Limits for decompressed data: per stream and per document.
const (
	maxStream  = 16 << 20
	maxDecoded = 256 << 20
)

// decode decodes the filters of s. Damaged data is truncated: the part before the damage is
// returned.
func (d *directory) decode(s *stream) ([]byte, error) {
	data, rest, err := d.undo(s)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("a stream is packed with %s", rest[0])
	}
	return data, err
}

// undo decodes the filters of s up to the first image filter. It returns the remaining filters.
func (d *directory) undo(s *stream) (data []byte, rest []name, err error) {
	filters, params := d.list(s.dict["Filter"]), d.list(s.dict["DecodeParms"])
	data = s.raw
	for i, f := range filters {
		if i >= 8 {
			return nil, nil, fmt.Errorf("a stream has %d filters", len(filters))
		}
		kind, _ := d.resolve(f).(name)
		parm := dict{}
		if i < len(params) {
			parm = d.dict(params[i])
		}
		switch kind {
		case "FlateDecode", "Fl":
			data = d.predict(inflate(data), parm)
		case "LZWDecode", "LZW":
			data = d.predict(unLZW(data, d.int(parm["EarlyChange"], 1)), parm)
		case "ASCII85Decode", "A85":
			data = unASCII85(data)
		case "ASCIIHexDecode", "AHx":
			data = []byte((&lexer{data: append([]byte("<"), data...)}).hex())
		case "RunLengthDecode", "RL":
			data = unRunLength(data)
		default:
			for _, f := range filters[i:] {
				n, _ := d.resolve(f).(name)
				rest = append(rest, n)
			}
			return data, rest, nil
		}
		if d.decoded += len(data); d.decoded > maxDecoded {
			return nil, nil, fmt.Errorf("the document unpacks to more than %d MB", maxDecoded>>20)
		}
	}
	return data, nil, nil
}

func inflate(data []byte) []byte {
	var src io.Reader
	src, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		src = flate.NewReader(bytes.NewReader(data))
	}
	out, _ := io.ReadAll(io.LimitReader(src, maxStream)) // ok: data before the damage is used
	return out
}

func unASCII85(data []byte) []byte {
	data = bytes.TrimPrefix(bytes.TrimSpace(data), []byte("<~"))
	if end := bytes.IndexByte(data, '~'); end >= 0 {
		data = data[:end]
	}
	out, _ := io.ReadAll(io.LimitReader(ascii85.NewDecoder(bytes.NewReader(data)), maxStream)) // ok: as above
	return out
}

func unRunLength(data []byte) []byte {
	var out []byte
	for len(data) > 1 && len(out) < maxStream && data[0] != 128 {
		n := int(data[0])
		if n < 128 {
			n = min(n+1, len(data)-1)
			out = append(out, data[1:1+n]...)
			data = data[1+n:]
			continue
		}
		out = append(out, bytes.Repeat(data[1:2], 257-n)...)
		data = data[2:]
	}
	return out
}

// unLZW decodes PDF's variant of LZW, in which the code length grows one code early unless
// early is 0.
func unLZW(data []byte, early int) []byte {
	type entry struct {
		prefix int
		last   byte
		size   int
	}
	const clear, eod = 256, 257
	table := make([]entry, 258, 4096)
	for i := range 256 {
		table[i] = entry{-1, byte(i), 1}
	}
	var out []byte
	bits, n, width, prev := 0, 0, 9, -1
	for _, c := range data {
		bits, n = bits<<8|int(c), n+8
		if n < width {
			continue
		}
		n -= width
		code := bits >> n & (1<<width - 1)
		switch {
		case code == eod || len(out) > maxStream:
			return out
		case code == clear:
			table, width, prev = table[:258], 9, -1
			continue
		case code > len(table) || code == len(table) && prev < 0:
			return out
		}
		from := code
		if code == len(table) {
			from = prev
		}
		start := len(out)
		out = append(out, make([]byte, table[from].size)...)
		for at, i := from, len(out)-1; at >= 0; at, i = table[at].prefix, i-1 {
			out[i] = table[at].last
		}
		if code == len(table) {
			out = append(out, out[start])
		}
		if prev >= 0 && len(table) < 4096 {
			table = append(table, entry{prev, out[start], table[prev].size + 1})
		}
		if len(table)+early >= 1<<width && width < 12 {
			width++
		}
		prev = code
	}
	return out
}

// predict reverses the predictor that was applied before compression.
func (d *directory) predict(data []byte, parm dict) []byte {
	predictor := d.int(parm["Predictor"], 1)
	if predictor < 2 {
		return data
	}
	colors, depth, columns := d.int(parm["Colors"], 1), d.int(parm["BitsPerComponent"], 8), d.int(parm["Columns"], 1)
	if colors < 1 || colors > 32 || depth < 1 || depth > 16 || columns < 1 || columns > 1<<16 {
		return nil
	}
	pixel := max(1, colors*depth/8)
	row := (colors*depth*columns + 7) / 8
	if predictor == 2 {
		for start := 0; depth == 8 && start+row <= len(data); start += row {
			for i := start + pixel; i < start+row; i++ {
				data[i] += data[i-pixel]
			}
		}
		return data
	}
	out := make([]byte, 0, len(data))
	line, above := make([]byte, row), make([]byte, row)
	for len(data) > 1 {
		kind := data[0]
		n := copy(line, data[1:])
		clear(line[n:])
		data = data[1+n:]
		unfilter(kind, line, above, pixel)
		out = append(out, line[:n]...)
		line, above = above, line
	}
	return out
}

// unfilter reverses a PNG row filter in place.
func unfilter(kind byte, line, above []byte, pixel int) {
	for i := range line {
		var left, corner byte
		if i >= pixel {
			left, corner = line[i-pixel], above[i-pixel]
		}
		switch kind {
		case 1:
			line[i] += left
		case 2:
			line[i] += above[i]
		case 3:
			line[i] += byte((int(left) + int(above[i])) / 2)
		case 4:
			line[i] += paeth(int(left), int(above[i]), int(corner))
		}
	}
}

func paeth(a, b, c int) byte {
	pa, pb, pc := abs(b-c), abs(a-c), abs(a+b-2*c)
	switch {
	case pa <= pb && pa <= pc:
		return byte(a)
	case pb <= pc:
		return byte(b)
	}
	return byte(c)
}

func abs(n int) int { return max(n, -n) }
