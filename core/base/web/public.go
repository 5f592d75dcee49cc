package web

import "net/netip"

// closedNets are addresses of this machine, its neighbours or its operator, and
// unassigned ones.
var closedNets = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("172.16.0.0/12"),
	netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("192.88.99.0/24"),
	netip.MustParsePrefix("192.168.0.0/16"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("224.0.0.0/3"),
	netip.MustParsePrefix("168.63.129.16/32"), // a cloud's own services, by a public address
	// Only 2000::/3 is allocated in IPv6. These are parts of it that are not public, or that
	// embed IPv4 addresses.
	netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("3fff::/20"),
}

var givenOut = netip.MustParsePrefix("2000::/3")

// Public reports whether an address is on the open Internet.
func Public(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	if !addr.IsValid() || addr.Is6() && !givenOut.Contains(addr) {
		return false
	}
	for _, net := range closedNets {
		if net.Contains(addr) {
			return false
		}
	}
	return true
}
