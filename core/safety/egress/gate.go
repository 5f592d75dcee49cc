package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/hosts"
	"ollimbot/core/base/web"
)

// gate connects the commands of one sandbox to the hosts on its list, and to nothing else.
type gate struct {
	hosts   hosts.List
	lookup  Lookup
	dial    func(ctx context.Context, at netip.AddrPort) (net.Conn, error)
	refused func(*refusal) // called for each refusal
}

// Lookup resolves a name.
type Lookup func(ctx context.Context, host string) ([]netip.Addr, error)

const (
	lookupTime = 10 * time.Second
	dialTime   = 15 * time.Second // for one address
)

// connect connects to a host, given as a name or an address. A *refusal means that the list does
// not allow it.
func (g *gate) connect(ctx context.Context, host string, port uint16) (net.Conn, error) {
	if !g.hosts.Allows(host, port) {
		return nil, g.refuse(&refusal{host: host, port: port})
	}
	found, err := g.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	var last error
	var closed *refusal
	for _, addr := range found {
		addr = addr.Unmap()
		if !g.open(host, addr, port) {
			closed = &refusal{host: host, port: port, addr: addr}
			continue
		}
		conn, err := g.dial(ctx, netip.AddrPortFrom(addr, port))
		if err == nil {
			return conn, nil
		}
		last = err
	}
	if last == nil && closed != nil {
		return nil, g.refuse(closed)
	}
	if last == nil {
		last = errors.New(errNoAddress)
	}
	return nil, fmt.Errorf("connect to %s: %w", shown(host, port), last)
}

// resolve returns the addresses of a host. Loopback names are not looked up.
func (g *gate) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	if local(host) {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	found, err := g.lookup(ctx, strings.TrimSuffix(host, "."))
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", clean.Cut(clean.Line(host), maxShown), err)
	}
	return found, nil
}

func local(host string) bool { return strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") }

// open reports whether a listed host may be at an address. The owner of a name decides where it
// leads, so an address of this machine or of its network must be on the list itself.
func (g *gate) open(host string, addr netip.Addr, port uint16) bool {
	switch {
	case g.hosts.AllowsAddr(addr, port):
		return true
	case local(host):
		return addr.IsLoopback()
	}
	return web.Public(addr) && !ours(addr)
}

// ours reports whether a public address is one of this machine's. Its services are then as close as
// those on loopback.
func ours(addr netip.Addr) bool {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return true // assume that it is
	}
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Unmap().WithZone("") == addr.WithZone("") {
			return true
		}
	}
	return false
}

func (g *gate) refuse(r *refusal) error {
	g.refused(r)
	return r
}

// refusal means that the list does not allow a connection. Its text is for the command.
type refusal struct {
	host string
	port uint16
	addr netip.Addr // where a listed name leads to; invalid if the name is not listed
}

func (r *refusal) Error() string {
	if !r.addr.IsValid() {
		return fmt.Sprintf(textNotListed, shown(r.host, r.port))
	}
	return fmt.Sprintf(textClosedAddress, shown(r.host, r.port), r.addr, netip.AddrPortFrom(r.addr, r.port))
}

// maxShown is how much of a name is shown, in characters.
const maxShown = 100

func shown(host string, port uint16) string {
	return net.JoinHostPort(clean.Cut(clean.Line(host), maxShown), strconv.Itoa(int(port)))
}

// split splits an address into host and port.
func split(address string) (host string, port uint16, err error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, err
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 || host == "" {
		return "", 0, fmt.Errorf(errNoHostPort, clean.Cut(clean.Line(address), maxShown))
	}
	return host, uint16(n), nil
}
