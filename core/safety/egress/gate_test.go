package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
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
	lookups  []string
	dialed   []netip.AddrPort
	refusals []string
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
		refused: func(x *refusal) { r.refusals = append(r.refusals, x.Error()) },
	}
	return r
}

func addrs(list ...string) (out []netip.Addr) {
	for _, a := range list {
		out = append(out, netip.MustParseAddr(a))
	}
	return out
}

// TestAConnectionGoesWhereTheListSays makes the connections of testdata/connections.txt.
func TestAConnectionGoesWhereTheListSays(t *testing.T) {
	const list = "api.example.org,*.example.net,localhost:8080,192.168.1.5,nas.home.arpa,[fd00::5]:22"
	data, err := os.ReadFile("testdata/connections.txt")
	testkit.Must(t, err)
	names := map[string][]netip.Addr{}
	for line := range strings.SplitSeq(string(data), "\n") {
		line, wants, is := strings.Cut(line, " → ")
		if !is {
			if name, found, named := strings.Cut(line+" ", " is "); named && line[0] != '#' {
				names[name] = append([]netip.Addr{}, addrs(strings.Fields(found)...)...)
			}
			continue
		}
		host, port, _ := strings.Cut(line, " port ")
		n, err := strconv.ParseUint(port, 10, 16)
		testkit.Must(t, err)
		r := newRecorder(t, list, func(host string) []netip.Addr { return names[strings.ToLower(host)] })
		_, err = r.connect(t.Context(), host, uint16(n))
		got := err.Error()
		if len(r.dialed) > 0 {
			got = strings.TrimSuffix(strings.TrimPrefix(fmt.Sprint(r.dialed), "["), "]")
		}
		_, refused := errors.AsType[*refusal](err)
		if !strings.Contains(got, wants) || got != wants && len(r.dialed) > 0 || refused != (len(r.refusals) == 1) {
			t.Errorf("%s: %s, refused %q", line, got, r.refusals)
		}
		if strings.Contains(wants, "commands reach") && len(r.lookups) > 0 {
			t.Errorf("%s is not listed and is looked up: a name can carry words away", host)
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
		t.Error("another address is taken for one of this machine's")
	}
}
