package bedrock

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/platform/net/aws"
	"adze/internal/platform/text/amount"
)

// A signer signs requests. It implements [wire.Authorizer].
type signer struct {
	target  aws.Target
	chain   *aws.Chain
	refresh *wire.Refresh
	note    func(string)
	// skew is how far the service's clock is ahead of ours, in nanoseconds. It is set once it
	// matters.
	skew atomic.Int64
}

// Authorize implements [wire.Authorizer].
func (s *signer) Authorize(req *http.Request, body wire.Body) error {
	ctx := req.Context()
	c, err := s.chain.Get(ctx)
	if err != nil && ctx.Err() == nil {
		if err = s.refresh.Mend(ctx, err); err == nil {
			c, err = s.chain.Get(ctx)
		}
	}
	if err != nil {
		return err
	}
	h := sha256.New()
	for _, piece := range body {
		h.Write(piece) // ok: a hash never fails
	}
	aws.Sign(req, [sha256.Size]byte(h.Sum(nil)), c, s.target, time.Now().Add(time.Duration(s.skew.Load())))
	return nil
}

// maxSkew is the maximum tolerated clock difference.
const maxSkew = 4 * time.Minute

// Renew implements [wire.Authorizer]: the clock may be wrong, or the credentials expired.
func (s *signer) Renew(req *http.Request, e *model.Error, answer http.Header) bool {
	if date, err := http.ParseTime(answer.Get("Date")); err == nil {
		was := time.Duration(s.skew.Load())
		if off := time.Until(date); (off - was).Abs() > maxSkew {
			s.skew.Store(int64(off))
			if s.note != nil {
				way := "slow"
				if off < 0 {
					way = "fast"
				}
				s.note(fmt.Sprintf("The clock of this machine is %s %s; requests to Bedrock are signed with the time of the service. Set the clock right.",
					amount.Of(int(off.Abs().Round(time.Minute).Minutes()), "minute", "minutes"), way))
			}
			return true
		}
	}
	if e.Kind != model.Auth || !strings.Contains(e.Message, "token") && !strings.Contains(e.Message, "expired") {
		return false
	}
	_, id, _ := strings.Cut(req.Header.Get("Authorization"), "Credential=")
	id, _, _ = strings.Cut(id, "/")
	renewable := s.chain.Forget(id)
	if s.refresh.Command != "" {
		return s.refresh.Mend(req.Context(), e) == nil
	}
	return renewable
}

// Secrets implements [wire.Authorizer].
func (s *signer) Secrets() []string { return s.chain.Secrets() }
