package web

import (
	"net/http"
	"net/netip"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

func TestAServersWaitIsReadInEveryFormAndLimited(t *testing.T) {
	const date, later = "Sun, 22 Nov 2026 08:00:00 GMT", "Sun, 22 Nov 2026 08:01:30 GMT"
	for _, c := range []struct {
		name   string
		header http.Header
		want   time.Duration
	}{
		{"none", http.Header{}, 0},
		{"nonsense", http.Header{"Retry-After": {"soon"}}, 0},
		{"seconds", http.Header{"Retry-After": {"1.5"}}, 1500 * time.Millisecond},
		{"less than a millisecond is rounded", http.Header{"Retry-After": {"0.0125"}}, 13 * time.Millisecond},
		{"milliseconds before seconds", http.Header{"Retry-After-Ms": {"250"}, "Retry-After": {"7"}}, 250 * time.Millisecond},
		{"a time, by the server's clock", http.Header{"Retry-After": {later}, "Date": {date}}, 90 * time.Second},
		{"a time that has passed", http.Header{"Retry-After": {date}, "Date": {later}}, 0},
		{"a past time, by our clock", http.Header{"Retry-After": {"Sun, 22 Nov 1998 08:00:00 GMT"}}, 0},
		{"longer than a day", http.Header{"Retry-After": {"86401"}}, 24 * time.Hour},
		{"negative", http.Header{"Retry-After": {"-3"}}, 0},
		{"no number", http.Header{"Retry-After": {"NaN"}}, 0},
	} {
		if got := RetryAfter(c.header); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestThisMachineIsKnownByNameAndAddress(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LocalHost": true, "127.0.0.1": true, "127.3.2.1": true, "::1": true, "::ffff:127.0.0.1": true,
		"": false, "localhost.example": false, "10.0.0.1": false, "128.0.0.1": false, "::2": false,
	} {
		if got := Loopback(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
}

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
