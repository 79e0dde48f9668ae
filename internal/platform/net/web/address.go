package web

import "net/netip"

// A Class classifies an address by the network it belongs to.
type Class uint8

// Classes. Only [Public] addresses are on the internet.
const (
	Public Class = iota
	Loopback
	Private
	Shared
	LinkLocal
	Multicast
	Unspecified
	Documentation
	Translated
	Reserved
)

// String describes the class for messages.
func (c Class) String() string {
	switch c {
	case Public:
		return "a public address"
	case Loopback:
		return "a loopback address"
	case Private:
		return "a private address"
	case Shared:
		return "a shared address of a provider's network"
	case LinkLocal:
		return "a link-local address"
	case Multicast:
		return "a multicast address"
	case Unspecified:
		return "an address of this host"
	case Documentation:
		return "an address for documentation and tests"
	case Translated:
		return "an address that stands for another one"
	}
	return "a reserved address"
}

// ClassOf classifies an address according to the IANA special-purpose registries. An IPv6
// address that embeds an IPv4 address is never public, because its destination depends on the
// network.
func ClassOf(a netip.Addr) Class {
	switch {
	case !a.IsValid() || a.Zone() != "":
		return Reserved
	case a.Is4():
		return classOf4(a.As4())
	case a.Is4In6():
		if c := classOf4(a.Unmap().As4()); c != Public {
			return c
		}
		return Translated
	}
	return classOf6(a)
}

func classOf4(b [4]byte) Class {
	under := func(n int, prefix ...byte) bool { // n is the prefix length in bits
		for i, p := range prefix {
			mask := byte(0xff)
			if rest := n - 8*i; rest < 8 {
				mask <<= 8 - rest
			}
			if b[i]&mask != p {
				return false
			}
		}
		return true
	}
	switch {
	case under(8, 0):
		return Unspecified
	case under(8, 127):
		return Loopback
	case under(8, 10), under(12, 172, 16), under(16, 192, 168):
		return Private
	case under(10, 100, 64):
		return Shared
	case under(16, 169, 254):
		return LinkLocal
	case under(24, 192, 0, 2), under(24, 198, 51, 100), under(24, 203, 0, 113), under(15, 198, 18):
		return Documentation
	case under(24, 192, 88, 99):
		return Translated
	case under(24, 192, 0, 0), under(24, 192, 31, 196), under(24, 192, 52, 193), under(24, 192, 175, 48), under(4, 240):
		return Reserved
	case under(4, 224):
		return Multicast
	}
	return Public
}

func classOf6(a netip.Addr) Class {
	b := a.As16()
	group := func(i int) uint16 { return uint16(b[2*i])<<8 | uint16(b[2*i+1]) }
	switch first := group(0); {
	case a.IsUnspecified():
		return Unspecified
	case a.IsLoopback():
		return Loopback
	case a.IsMulticast():
		return Multicast
	case first&0xffc0 == 0xfe80:
		return LinkLocal
	case first&0xfe00 == 0xfc00, first&0xffc0 == 0xfec0:
		return Private
	case first == 0x2001 && group(1) == 0xdb8, first == 0x3fff && group(1)&0xf000 == 0:
		return Documentation
	case first == 0x2002, first == 0x2001 && group(1) == 0, first == 0x64 && group(1) == 0xff9b:
		return Translated
	case first&0xe000 != 0x2000, first == 0x2001 && group(1) < 0x200:
		return Reserved // only 2000::/3 is assigned, and 2001::/23 is reserved for protocols
	case first == 0x2620 && group(1) == 0x4f && group(2) == 0x8000:
		return Reserved
	}
	return Public
}
