package rest

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ollimbot/core/base/web"
)

// reply is the result of one try. The three kinds of failure differ in whether a retry is possible.
type reply struct {
	at     time.Time
	status int // 0 without an answer
	header http.Header
	body   []byte
	// err is a local fault: repeating cannot help.
	err error
	// cut is a network fault: no answer, or an incomplete one.
	cut error
	// unsent means that Discord cannot have received the request.
	unsent bool
}

// parting is how long a request may continue after its caller has ended if its token was already spent.
const parting = 3 * time.Second

// outlast returns a context that ends some time after ctx.
func outlast(ctx context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(by):
			cancel()
		case <-longer.Done():
		}
	})
	return longer, func() {
		stop()
		cancel()
	}
}

// try sends the request once.
func (c *Client) try(ctx context.Context, k *call) (r reply) {
	if err := ctx.Err(); err != nil { // a transport would not report that nothing was sent
		return reply{cut: err, unsent: true}
	}
	if k.paid {
		var done context.CancelFunc
		ctx, done = outlast(ctx, parting)
		defer done()
	}
	ctx, cancel := context.WithTimeout(ctx, k.time)
	defer cancel()
	defer func() { r.at = time.Now() }()
	req, err := c.request(ctx, k)
	if err != nil {
		return reply{err: err}
	}
	var sought, written atomic.Bool
	req = req.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:      func(string) { sought.Store(true) },
		WroteHeaders: func() { written.Store(true) },
	}))
	res, err := c.transport.RoundTrip(req)
	if err != nil {
		return reply{cut: c.harmless(k, err), unsent: sought.Load() && !written.Load() || neverSent(err)}
	}
	defer res.Body.Close()
	r = reply{status: res.StatusCode, header: res.Header}
	most := k.most
	if res.StatusCode/100 != 2 {
		most = maxRefusal
	}
	if res.ContentLength > most {
		return tooLong(k, r)
	}
	r.body, err = io.ReadAll(io.LimitReader(res.Body, most+1))
	switch {
	case err != nil:
		r.cut = c.harmless(k, err)
	case int64(len(r.body)) > most:
		return tooLong(k, r)
	case res.ContentLength >= 0 && int64(len(r.body)) != res.ContentLength:
		r.cut = errors.New(textCutAnswer)
	}
	return r
}

// maxRefusal is the largest body of a refusal, in bytes.
const maxRefusal = 1 << 20

// tooLong handles an answer that was not read to its end. For an attachment, this is a separate error; for a refusal,
// the status is enough.
func tooLong(k *call, r reply) reply {
	if r.status/100 != 2 {
		r.body = nil
		return r
	}
	if k.address != "" {
		r.err = fmt.Errorf("%w: %d bytes", ErrTooLarge, k.most)
		return r
	}
	r.body, r.cut = nil, fmt.Errorf(textLongAnswer, k.most)
	return r
}

func (c *Client) request(ctx context.Context, k *call) (*http.Request, error) {
	to := k.address
	if to == "" {
		to = c.base + k.path
	}
	req, err := http.NewRequestWithContext(ctx, k.method, to, bytes.NewReader(k.body))
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrInvalid, textNoID) // err would show the path
	}
	if k.kind != "" {
		req.Header.Set("Content-Type", k.kind)
	}
	req.Header.Set("User-Agent", c.agent)
	switch {
	case k.address != "":
		// The size limit counts the bytes on the wire, so they must not be compressed.
		req.Header.Set("Accept-Encoding", "identity")
	case !k.bare:
		req.Header.Set("Authorization", "Bot "+c.token())
	}
	return req, nil
}

// neverSent reports whether an error occurred before anything could be sent.
func neverSent(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") {
		return true
	}
	var name *net.DNSError
	var cert *tls.CertificateVerificationError
	return errors.As(err, &name) || errors.As(err, &cert)
}

// harmless makes a transport's error safe to log. A *url.Error shows the address, which contains an interaction's
// token. A try's own timeout gets its own wording, because it is not the caller's.
func (c *Client) harmless(k *call, err error) error {
	for u := (*url.Error)(nil); errors.As(err, &u) && u.Err != nil; {
		err = u.Err
	}
	switch text := err.Error(); {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf(textNoAnswer, k.time)
	case errors.Is(err, context.Canceled):
		return errors.New(textNoCause)
	case c.hiding(k)(text) != text:
		return errors.New(textNoCause)
	}
	if words := web.Trouble(err); words != "" {
		return troubleError{err, words}
	}
	return err
}

// troubleError is a network error with a fixed text.
type troubleError struct {
	error
	words string
}

func (e troubleError) Error() string { return e.words }

// Unwrap returns the network's own error.
func (e troubleError) Unwrap() error { return e.error }

// hiding returns a function that removes a call's secrets from a text.
func (c *Client) hiding(k *call) func(string) string {
	secrets := []string{c.token(), k.secret, url.PathEscape(k.secret)}
	return func(s string) string {
		for _, secret := range secrets {
			if secret != "" {
				s = strings.ReplaceAll(s, secret, "[hidden]")
			}
		}
		return s
	}
}

// Download reads an attachment, only from Discord's own addresses (in tests from the configured base's) and without
// following redirects. More than most bytes cause ErrTooLarge, an expired address ErrExpired, and a foreign one
// ErrInvalid. The token is not sent.
func (c *Client) Download(ctx context.Context, address string, most int64) ([]byte, error) {
	k := newCall("download the attachment", "GET {attachment}")
	if !c.ours(address) {
		k.fault = fmt.Errorf("%w: %s", ErrInvalid, textForeign)
	}
	var data []byte
	k.address, k.most, k.again, k.time = address, max(most, 0), true, fileTime
	k.decode = func(got []byte) error {
		data = got
		return nil
	}
	if err := c.do(ctx, k); err != nil {
		return nil, err
	}
	return data, nil
}

// refusedFile is the error of a refused download. Discord's signed addresses expire after
// some hours.
func refusedFile(status int) error {
	switch status {
	case 401, 403, 404, 410:
		return &APIError{Status: status, Message: textLinkGone, kind: ErrExpired}
	}
	return &APIError{Status: status, Message: textNoFileThere, kind: ErrInvalid}
}

// ours reports whether an attachment may be downloaded from an address.
func (c *Client) ours(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.User != nil || u.Opaque != "" {
		return false
	}
	if c.files != "" && strings.HasPrefix(address, c.files) {
		return true
	}
	return u.Scheme == "https" && (u.Host == "cdn.discordapp.com" || u.Host == "media.discordapp.net")
}

// keptNonces is the number of remembered nonces. Discord delivers each message within seconds.
const keptNonces = 512

// nonces are the nonces of the latest messages.
type nonces struct {
	mu   sync.Mutex
	list []string
}

func (n *nonces) add(nonce string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.list = append(n.list, nonce); len(n.list) > keptNonces {
		n.list = slices.Delete(n.list, 0, len(n.list)-keptNonces)
	}
}

// Sent reports whether one of the latest messages of this client had a nonce.
func (c *Client) Sent(nonce string) bool {
	c.nonces.mu.Lock()
	defer c.nonces.mu.Unlock()
	return slices.Contains(c.nonces.list, nonce)
}
