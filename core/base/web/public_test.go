package web

import (
	"net/netip"
	"testing"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

func TestAddressesThatAreClosed(t *testing.T) {
	for _, text := range []string{
		"127.0.0.1", "127.255.255.255", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1", "100.127.255.255",
		"192.0.0.192", "198.18.0.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "168.63.129.16", "192.88.99.1", "203.0.113.9",
		"::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "fe80::1", "fe80::1%eth0", "fec0::1", "fc00::1", "fd00:ec2::254",
		"ff02::1", "2001:db8::1", "2002:7f00:1::", "2001:0:7f00:1::", "100::1", "4000::1", "3fff::1",
	} {
		if Public(netip.MustParseAddr(text)) {
			t.Errorf("%s is taken for public", text)
		}
	}
	for _, text := range []string{"1.1.1.1", "8.8.8.8", "172.32.0.1", "172.15.0.1", "100.63.255.255", "100.128.0.1", "192.167.1.1", "2606:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8", "223.255.255.1"} {
		if !Public(netip.MustParseAddr(text)) {
			t.Errorf("%s is taken for closed", text)
		}
	}
	if Public(netip.Addr{}) {
		t.Error("no address is public")
	}
	testkit.Check(t, func(rt *rapid.T) {
		b := rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(rt, "bytes")
		a := netip.AddrFrom16([16]byte(b))
		if rapid.Bool().Draw(rt, "short") {
			a = netip.AddrFrom4([4]byte(b[:4]))
		}
		if Public(a) && (!a.IsGlobalUnicast() || a.IsPrivate()) {
			rt.Fatalf("%s is taken for public", a)
		}
		if a.Is4() && Public(a) != Public(netip.AddrFrom16(a.As16())) {
			rt.Fatalf("%s is another thing in sixteen bytes", a)
		}
	})
}
