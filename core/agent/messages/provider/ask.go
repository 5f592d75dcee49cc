package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"ollimbot/core/base/web"

	"ollimbot/core/base/clean"
)

// Check checks whether the server is reachable and accepts the key. A server that only answers "not
// found" passes. The error is a sentence.
func (p Provider) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return get(ctx, p, "/v1/models", nil)
}

// maxPage is the longest answer that is read of a server, in bytes: OpenRouter's list of models has about 1 MB.
const maxPage = 8 << 20

// get reads a page of the server. If to is nil, only a refused key is an error.
func get(ctx context.Context, p Provider, path string, to any) error {
	return ask(ctx, p, path, nil, to)
}

// ask reads a page of the server; body is posted, unless it is nil.
func ask(ctx context.Context, p Provider, path string, body []byte, to any) error {
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	q, err := http.NewRequestWithContext(ctx, method, p.BaseURL+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("ask %s: %w", p.Name, err)
	}
	q.Header.Set("content-type", "application/json")
	p.Authorize(q.Header)
	client := http.Client{CheckRedirect: CheckRedirect}
	defer client.CloseIdleConnections()
	res, err := client.Do(q)
	if err != nil {
		return fmt.Errorf(textNotReached, p.BaseURL, clean.Cut(clean.Line(err.Error()), 200))
	}
	defer func() { _ = res.Body.Close() }() // only read
	switch {
	case res.StatusCode == http.StatusUnauthorized, res.StatusCode == http.StatusForbidden:
		return fmt.Errorf(textRefused, p.BaseURL, res.StatusCode)
	case to == nil:
		return nil
	case res.StatusCode != http.StatusOK:
		return fmt.Errorf(textNotReached, p.BaseURL, res.Status)
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, maxPage+1))
	switch {
	case err != nil:
		return fmt.Errorf(textNotReached, p.BaseURL, clean.Cut(clean.Line(err.Error()), 200))
	case len(data) > maxPage:
		return fmt.Errorf(textEndless, p.BaseURL, maxPage>>20)
	case json.Unmarshal(data, to) != nil:
		return fmt.Errorf(textNoList, p.BaseURL, clean.Cut(clean.Line(string(data)), 40))
	}
	return nil
}

// CheckRedirect is for an http.Client. It refuses redirects to another server, which must not get
// the key.
func CheckRedirect(next *http.Request, via []*http.Request) error {
	first := via[0].URL
	if next.URL.Scheme != first.Scheme || next.URL.Host != first.Host || len(via) > 5 {
		return fmt.Errorf(textRedirect, first.Host, clean.Cut(clean.Line(next.URL.Host), 60))
	}
	return nil
}

// nearby reports whether the server is on this machine or in the user's network, where a
// model costs nothing.
func (p Provider) nearby() bool {
	u, err := url.Parse(p.BaseURL)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return web.Loopback(u.Hostname()) || strings.HasSuffix(u.Hostname(), ".local") || ip.IsPrivate()
}

// private reports whether a key can be sent there without being readable on the way.
func (p Provider) private() bool {
	u, err := url.Parse(p.BaseURL)
	if err != nil {
		return false
	}
	return u.Scheme == "https" || web.Loopback(u.Hostname())
}
