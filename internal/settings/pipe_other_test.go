//go:build !unix

package settings

func (p *place) pipe(string) { p.T.Skip("no named pipes") }
