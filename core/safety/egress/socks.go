package egress

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"time"

	"ollimbot/core/base/clean"
)

// The supported part of SOCKS5 (RFC 1928): connections, without a login.
const (
	socksVersion = 5
	socksConnect = 1
	socksNoLogin = 0
	socksNone    = 0xff

	socksIPv4 = 1
	socksName = 3
	socksIPv6 = 4

	socksDone        = 0
	socksRefused     = 2
	socksUnreachable = 4
	socksNoCommand   = 7
	socksNoAddress   = 8
)

// socks serves one client of SOCKS5.
func (p *proxy) socks(ctx context.Context, c net.Conn) error {
	code, server, err := p.socksRequest(ctx, c)
	if err != nil {
		return errors.Join(err, c.Close())
	}
	reply := []byte{socksVersion, code, 0, socksIPv4, 0, 0, 0, 0, 0, 0}
	if _, err := c.Write(reply); err != nil || server == nil {
		if server != nil {
			err = errors.Join(err, server.Close())
		}
		return errors.Join(err, c.Close())
	}
	_ = c.SetDeadline(time.Time{})
	splice(ctx, c, server)
	return nil
}

// socksRequest reads the client's request and connects to the server. If that fails, the code says
// why; an error means that the client gets no answer.
func (p *proxy) socksRequest(ctx context.Context, c net.Conn) (code byte, server net.Conn, err error) {
	head := make([]byte, 2)
	if _, err := io.ReadFull(c, head); err != nil {
		return 0, nil, err
	}
	logins := make([]byte, head[1])
	if _, err := io.ReadFull(c, logins); err != nil {
		return 0, nil, err
	}
	if !slices.Contains(logins, socksNoLogin) {
		_, err := c.Write([]byte{socksVersion, socksNone})
		return 0, nil, errors.Join(errors.New("the client wants a login"), err)
	}
	if _, err := c.Write([]byte{socksVersion, socksNoLogin}); err != nil {
		return 0, nil, err
	}
	request := make([]byte, 4)
	if _, err := io.ReadFull(c, request); err != nil {
		return 0, nil, err
	}
	host, known, err := socksHost(c, request[3])
	if err != nil {
		return 0, nil, err
	}
	if !known {
		return socksNoAddress, nil, nil
	}
	port := make([]byte, 2)
	if _, err := io.ReadFull(c, port); err != nil {
		return 0, nil, err
	}
	if request[0] != socksVersion || request[1] != socksConnect {
		return socksNoCommand, nil, nil
	}
	server, err = p.gate.connect(ctx, host, binary.BigEndian.Uint16(port))
	if _, refused := errors.AsType[*refusal](err); refused {
		return socksRefused, nil, nil
	}
	if err != nil {
		return socksUnreachable, nil, nil //nolint:nilerror // the code says it
	}
	return socksDone, server, nil
}

// socksHost reads a name or an address. known is false for any other kind.
func socksHost(r io.Reader, kind byte) (host string, known bool, err error) {
	n := map[byte]int{socksIPv4: 4, socksName: 1, socksIPv6: 16}[kind]
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil || n == 0 {
		return "", false, err
	}
	if kind != socksName {
		addr, _ := netip.AddrFromSlice(b) // it has one of the two lengths
		return addr.String(), true, nil
	}
	name := make([]byte, b[0])
	_, err = io.ReadFull(r, name)
	return string(name), true, err
}

// unreachable explains to the command why a host cannot be reached.
func unreachable(err error) string {
	return fmt.Sprintf(textUnreachable, clean.Line(err.Error()))
}
