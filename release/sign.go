package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"aead.dev/minisign"
)

// A key signs the release.
type key struct{ private minisign.PrivateKey }

func readKey(path, password string) (*key, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	k := &key{}
	if minisign.IsEncrypted(data) {
		k.private, err = minisign.DecryptKey(password, data)
	} else {
		err = k.private.UnmarshalText(data)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return k, nil
}

// sign returns a signature of text in minisign's format. The trusted comment names the text, so that
// one signed text can't be passed off as another.
func (k *key) sign(text []byte, comment string) []byte {
	return minisign.SignWithComments(k.private, text, comment, "signature of the adze release key")
}

// sign writes SHA256SUMS and the channels, with signatures if there is a key.
func (r *release) sign(_ context.Context, _ string) error {
	if r.key != nil {
		public, ok := r.key.private.Public().(minisign.PublicKey)
		if !ok || r.config.Key != "" && public.String() != r.config.Key {
			return errors.New("the key of -key does not belong to the public key in the configuration")
		}
	}
	slices.Sort(r.made)
	var b strings.Builder
	for _, name := range r.made {
		fmt.Fprintf(&b, "%s  %s\n", r.hashes[name], name)
	}
	texts := map[string]string{"SHA256SUMS": b.String()}
	comments := map[string]string{"SHA256SUMS": "adze " + r.version}
	if r.config.published() {
		for _, c := range r.config.Channels {
			texts[c], comments[c] = r.version+"\n", "channel "+c+" of adze"
		}
	}
	for name, text := range texts {
		if err := r.write(name, []byte(text)); err != nil {
			return err
		}
		if r.key == nil {
			continue
		}
		if err := r.write(name+".minisig", r.key.sign([]byte(text), comments[name])); err != nil {
			return err
		}
	}
	return nil
}

// sumFile returns the SHA-256 of a file in hexadecimal.
func sumFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
