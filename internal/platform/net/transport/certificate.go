package transport

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"os"
	"strings"
)

// LoadCertificate loads a client certificate and its key from PEM files. If keyFile is empty,
// certFile contains both.
func LoadCertificate(certFile, keyFile string) (*tls.Certificate, error) {
	keyFile = cmp.Or(keyFile, certFile)
	certs, err := os.ReadFile(certFile)
	if err != nil {
		return nil, fmt.Errorf("the client certificate cannot be read: %w", err)
	}
	key, err := os.ReadFile(keyFile)
	if err != nil {
		return nil, fmt.Errorf("the key of the client certificate cannot be read: %w", err)
	}
	for rest := key; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type == "ENCRYPTED PRIVATE KEY" || strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED") {
			return nil, fmt.Errorf("the key in %s has a passphrase, which is not supported; write it without one: openssl pkey -in %[1]s -out key.pem", keyFile)
		}
	}
	pair, err := tls.X509KeyPair(certs, key)
	switch {
	case err != nil && !bytes.Contains(certs, []byte("-----BEGIN CERTIFICATE")):
		return nil, fmt.Errorf("%s holds no certificate in PEM form", certFile)
	case err != nil && !bytes.Contains(key, []byte("PRIVATE KEY-----")):
		return nil, fmt.Errorf("%s holds no private key in PEM form", keyFile)
	case err != nil:
		return nil, fmt.Errorf("the client certificate in %s and the key in %s do not fit: %s", certFile, keyFile, strings.TrimPrefix(err.Error(), "tls: "))
	}
	return &pair, nil
}
