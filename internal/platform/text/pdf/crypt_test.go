package pdf

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// An encryption is a kind of encryption with an empty user password.
type encryption struct {
	v, r, bits int
	how        method
}

const (
	ownerEntry = "0123456789abcdef0123456789ABCDEF"
	documentID = "an id of sixteen"
	rights     = -1084
)

// key computes a document's key step by step, and the entry that verifies it.
func (e encryption) key() (key, user []byte) {
	n := e.bits / 8
	sum := md5.Sum(bytes.Join([][]byte{[]byte(padding), []byte(ownerEntry), binary.LittleEndian.AppendUint32(nil, uint32(int64(rights)&0xffffffff)), []byte(documentID)}, nil))
	if e.r == 2 {
		return sum[:n], rc4With(sum[:n], []byte(padding))
	}
	for range 50 {
		sum = md5.Sum(sum[:n])
	}
	key = bytes.Clone(sum[:n])
	proof := md5.Sum([]byte(padding + documentID))
	user = proof[:]
	for i := range 20 {
		var round []byte
		for _, b := range key {
			round = append(round, b^byte(i))
		}
		user = rc4With(round, user)
	}
	return key, append(user, make([]byte, 16)...)
}

func sealed(key, data []byte) []byte {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	pad := aes.BlockSize - len(data)%aes.BlockSize
	data = append(bytes.Clone(data), bytes.Repeat([]byte{byte(pad)}, pad)...)
	iv := []byte("sixteen bytes iv")
	out := make([]byte, len(data))
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(out, data)
	return append(iv, out...)
}

// encrypt encrypts an object's content.
func (e encryption) encrypt(key []byte, num int, data []byte) []byte {
	if e.how == byAES256 {
		return sealed(key, data)
	}
	salted := append(bytes.Clone(key), byte(num), byte(num>>8), 0, 0, 0)
	if e.how == byAES {
		salted = append(salted, "sAlT"...)
	}
	sum := md5.Sum(salted)
	own := sum[:min(len(key)+5, 16)]
	if e.how == byAES {
		return sealed(own, data)
	}
	return rc4With(own, data)
}

// document returns an encrypted document with two pages.
func (e encryption) document() []byte {
	var key []byte
	entry := fmt.Sprintf("/Filter/Standard/V %d/R %d/Length %d/P %d/O<%x>", e.v, e.r, e.bits, rights, ownerEntry)
	if e.v < 5 {
		own, user := e.key()
		key = own
		entry += fmt.Sprintf("/U<%x>", user)
	} else {
		key = []byte(strings.Repeat("a key of 32 byte", 2))
		hash := hash5
		if e.r == 6 {
			hash = hash6
		}
		block, err := aes.NewCipher(hash([]byte("key salt")))
		if err != nil {
			panic(err)
		}
		wrapped := make([]byte, 32)
		cipher.NewCBCEncrypter(block, make([]byte, 16)).CryptBlocks(wrapped, key)
		entry += fmt.Sprintf("/U<%x>/UE<%x>", string(hash([]byte("val salt")))+"val salt"+"key salt", wrapped)
	}
	if e.v >= 4 {
		cfm := map[method]string{byRC4: "V2", byAES: "AESV2", byAES256: "AESV3"}[e.how]
		entry += "/CF<</StdCF<</CFM/" + cfm + ">>>>/StmF/StdCF/StrF/StdCF"
	}
	objects := documentObjects([]string{"first page", "second page"})
	for i, o := range objects {
		head, rest, ok := strings.Cut(o, " /Length ")
		if _, content, found := strings.Cut(rest, ">>\nstream\n"); ok && found {
			content = strings.TrimSuffix(content, "\nendstream")
			objects[i] = streamOf(strings.TrimPrefix(head, "<<"), string(e.encrypt(key, i+1, []byte(content))))
		}
	}
	objects = append(objects, "<<"+entry+">>")
	return file(fmt.Sprintf("/Encrypt %d 0 R/ID[<%x><%x>]", len(objects), documentID, documentID), objects...)
}

// TestOwnerPassword checks that documents with only an owner password can be read.
//
// Proves PDF-02.
func TestOwnerPassword(t *testing.T) {
	for name, e := range map[string]encryption{
		"40 bits": {1, 2, 40, byRC4}, "128 bits": {2, 3, 128, byRC4}, "filters": {4, 4, 128, byRC4},
		"AES": {4, 4, 128, byAES}, "AES 256": {5, 5, 256, byAES256}, "AES 256, revision 6": {5, 6, 256, byAES256},
	} {
		data := e.document()
		for damage, data := range map[string][]byte{"": data, ", table lost": bytes.Replace(data, []byte("startxref"), []byte("startxxxx"), 1)} {
			d, err := Open(t.Context(), data)
			if err != nil {
				t.Errorf("%s%s: %v", name, damage, err)
				continue
			}
			if text, err := d.Text(t.Context(), 2); err != nil || text != "second page" || d.Pages() != 2 || d.Sound() {
				t.Errorf("%s%s: %q, %v", name, damage, text, err)
			}
			again := plainCopy(t, d)
			if text, err := again.Text(t.Context(), 1); err != nil || text != "first page" || !again.Sound() {
				t.Errorf("%s%s, written again: %q, %v", name, damage, text, err)
			}
		}
		// If there is also a user password, the entry that verifies the key does not match.
		if _, err := Open(t.Context(), bytes.Replace(data, []byte("/U<"), []byte("/U<00"), 1)); !errors.Is(err, ErrEncrypted) {
			t.Errorf("%s, with a password: %v", name, err)
		}
	}
	l := &decrypter{key: []byte("0123456789abcdef"), strs: byAES, data: byAES, self: 9}
	e := encryption{how: byAES}
	secret := str(e.encrypt(l.key, 7, []byte("a title")))
	got := l.open(7, 0, dict{"Title": secret, "List": array{secret, 1}}).(dict)
	if got["Title"] != str("a title") || got["List"].(array)[0] != str("a title") || l.open(9, 0, secret) != secret {
		t.Errorf("strings are %v", got)
	}
	if s := l.open(7, 0, &stream{dict{"Type": name("XRef")}, []byte("x")}).(*stream); string(s.raw) != "x" {
		t.Error("a table was decrypted")
	}
	for n := range 40 { // truncated data is empty or shorter
		l.bytes(byAES, 1, 0, make([]byte, n))
	}
}

// plainCopy extracts all pages into a new document.
func plainCopy(t *testing.T, d *Document) *Document {
	t.Helper()
	data, err := d.Extract(context.Background(), 1, d.Pages())
	if err != nil {
		t.Fatal(err)
	}
	again, err := Open(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// TestSound checks that a document is only sound if readers need not repair it.
func TestSound(t *testing.T) {
	whole := document("a", "b")
	for name, tt := range map[string]struct {
		data []byte
		want bool
	}{
		"sound":           {whole, true},
		"bytes before it": {append([]byte("HTTP/1.1 200 OK\r\n\r\n"), whole...), false},
		"broken table":    {bytes.Replace(whole, []byte("startxref\n"), []byte("startxref\n9"), 1), false},
		"no end":          {whole[:bytes.Index(whole, []byte("startxref"))], false},
	} {
		d, err := Open(t.Context(), tt.data)
		if err != nil || d.Sound() != tt.want {
			t.Errorf("%s: %v, sound %v", name, err, err == nil && d.Sound())
			continue
		}
		if again := plainCopy(t, d); again.Pages() != 2 || !again.Sound() {
			t.Errorf("%s, written again: %d pages", name, again.Pages())
		}
	}
}
