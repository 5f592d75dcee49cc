package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
)

const (
	// fetchTime limits the time to fetch a page, maxPage the number of bytes read of a text page,
	// and maxPageText the number of bytes of its text that are shown at once.
	fetchTime   = 30 * time.Second
	maxPage     = 4 << 20
	maxPageText = 60 << 10
	maxHops     = 5
	maxURL      = 2000
)

// client returns a client that fetches pages from public addresses only, without cookies, logins or
// a proxy.
func client(dial dialFunc) *http.Client {
	return &http.Client{
		Timeout: fetchTime,
		Transport: &http.Transport{
			DialContext: dial, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: 20 * time.Second,
			MaxResponseHeaderBytes: 64 << 10, DisableKeepAlives: true,
		},
		// A redirect to another host requires a new call, so that the rules are applied to it.
		CheckRedirect: func(next *http.Request, via []*http.Request) error {
			if next.URL.Scheme == "http" {
				next.URL.Scheme = "https"
			}
			if len(via) >= maxHops || next.URL.Host != via[0].URL.Host || next.URL.Scheme != "https" || next.URL.User != nil {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}
}

// address parses the address in a call, which must be an https address.
func address(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case len(text) > maxURL:
		return nil, fmt.Errorf(textLongURL, maxURL)
	case err != nil || u.Host == "" || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New(textNoURL)
	case u.User != nil:
		return nil, errors.New(textUserURL)
	case u.Scheme == "http" && u.Port() != "" && u.Port() != "80":
		return nil, errors.New(textPlainURL)
	case u.Scheme == "http":
		u.Scheme, u.Host = "https", strings.TrimSuffix(u.Host, ":80")
	}
	u.Fragment = ""
	return u, nil
}

func (b *Box) fetch(ctx context.Context, c call) (Result, error) {
	u, err := address(c.Text("url"))
	if err != nil {
		return Result{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return Result{}, errors.New(textNoURL)
	}
	req.Header.Set("User-Agent", "ollim-bot (a person's assistant)")
	req.Header.Set("Accept", "text/html, text/*;q=0.9, application/json;q=0.9, image/*;q=0.8, application/pdf;q=0.8, */*;q=0.1")
	resp, err := b.web.Do(req)
	if err != nil {
		return Result{}, whyNot(u, err)
	}
	defer resp.Body.Close()
	if next := resp.Header.Get("Location"); next != "" && resp.StatusCode/100 == 3 {
		if to, err := resp.Request.URL.Parse(next); err == nil {
			return Result{Text: fmt.Sprintf(textElsewhere, clean.Cut(clean.Line(to.String()), maxURL))}, nil
		}
	}
	limit := maxPage
	if kind := resp.Header.Get("Content-Type"); strings.HasPrefix(kind, "application/pdf") || strings.HasPrefix(kind, "image/") {
		limit = maxPDF
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, int64(limit)+1))
	cut := len(data) > limit
	if err != nil && len(data) == 0 {
		return Result{}, whyNot(u, err)
	}
	data = data[:min(len(data), limit)]
	r, err := page(resp, data, cut, c.Number("offset"))
	if err == nil && resp.StatusCode/100 != 2 {
		r.Text, r.IsError = fmt.Sprintf(textStatus, resp.StatusCode, http.StatusText(resp.StatusCode))+r.Text, true
	}
	return r, err
}

// whyNot explains why a page could not be fetched, without the system's details about names and
// sockets.
func whyNot(u *url.URL, err error) error {
	host := clean.Cut(clean.Line(u.Hostname()), maxShown)
	var closed closedNetError
	switch {
	case errors.As(err, &closed):
		return closed
	case errors.Is(err, context.Canceled):
		return errors.New(textInterrupted)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf(textSlow, host, words.Long(fetchTime))
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	return fmt.Errorf(textUnreached, host, clean.Cut(clean.Line(err.Error()), maxShown))
}

// page renders a response for the model.
func page(resp *http.Response, data []byte, cut bool, offset int) (Result, error) {
	declared := resp.Header.Get("Content-Type")
	kind, _, err := mime.ParseMediaType(declared)
	if err != nil || kind == "application/octet-stream" {
		kind, _, _ = mime.ParseMediaType(http.DetectContentType(data)) // DetectContentType returns valid types only
	}
	name := path.Base(resp.Request.URL.Path)
	switch {
	case kind == "application/pdf" && (cut || len(data) > maxPDF):
		return Result{}, fmt.Errorf(textLargePDF, name, words.Bytes(maxPDF))
	case kind == "application/pdf":
		return Result{Text: fmt.Sprintf(textDocument, name), Documents: []Document{{Title: name, MediaType: kind, Data: data}}}, nil
	case strings.HasPrefix(kind, "image/") && kind != "image/svg+xml":
		return shownPicture(name, data)
	case !readable(kind):
		return Result{}, fmt.Errorf(textNoText, clean.Cut(clean.Line(kind), maxShown), words.Bytes(int64(len(data))))
	}
	text := decoded(data, declared)
	if kind == "text/html" || kind == "application/xhtml+xml" {
		var ok bool
		if text, ok = markdown(text, resp.Request.URL); !ok {
			return Result{}, errors.New(textTangled)
		}
	}
	return Result{Text: excerpt(clean.Text(text), offset, cut)}, nil
}

func readable(kind string) bool {
	if strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") {
		return true
	}
	switch kind {
	case "application/json", "application/xml", "application/javascript", "application/yaml", "application/x-ndjson":
		return true
	}
	return false
}

// decoded returns text as UTF-8, decoded as browsers do. Text that is already UTF-8 is kept,
// whatever its server declares.
func decoded(data []byte, declared string) string {
	from, name, _ := charset.DetermineEncoding(data, declared)
	if utf8.Valid(data) && name != "iso-2022-jp" { // iso-2022-jp consists of ASCII bytes
		return string(data)
	}
	text, err := from.NewDecoder().Bytes(data)
	if err != nil {
		text = data
	}
	return strings.ToValidUTF8(string(text), "\ufffd")
}

// excerpt returns the part of a text that fits, starting at a character, and a note about the rest.
func excerpt(text string, offset int, cut bool) string {
	runes := 0
	from := len(text)
	for at := range text {
		if runes == offset {
			from = at
			break
		}
		runes++
	}
	if strings.TrimSpace(text) == "" {
		return textNoWords
	}
	if from == len(text) {
		return fmt.Sprintf(textPageEnd, utf8.RuneCountInString(text))
	}
	part := clean.Head(text[from:], maxPageText)
	switch {
	case len(part) < len(text)-from:
		part += fmt.Sprintf(textMorePage, offset+utf8.RuneCountInString(part))
	case cut:
		part += fmt.Sprintf(textPageCut, words.Bytes(maxPage))
	}
	return part
}

// closedNetError means that a name resolves to an address that must not be fetched.
type closedNetError struct{ addr string }

func (e closedNetError) Error() string { return fmt.Sprintf(textClosedNet, e.addr) }

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// dialer connects to open addresses only. It checks the address that it connects to, after name
// resolution, so a name that resolves differently the second time gains nothing.
func dialer(open func(netip.Addr) bool) dialFunc {
	d := &net.Dialer{Timeout: 10 * time.Second, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || !open(at.Addr()) {
			return closedNetError{address}
		}
		return nil
	}}
	return d.DialContext
}

