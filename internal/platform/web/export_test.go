package web

import "net/netip"

// ConnectTCP and Vet are the parts of the dialer.
var ConnectTCP = connectTCP

// Vet vets an address of a host that is not named.
func Vet(host string, a netip.Addr) error { return vet(host, a, false) }
