package pdf

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5"
	"crypto/rc4"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
)

// Many documents are encrypted with an owner password only: anyone can open them, but they
// request restrictions, such as no printing. Their key is derived from the document and an
// empty user password.

// A decrypter decrypts a document's objects.
type decrypter struct {
	key        []byte
	self       int // number of the unencrypted object that describes the encryption, or 0
	strs, data method
	metadata   bool // metadata is encrypted, too
}

// A method is an encryption method.
type method uint8

const (
	none     method = iota
	byRC4           // one key per object
	byAES           // one key per object
	byAES256        // a single key
)

// unlock sets up decryption. It reports false if the document needs a password or uses an
// unknown encryption method.
func (d *directory) unlock() bool {
	e := d.dict(d.trailer["Encrypt"])
	if e == nil || d.resolve(e["Filter"]) != name("Standard") {
		return false
	}
	l := &decrypter{metadata: true}
	if r, ok := d.trailer["Encrypt"].(ref); ok {
		l.self = r.num
	}
	if flag, ok := d.resolve(e["EncryptMetadata"]).(bool); ok {
		l.metadata = flag
	}
	v, r := d.int(e["V"], 0), d.int(e["R"], 0)
	switch v {
	case 1, 2:
		l.strs, l.data = byRC4, byRC4
	case 4, 5:
		l.strs, l.data = d.method(e, "StrF"), d.method(e, "StmF")
	default:
		return false
	}
	switch {
	case v < 5 && r >= 2 && r <= 4:
		l.key = d.userKey(e, v, r, l.metadata)
	case v == 5 && (r == 5 || r == 6):
		l.key = d.userKey256(e, r)
	}
	if l.key == nil {
		return false
	}
	d.cache, d.inner = map[int]object{}, map[int][]packedObject{} // objects cached so far are not decrypted
	d.lock = l
	return true
}

// method returns the encryption method that an entry names.
func (d *directory) method(e dict, entry name) method {
	filter, _ := d.resolve(e[entry]).(name)
	switch d.resolve(d.dict(d.dict(e["CF"])[filter])["CFM"]) {
	case name("V2"):
		return byRC4
	case name("AESV2"):
		return byAES
	case name("AESV3"):
		return byAES256
	}
	return none
}

// padding fills up short passwords.
const padding = "\x28\xBF\x4E\x5E\x4E\x75\x8A\x41\x64\x00\x4E\x56\xFF\xFA\x01\x08\x2E\x2E\x00\xB6\xD0\x68\x3E\x80\x2F\x0C\xA9\xFE\x64\x53\x69\x7A"

// userKey returns the key for an empty user password, or nil if that is not the password.
func (d *directory) userKey(e dict, v, r int, metadata bool) []byte {
	owner, _ := d.resolve(e["O"]).(str)
	user, _ := d.resolve(e["U"]).(str)
	var id str
	if ids := d.list(d.trailer["ID"]); len(ids) > 0 {
		id, _ = d.resolve(ids[0]).(str)
	}
	n := d.int(e["Length"], 40) / 8
	if v == 1 || r == 2 {
		n = 5
	}
	if v == 4 {
		n = 16
	}
	if len(owner) < 32 || len(user) < 16 || n < 5 || n > 16 {
		return nil
	}
	h := md5.New()
	h.Write([]byte(padding))
	h.Write([]byte(owner[:32]))
	h.Write(binary.LittleEndian.AppendUint32(nil, uint32(d.int(e["P"], 0))))
	h.Write([]byte(id))
	if r >= 4 && !metadata {
		h.Write([]byte("\xff\xff\xff\xff"))
	}
	key := h.Sum(nil)
	if r >= 3 {
		for range 50 {
			sum := md5.Sum(key[:n])
			key = sum[:]
		}
	}
	key = key[:n]
	want := []byte(padding)
	if r == 2 {
		want = rc4With(key, want)
	} else {
		sum := md5.Sum([]byte(padding + string(id)))
		want = sum[:]
		for i := range 20 {
			round := make([]byte, n)
			for j := range key {
				round[j] = key[j] ^ byte(i)
			}
			want = rc4With(round, want)
		}
	}
	if !bytes.Equal(want[:16], []byte(user[:16])) {
		return nil
	}
	return key
}

