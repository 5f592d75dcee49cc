package provider

import (
	"cmp"
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

// Found is a server on this machine that needs only the user's consent.
type Found struct {
	Address string
	Names   []string // of its models
}

// Ollama looks for Ollama on this machine, at the address in OLLAMA_HOST or else at its default
// address. It returns nil if nothing answers.
func Ollama(ctx context.Context, host string) *Found {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	address := strings.TrimRight(cmp.Or(host, "127.0.0.1:11434"), "/")
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	if p := (Provider{BaseURL: address}); !p.private() || !p.nearby() {
		return nil
	}
	var said struct {
		Models []struct {
			Name string `json:"name"`
		} `json:"models"`
	}
	if err := get(ctx, Provider{BaseURL: address}, "/api/tags", &said); err != nil {
		return nil
	}
	f := &Found{Address: address}
	for _, m := range said.Models {
		if name := clean.Line(m.Name); name == m.Name && name != "" && !strings.ContainsAny(name, " \"'#") {
			f.Names = append(f.Names, name)
		}
	}
	return f
}

// YAML returns the server's entry for providers.yaml.
func (f Found) YAML() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# Servers of the Messages API. All keys: ollim-bot help connect-a-model\nlocal:\n  base-url: %s\n  models:\n", f.Address)
	for _, name := range f.Names {
		fmt.Fprintf(&b, "    - name: %q\n", name)
	}
	return []byte(b.String())
}

// Check checks whether the server is reachable and accepts the key. A server that only answers "not
// found" passes. The error is a sentence.
func (p Provider) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return get(ctx, p, "/v1/models", nil)
}

// get reads a page of the server. If to is nil, only a refused key is an error.
func get(ctx context.Context, p Provider, path string, to any) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, p.BaseURL+path, nil)
	if err != nil {
		return fmt.Errorf("ask %s: %w", p.Name, err)
	}
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
	if err := json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(to); err != nil {
		return fmt.Errorf(textNotReached, p.BaseURL, err)
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
	return web.Loopback(u.Hostname()) || strings.HasSuffix(u.Hostname(), ".local") || ip != nil && ip.IsPrivate()
}

// private reports whether a key can be sent there without being readable on the way.
func (p Provider) private() bool {
	u, err := url.Parse(p.BaseURL)
	if err != nil {
		return false
	}
	return u.Scheme == "https" || web.Loopback(u.Hostname())
}