// searchUses is how often a provider may search for one query.
const searchUses = 8

// Query is a search of the web.
type Query struct {
	Text             string
	Allowed, Blocked []string // allow only these domains, or block these; one of the two is empty
}

// Definition returns the provider's server tool for this query, in a version such as
// "web_search_20250305".
func (q Query) Definition(version string) json.RawMessage {
	data, err := json.Marshal(struct {
		Type    string   `json:"type"`
		Name    string   `json:"name"`
		MaxUses int      `json:"max_uses"`
		Allowed []string `json:"allowed_domains,omitempty"`
		Blocked []string `json:"blocked_domains,omitempty"`
	}{version, "web_search", searchUses, q.Allowed, q.Blocked})
	if err != nil { // strings and a number can always be encoded
		return nil
	}
	return data
}

func (b *Box) search(ctx context.Context, c call) (Result, error) {
	q := Query{Text: c.Text("query"), Allowed: c.texts("allowed_domains"), Blocked: c.texts("blocked_domains")}
	if len(q.Allowed) > 0 && len(q.Blocked) > 0 {
		return Result{}, errors.New(textTwoLists)
	}
	return b.o.Search(ctx, q), nil
}

// texts returns the strings of an array.
func (c call) texts(key string) []string {
	all, _ := c.Arguments[key].([]any)
	var list []string
	for _, one := range all {
		if text, ok := one.(string); ok && text != "" {
			list = append(list, text)
		}
	}
	return list
}
