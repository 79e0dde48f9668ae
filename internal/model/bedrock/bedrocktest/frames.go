package bedrocktest

import (
	"encoding/binary"
	"hash/crc32"
)

// Sizes of the parts of a message.
const (
	preludeSize = 12
	crcSize     = 4
)

// stringType is the type of a string header.
const stringType = 7

// AppendFrame appends a message with a payload and headers given as name-value pairs.
func AppendFrame(dst []byte, payload []byte, headers ...string) []byte {
	start := len(dst)
	dst = append(dst, make([]byte, preludeSize)...)
	for i := 0; i < len(headers); i += 2 {
		name, value := headers[i], headers[i+1]
		dst = append(append(dst, byte(len(name))), name...)
		dst = append(dst, stringType)
		dst = append(binary.BigEndian.AppendUint16(dst, uint16(len(value))), value...)
	}
	inHeaders := len(dst) - start - preludeSize
	dst = append(dst, payload...)
	frame := dst[start:]
	binary.BigEndian.PutUint32(frame, uint32(len(frame)+crcSize))
	binary.BigEndian.PutUint32(frame[4:], uint32(inHeaders))
	binary.BigEndian.PutUint32(frame[8:], crc32.ChecksumIEEE(frame[:8]))
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(frame))
}
