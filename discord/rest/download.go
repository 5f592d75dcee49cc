package rest

import (
	"context"
	"fmt"
	"net/url"
	"strings"
)

// Download reads an attachment, from Discord's own addresses only (for tests,
// from the configured base's) and without following a redirect. More than max
// bytes is ErrTooLarge, whatever was claimed beforehand, an address whose time
// is over ErrExpired, a foreign one ErrInvalid. The token stays at home.
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

// refusedFile is the answer to a download that is none. Discord signs its
// addresses for some hours, and does not redirect.
func refusedFile(status int) error {
	switch status {
	case 401, 403, 404, 410:
		return &APIError{Status: status, Message: textLinkGone, kind: ErrExpired}
	}
	return &APIError{Status: status, Message: textNoFileThere, kind: ErrInvalid}
}

// ours reports whether an attachment may come from an address.
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
