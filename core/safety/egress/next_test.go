package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"

	"ollimbot/core/base/hosts"
	"ollimbot/core/base/testkit"
)

func TestIfAnAddressOfAHostDoesNotAnswerTheNextIsTried(t *testing.T) {
	list, err := hosts.Parse("example.net")
	testkit.Must(t, err)
	here, there := net.Pipe()
	defer here.Close()
	defer there.Close()
	dead, alive := netip.MustParseAddr("2606:4700::1111"), netip.MustParseAddr("8.8.8.8")
	g := gate{
		hosts: list, refused: func(r *refusal) { t.Errorf("refused: %v", r) },
		lookup: func(context.Context, string) ([]netip.Addr, error) { return []netip.Addr{dead, alive, dead}, nil },
		dial: func(_ context.Context, at netip.AddrPort) (net.Conn, error) {
			if at != netip.AddrPortFrom(alive, 443) {
				return nil, errors.New("no route to host")
			}
			return here, nil
		},
	}
	if conn, err := g.connect(t.Context(), "example.net", 443); conn != here || err != nil {
		t.Errorf("connected: %v, %v", conn == here, err)
	}
}
