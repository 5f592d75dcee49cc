package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ollimbot/core/base/hosts"
	"ollimbot/core/base/testkit"
	"ollimbot/core/base/web"
)

// recorder is a network that records every dial and fails all of them.
type recorder struct {
	gate
	lookups []string
	dialed  []netip.AddrPort
	told    []string
}

var errRecorded = errors.New("it was dialled")

func newRecorder(t rapid.TB, list string, answers func(host string) []netip.Addr) *recorder {
	t.Helper()
	l, err := hosts.Parse(list)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{}
	r.gate = gate{
		hosts: l,
		lookup: func(_ context.Context, host string) ([]netip.Addr, error) {
			r.lookups = append(r.lookups, host)
			if found := answers(host); found != nil {
				return found, nil
			}
			return nil, errors.New("no such host")
		},
		dial: func(_ context.Context, at netip.AddrPort) (net.Conn, error) {
			r.dialed = append(r.dialed, at)
			return nil, errRecorded
		},
		refused: func(x *refusal) { r.told = append(r.told, x.Error()) },
	}
	return r
}

func addrs(list ...string) (out []netip.Addr) {
	for _, a := range list {
		out = append(out, netip.MustParseAddr(a))
	}
	return out
}

func TestAConnectionGoesWhereTheListSays(t *testing.T) {
	const list = "api.example.org,*.example.net,localhost:8080,192.168.1.5,nas.home.arpa,[fd00::5]:22"
	names := map[string][]netip.Addr{
		"api.example.org": addrs("1.1.1.1"), "a.example.net": addrs("2606:4700::1111", "::ffff:8.8.8.8"),
		"mixed.example.net": addrs("10.0.0.1", "8.8.8.8", "169.254.169.254"), "loop.example.net": addrs("127.0.0.1", "::1"),
		"mapped.example.net": addrs("::ffff:127.0.0.1"), "cloud.example.net": addrs("169.254.169.254"), "alibaba.example.net": addrs("100.100.100.200"),
		"lan.example.net": addrs("192.168.1.6"), "zero.example.net": addrs("0.0.0.0"), "nat64.example.net": addrs("64:ff9b::a00:1"),
		"nas.home.arpa": addrs("192.168.1.5"), "none.example.net": {}, "evil.example.com": addrs("1.1.1.1"),
	}
	for _, c := range []struct {
		host  string
		port  uint16
		wants string // the dialled addresses, or the refusal
	}{
		{"api.example.org", 443, "1.1.1.1:443"},
		{"API.example.org.", 443, "1.1.1.1:443"},
		{"a.example.net", 80, "[2606:4700::1111]:80 8.8.8.8:80"},
		{"mixed.example.net", 80, "8.8.8.8:80"},
		{"localhost", 8080, "127.0.0.1:8080 [::1]:8080"},
		{"192.168.1.5", 22, "192.168.1.5:22"},
		{"::ffff:192.168.1.5", 22, "192.168.1.5:22"},
		{"nas.home.arpa", 445, "192.168.1.5:445"}, // the name and its address are listed
		{"fd00::5", 22, "[fd00::5]:22"},

		{"evil.example.com", 443, "evil.example.com:443 is not allowed: commands reach only the hosts"},
		{"example.net", 443, "is not allowed: commands"},
		{"1.1.1.1", 443, "is not allowed: commands"}, // only its name is listed
		{"localhost", 8081, "is not allowed: commands"},
		{"127.0.0.1", 8080, "is not allowed: commands"},
		{"fd00::5", 23, "is not allowed: commands"},
		{"0x7f000001", 80, "is not allowed: commands"},
		{"loop.example.net", 80, "it resolves to ::1"},
		{"mapped.example.net", 80, "it resolves to 127.0.0.1"},
		{"cloud.example.net", 80, "it resolves to 169.254.169.254"},
		{"alibaba.example.net", 80, "it resolves to 100.100.100.200"},
		{"lan.example.net", 80, "the user can add 192.168.1.6:80 to the setting"},
		{"zero.example.net", 80, "it resolves to 0.0.0.0"},
		{"nat64.example.net", 80, "it resolves to 64:ff9b::a00:1"},
		{"none.example.net", 80, "the name has no address"},
		{"gone.example.net", 80, "no such host"},
	} {
		r := newRecorder(t, list, func(host string) []netip.Addr { return names[strings.ToLower(host)] })
		_, err := r.connect(t.Context(), c.host, c.port)
		var dialed []string
		for _, at := range r.dialed {
			dialed = append(dialed, at.String())
		}
		got := strings.Join(dialed, " ")
		if got == "" {
			got = err.Error()
		}
		_, refused := errors.AsType[*refusal](err)
		if !strings.Contains(got, c.wants) || got != c.wants && len(dialed) > 0 || refused != (len(r.told) == 1) {
			t.Errorf("%s, port %d: %s, told %q", c.host, c.port, got, r.told)
		}
		if strings.Contains(c.wants, "commands reach") && len(r.lookups) > 0 {
			t.Errorf("%s is not listed and is looked up: a name can carry words away", c.host)
		}
	}
}

// A name whose owner returns another address each time gains nothing: the checked address is the
// one that is dialled.
func TestANameThatChangesIsLookedUpOnce(t *testing.T) {
	turn := 0
	r := newRecorder(t, "api.example.org", func(string) []netip.Addr {
		turn++
		return map[bool][]netip.Addr{true: addrs("1.1.1.1"), false: addrs("127.0.0.1")}[turn == 1]
	})
	_, err := r.connect(t.Context(), "api.example.org", 80)
	if turn != 1 || !errors.Is(err, errRecorded) || !slices.Equal(r.dialed, []netip.AddrPort{netip.MustParseAddrPort("1.1.1.1:80")}) {
		t.Errorf("%d lookups, dialled %v, %v", turn, r.dialed, err)
	}
	if _, err := r.connect(t.Context(), "api.example.org", 80); err == nil || len(r.dialed) != 1 {
		t.Errorf("the second time it dialled %v, %v", r.dialed, err)
	}
}

// Wherever names lead, only public addresses and listed ones are dialled.
func TestNoAnswerOfAResolverOpensAClosedAddress(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		found := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) netip.Addr {
			b := [16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "bytes"))
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				return netip.AddrFrom16(b)
			case 1:
				return netip.AddrFrom4([4]byte(b[:4]))
			case 2:
				return netip.AddrFrom16(netip.AddrFrom4([4]byte(b[:4])).As16())
			}
			return rapid.SampledFrom(addrs("127.0.0.1", "::1", "10.0.0.1", "192.168.1.5", "169.254.169.254", "::ffff:192.168.1.5")).Draw(t, "known")
		}), 0, 5).Draw(t, "answers")
		r := newRecorder(t, "*.example.org,192.168.1.5:80", func(string) []netip.Addr { return found })
		port := rapid.SampledFrom([]uint16{80, 81}).Draw(t, "port")
		_, _ = r.connect(context.Background(), "a.example.org", port)
		for _, at := range r.dialed {
			if !web.Public(at.Addr()) && at != netip.MustParseAddrPort("192.168.1.5:80") {
				t.Fatalf("%s was dialled", at)
			}
		}
	})
}

func TestAPublicAddressOfThisMachineIsAsNearAsLoopback(t *testing.T) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if p := netip.MustParsePrefix(a.String()); !ours(p.Addr()) {
			t.Errorf("%s is not taken for one of this machine's", p)
		}
	}
	if ours(netip.MustParseAddr("192.0.2.77")) {
		t.Error("an address of nobody is taken for one of this machine's")
	}
}
