// Package aws signs requests to AWS services and finds credentials in the same places as other
// AWS tools. The vendor's SDK is not used because its token service packages take longer to
// initialize than adze's whole startup budget.
package aws

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Credentials sign requests.
type Credentials struct {
	KeyID, Secret string
	// Token is the session token of temporary credentials, or "".
	Token   string
	Expires time.Time // zero means never
}

// A Target is the region and service that a signature is valid for.
type Target struct{ Region, Service string }

const (
	algorithm = "AWS4-HMAC-SHA256"
	timeForm  = "20060102T150405Z"
)

// Sign adds a version 4 signature to req: the headers X-Amz-Date, X-Amz-Security-Token and
// Authorization. hash is the SHA-256 of the body. Sign covers all headers that proxies don't
// modify, so headers must not change afterwards.
func Sign(req *http.Request, hash [sha256.Size]byte, c Credentials, t Target, at time.Time) {
	stamp := at.UTC().Format(timeForm)
	req.Header.Set("X-Amz-Date", stamp)
	if c.Token != "" {
		req.Header.Set("X-Amz-Security-Token", c.Token)
	}
	names, headers := canonicalHeaders(req)
	canonical := strings.Join([]string{
		req.Method, canonicalPath(req.URL), canonicalQuery(req.URL.Query()), headers, names, hex.EncodeToString(hash[:]),
	}, "\n")
	digest := sha256.Sum256([]byte(canonical))
	scope := strings.Join([]string{stamp[:8], t.Region, t.Service, "aws4_request"}, "/")
	key := []byte("AWS4" + c.Secret)
	for part := range strings.SplitSeq(scope, "/") {
		key = mac(key, part)
	}
	signature := mac(key, strings.Join([]string{algorithm, stamp, scope, hex.EncodeToString(digest[:])}, "\n"))
	req.Header.Set("Authorization", algorithm+" Credential="+c.KeyID+"/"+scope+", SignedHeaders="+names+", Signature="+hex.EncodeToString(signature))
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text)) // ok: hash.Hash.Write never fails
	return h.Sum(nil)
}

// unsigned lists headers that intermediaries may change.
var unsigned = [...]string{"authorization", "user-agent", "x-amzn-trace-id", "expect", "transfer-encoding", "connection", "accept-encoding"}

// canonicalHeaders returns the names of the headers to sign and their canonical form.
func canonicalHeaders(req *http.Request) (names, headers string) {
	host := req.Host
	if host == "" {
		host = req.URL.Host
	}
	values := map[string]string{"host": withoutDefaultPort(host, req.URL.Scheme)}
	for name, list := range req.Header {
		name = strings.ToLower(name)
		if slices.Contains(unsigned[:], name) {
			continue
		}
		trimmed := make([]string, len(list))
		for i, v := range list {
			trimmed[i] = strings.Join(strings.Fields(v), " ")
		}
		values[name] = strings.Join(trimmed, ",")
	}
	sorted := make([]string, 0, len(values))
	for name := range values {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	var b strings.Builder
	for _, name := range sorted {
		b.WriteString(name + ":" + values[name] + "\n")
	}
	return strings.Join(sorted, ";"), b.String()
}

func withoutDefaultPort(host, scheme string) string {
	if scheme == "http" {
		return strings.TrimSuffix(host, ":80")
	}
	return strings.TrimSuffix(host, ":443")
}

// canonicalPath returns the path to sign, which is escaped once more than the path sent.
func canonicalPath(u *url.URL) string {
	path := u.EscapedPath()
	if path == "" {
		return "/"
	}
	return escape(path, "/")
}

func canonicalQuery(query url.Values) string {
	var pairs []string
	for name, values := range query {
		for _, v := range values {
			pairs = append(pairs, escape(name, "")+"="+escape(v, ""))
		}
	}
	slices.Sort(pairs)
	return strings.Join(pairs, "&")
}

// escape percent-encodes all of s except unreserved characters and the characters in keep.
func escape(s, keep string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z', '0' <= c && c <= '9', strings.IndexByte("-._~"+keep, c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		}
	}
	return b.String()
}
