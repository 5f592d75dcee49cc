package login

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/oauth2"

	"ollimbot/core/base/web"
)

// maxAnswer is how much of an answer is read, in bytes.
const maxAnswer = 1 << 20

// guarded returns the client for addresses named by a server. It reaches private
// addresses only if the user has written the host into the file, follows redirects only
// on the same host, and limits answers.
func guarded(home *url.URL, patience time.Duration) *http.Client {
	g := &guard{home: home.Hostname()}
	t := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // it is one
	t.Proxy, t.DialContext = g.proxy, g.dial
	t.DisableKeepAlives = true // a login is only a handful of requests
	return &http.Client{Transport: bounded{t}, Timeout: patience, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		first := via[0]
		// A repeated POST would give the code or the token to somebody else.
		if first.Method != http.MethodGet || r.URL.Host != first.URL.Host || r.URL.Scheme != first.URL.Scheme || len(via) > 3 {
			return &saidError{fmt.Sprintf(textRedirect, line(r.URL.Host))}
		}
		return nil
	}}
}

// guard decides which addresses may be reached.
type guard struct {
	home    string
	proxies sync.Map // from the environment: they are the user's
}

func (g *guard) proxy(r *http.Request) (*url.URL, error) {
	u, err := http.ProxyFromEnvironment(r)
	if u != nil {
		g.proxies.Store(u.Hostname(), true)
	}
	return u, err
}

func (g *guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: 10 * time.Second}
	host, _, _ := net.SplitHostPort(address)
	if _, ours := g.proxies.Load(host); !ours && !strings.EqualFold(host, g.home) {
		d.Control = func(_, at string, _ syscall.RawConn) error {
			if to, err := netip.ParseAddrPort(at); err != nil || !web.Public(to.Addr()) {
				return &saidError{fmt.Sprintf(textPrivate, line(host))}
			}
			return nil
		}
	}
	return d.DialContext(ctx, network, address)
}

// bounded limits answers.
type bounded struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(r)
	if err == nil {
		resp.Body = http.MaxBytesReader(nil, resp.Body, maxAnswer)
	}
	return resp, err
}

// saidError is an error already worded for the user.
type saidError struct{ text string }

func (e *saidError) Error() string { return e.text }

// reason describes in one line why a step of a login failed.
func reason(err error) string {
	if said, is := errors.AsType[*saidError](err); is {
		return said.text
	}
	if refused, is := errors.AsType[*oauth2.RetrieveError](err); is && refused.ErrorCode != "" {
		return line(fmt.Sprintf(textRefused, refused.ErrorCode, refused.ErrorDescription))
	}
	if text := web.Trouble(err); text != "" {
		return text
	}
	// The library includes other errors in its texts.
	for part, text := range map[string]string{
		"client registration methods": textNoRegistration, "Client.Timeout": textSlow, "deadline exceeded": textSlow,
	} {
		if strings.Contains(err.Error(), part) {
			return text
		}
	}
	return line(err.Error())
}
