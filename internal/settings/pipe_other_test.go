//go:build !unix

package settings

func (p *place) pipe(string) { p.T.Skip("there are no named pipes") }
