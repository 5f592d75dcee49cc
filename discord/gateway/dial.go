package gateway

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
)

// dialer opens the connections below the wire. Encryption is ours, not the
// library's, because the wire has to see what comes out of it; that makes the
// proxy ours too.
type dialer struct {
	open  func(ctx context.Context, network, addr string) (net.Conn, error)
	proxy func(*http.Request) (*url.URL, error)
	tls   *tls.Config // nil is the default
}

func newDialer(open func(ctx context.Context, network, addr string) (net.Conn, error)) *dialer {
	if open == nil {
		open = new(net.Dialer).DialContext
	}
	return &dialer{open: open, proxy: http.ProxyFromEnvironment}
}

// plain connects without encryption, and therefore to this machine only: the
// token goes over the line.
func (d *dialer) plain(ctx context.Context, network, addr string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("dial gateway: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, errors.New(textPlain)
	}
	return d.open(ctx, network, addr)
}

// secure connects with TLS, through the proxy of the environment if there is one.
func (d *dialer) secure(ctx context.Context, network, addr string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("dial gateway: %w", err)
	}
	via, err := d.proxy(&http.Request{URL: &url.URL{Scheme: "https", Host: addr}})
	if err != nil {
		// The error would show the address of the proxy, and a password in it.
		return nil, errors.New("read HTTPS_PROXY: not an address")
	}
	var conn net.Conn
	if via == nil {
		conn, err = d.open(ctx, network, addr)
	} else {
		conn, err = d.through(ctx, via, addr)
	}
	if err != nil {
		return nil, err
	}
	config := d.tls.Clone()
	if config == nil {
		config = &tls.Config{}
	}
	config.ServerName = host
	config.NextProtos = []string{"http/1.1"}
	secured := tls.Client(conn, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("encrypt connection: %w", err)
	}
	return secured, nil
}

// through asks an HTTP proxy for a tunnel to addr.
func (d *dialer) through(ctx context.Context, via *url.URL, addr string) (net.Conn, error) {
	if via.Scheme != "http" {
		return nil, fmt.Errorf(textProxyKind, via.Scheme)
	}
	at := via.Host
	if via.Port() == "" {
		at = net.JoinHostPort(via.Hostname(), "80")
	}
	conn, err := d.open(ctx, "tcp", at)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if err := tunnel(conn, via.User, addr); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

func tunnel(conn net.Conn, user *url.Userinfo, addr string) error {
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: addr}, Host: addr, Header: http.Header{}}
	if user != nil {
		password, _ := user.Password()
		basic := base64.StdEncoding.EncodeToString([]byte(user.Username() + ":" + password))
		req.Header.Set("Proxy-Authorization", "Basic "+basic)
	}
	if err := req.Write(conn); err != nil {
		return fmt.Errorf("ask proxy: %w", err)
	}
	// The proxy may only speak again after we have: nothing is lost with the
	// reader's buffer.
	resp, err := http.ReadResponse(bufio.NewReader(conn), req)
	if err != nil {
		return fmt.Errorf("read answer of proxy: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close()
		return fmt.Errorf(textProxy, resp.Status)
	}
	return nil
}