// userKey256 is userKey for documents with 256-bit keys.
func (d *directory) userKey256(e dict, r int) []byte {
	user, _ := d.resolve(e["U"]).(str)
	wrapped, _ := d.resolve(e["UE"]).(str)
	if len(user) < 48 || len(wrapped) < 32 {
		return nil
	}
	hash := hash5
	if r == 6 {
		hash = hash6
	}
	if !bytes.Equal(hash([]byte(user[32:40])), []byte(user[:32])) {
		return nil
	}
	block, err := aes.NewCipher(hash([]byte(user[40:48])))
	if err != nil {
		return nil
	}
	key := make([]byte, 32)
	cipher.NewCBCDecrypter(block, make([]byte, aes.BlockSize)).CryptBlocks(key, []byte(wrapped[:32]))
	return key
}

// hash5 hashes an empty password as in revision 5.
func hash5(salt []byte) []byte {
	sum := sha256.Sum256(salt)
	return sum[:]
}

// hash6 hashes an empty password as in revision 6, which is slow by design.
func hash6(salt []byte) []byte {
	k := hash5(salt)
	last := byte(0)
	for i := 0; i < 64 || int(last) > i-32; i++ {
		block, err := aes.NewCipher(k[:16])
		if err != nil {
			return nil
		}
		e := bytes.Repeat(k, 64)
		cipher.NewCBCEncrypter(block, k[16:32]).CryptBlocks(e, e)
		sum := 0
		for _, b := range e[:16] {
			sum += int(b)
		}
		switch sum % 3 {
		case 0:
			k = hash5(e)
		case 1:
			s := sha512.Sum384(e)
			k = s[:]
		case 2:
			s := sha512.Sum512(e)
			k = s[:]
		}
		last = e[len(e)-1]
	}
	return k[:32]
}

// open decrypts the object with the given number and generation.
func (l *decrypter) open(num, gen int, o object) object {
	if l == nil || num == l.self {
		return o
	}
	s, ok := o.(*stream)
	if !ok {
		return l.strings(num, gen, o, 0)
	}
	if s.dict["Type"] == name("XRef") || s.dict["Type"] == name("Metadata") && !l.metadata {
		return o
	}
	inside, _ := l.strings(num, gen, s.dict, 0).(dict)
	return &stream{inside, l.bytes(l.data, num, gen, s.raw)}
}

// strings decrypts the strings in an object.
func (l *decrypter) strings(num, gen int, o object, depth int) object {
	if depth > maxDepth {
		return nil
	}
	switch o := o.(type) {
	case str:
		return str(l.bytes(l.strs, num, gen, []byte(o)))
	case array:
		for i := range o {
			o[i] = l.strings(num, gen, o[i], depth+1)
		}
	case dict:
		for key, value := range o {
			o[key] = l.strings(num, gen, value, depth+1)
		}
	}
	return o
}

// bytes decrypts a string or a stream's content. It returns an empty result if decryption
// fails.
func (l *decrypter) bytes(how method, num, gen int, data []byte) []byte {
	key := l.key
	switch how {
	case none:
		return data
	case byRC4, byAES:
		salted := append(bytes.Clone(l.key), byte(num), byte(num>>8), byte(num>>16), byte(gen), byte(gen>>8))
		if how == byAES {
			salted = append(salted, "sAlT"...)
		}
		sum := md5.Sum(salted)
		key = sum[:min(len(l.key)+5, 16)]
	}
	if how == byRC4 {
		return rc4With(key, data)
	}
	block, err := aes.NewCipher(key)
	if whole := len(data) / aes.BlockSize * aes.BlockSize; err != nil || whole < 2*aes.BlockSize {
		return nil
	} else {
		data = data[:whole]
	}
	out := make([]byte, len(data)-aes.BlockSize)
	cipher.NewCBCDecrypter(block, data[:aes.BlockSize]).CryptBlocks(out, data[aes.BlockSize:])
	if pad := int(out[len(out)-1]); pad >= 1 && pad <= aes.BlockSize {
		out = out[:len(out)-pad]
	}
	return out
}

func rc4With(key, data []byte) []byte {
	c, err := rc4.NewCipher(key)
	if err != nil {
		return nil
	}
	out := make([]byte, len(data))
	c.XORKeyStream(out, data)
	return out
}
