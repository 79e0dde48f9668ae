package web

import "net/netip"

// ConnectTCP exports connectTCP.
var ConnectTCP = connectTCP

// Vet vets an address of a host that the user has not named.
func Vet(host string, a netip.Addr) error { return vet(host, a, false) }
