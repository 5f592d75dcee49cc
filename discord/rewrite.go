package discord

import (
	"net/http"
	"net/url"
)

// rewrite sends requests for Discord to another host, under the same path.
type rewrite struct {
	base string
	next http.RoundTripper
}

// RoundTrip is part of http.RoundTripper.
func (r *rewrite) RoundTrip(in *http.Request) (*http.Response, error) {
	to, err := url.Parse(r.base)
	if err != nil {
		return nil, err
	}
	out := in.Clone(in.Context())
	out.URL.Scheme, out.URL.Host, out.Host = to.Scheme, to.Host, to.Host
	return r.next.RoundTrip(out)
}
