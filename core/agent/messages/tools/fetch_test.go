package tools

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"ollimbot/core/base/testkit"
)

// web sets up one server on loopback that answers for every host.
func (g *ground) web(handler http.HandlerFunc) {
	g.t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	g.t.Cleanup(server.Close)
	g.box.web = client(func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	})
	config := server.Client().Transport.(*http.Transport).TLSClientConfig
	g.box.web.Transport.(*http.Transport).TLSClientConfig = config
}

func TestAPageIsFetchedAsText(t *testing.T) {
	testkit.Alone(t)
	g := newGround(t, nil)
	const html, text, tag = "text/html", "text/plain", "<title>Plums</title><h1>Fruit</h1><p>A <b>plum</b> is <a href='/fig'>no fig</a>.<script>evil()</script>"
	pages := map[string]struct{ kind, page, want string }{
		"page":        {html + "; charset=utf-8", tag, "# Plums\n\n# Fruit\n\nA plum is no fig (https://example.com/fig).\n"},
		"plain":       {text, "<b>a plum\x1b[31m", "<b>a plum"},
		"latin":       {html + "; charset=ISO-8859-1", "<p>f\xfcr 10\x80", "für 10€\n"},
		"greek":       {html, "<meta charset='iso-8859-7'><p>\xe1\xe2", "αβ\n"},
		"japanese":    {text + "; charset=Shift_JIS", "\x93\xfa\x96{", "日本"},
		"escaped":     {text + "; charset=ISO-2022-JP", "\x1b$BF|K\\\x1b(B", "日本"}, // every byte of it is ASCII
		"wide":        {text, "\xff\xfea\x00\xe9\x00", "aé"},
		"misdeclared": {text + "; charset=windows-1252", "é", "é"},
		"given-up":    {text + "; charset=ISO-2022-KR", "plums", "plums"}, // browsers no longer support it
		"json":        {"application/json", `{"a": 1}`, `{"a": 1}`},
		"empty":       {html, "<body><script>draw()</script>", textNoWords},
		"pdf":         {"", "%PDF-1.7 x", "pdf follows as a document."},
		"png":         {"image/png", string(drawn(t, 4, 4)), "png follows as an image."},
		"zip":         {"application/zip", "PK", "Error: The page is not text (application/zip, 2 bytes)."},
		"gone":        {"", "no plums", "(The server answered 404 Not Found.)\nno plums"},
		"long":        {text, strings.Repeat("é", 50_000) + "end", "…é\n(There is more: continue with offset 30720.)\n"},
		"endless":     {text, strings.Repeat("plum ", 10_000), "…"},
	}
	var asked []string
	g.web(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Host+r.URL.String())
		name := strings.TrimPrefix(r.URL.Path, "/")
		if p := pages[name]; p.kind != "" {
			w.Header().Set("Content-Type", p.kind)
		}
		if name == "gone" {
			w.WriteHeader(http.StatusNotFound)
		}
		for again := true; again && r.Context().Err() == nil; again = name == "endless" {
			if _, err := io.WriteString(w, pages[name].page); err != nil {
				return
			}
		}
	})
	fetch := func(address string, offset int) Result {
		fields := with{"url": address}
		if offset > 0 {
			fields["offset"] = offset
		}
		return g.call("WebFetch", fields)
	}
	for name, p := range pages {
		r := fetch("https://example.com/"+name, 0)
		if wrong := name == "zip" || name == "gone"; !fits(r.Text, p.want) || r.IsError != wrong || !utf8.ValidString(r.Text) {
			t.Errorf("%s: %.200q, want %q, error %v", name, r.Text, p.want, r.IsError)
		}
		if len(r.Documents) != map[string]int{"pdf": 1}[name] || len(r.Images) != map[string]int{"png": 1}[name] || name == "pdf" && r.Documents[0].Title != "pdf" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	for _, c := range []struct {
		address string
		offset  int
		want    string
	}{
		{"https://example.com/page#x", 0, pages["page"].want},
		{"http://example.com/plain", 0, "<b>a plum"},
		{"http://example.com:80/plain", 0, "<b>a plum"},
		{"https://example.com/long", 30720, "é…éend"},
		{"https://example.com/long", 99_999, fmt.Sprintf(textPageEnd, 50_003)},
		{"https://example.com/endless", maxPage - 100, "…was cut.)\n"},
	} {
		if r := fetch(c.address, c.offset); !fits(r.Text, c.want) {
			t.Errorf("%s from %d on: …%q, want %q", c.address, c.offset, r.Text[max(0, len(r.Text)-100):], c.want)
		}
	}
	if !strings.HasPrefix(asked[0], "example.com/") {
		t.Errorf("asked for %v", asked)
	}
}

func TestAPageThatHasMoved(t *testing.T) {
	testkit.Alone(t)
	g := newGround(t, nil)
	hops := 0
	g.web(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "example.com" {
			t.Errorf("%s was asked", r.Host)
		}
		hops++
		to := map[string]string{
			"/near": "/there", "/http": "http://example.com/there", "/far": "https://example.org/there?a=b", "/inside": "http://127.0.0.1/x", "/meta": "http://169.254.169.254/latest",
			"/port": "https://example.com:8443/x", "/file": "file:///etc/passwd", "/login": "https://a:b@example.com/", "/loop": "/loop", "/odd": "ht\x7ftp://",
		}[r.URL.Path]
		if to == "" {
			_, _ = fmt.Fprint(w, "a plum")
			return
		}
		w.Header()["Location"] = []string{to}
		w.WriteHeader(http.StatusFound)
	})
	for path, want := range map[string]string{
		"/near": "a plum", "/http": "a plum", "/far": "has moved to https://example.org/there?a=b. Call", "/inside": "has moved to http", "/meta": "has moved to http",
		"/port": "has moved to https://example.com:8443/x", "/file": "has moved to", "/login": "has moved to", "/loop": "has moved to",
	} {
		if got := g.does("WebFetch", with{"url": "https://example.com" + path}); !strings.Contains(got, want) || strings.Contains(got, "root:") {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if hops > 30 {
		t.Errorf("%d requests", hops)
	}
}

func TestOnlyThePublicWebIsFetched(t *testing.T) {
	testkit.Alone(t)
	g := newGround(t, nil)
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was asked") }))
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	testkit.Must(t, err)
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "127.1.2.3", "169.254.169.254", "10.0.0.1", "[fe80::1]", "100.100.100.200", "168.63.129.16"} {
		g.refused("WebFetch", with{"url": "https://" + host + ":" + port + "/"}, "Only the public web is fetched.")
	}
	for address, says := range map[string]string{
		"file:///etc/passwd": "not a web address", "ftp://example.com/": "not a web address", "example.com": "not a web address", "https://": "not a web address",
		"javascript:alert(1)": "not a web address", "https://user:pass@example.com/": "without a login", "http://example.com:8080/": "by https", "https://:443/": "not a web address",
		"https://example.com/" + strings.Repeat("x", 3000): "longer than", "https://exa mple.com/": "not a web address", "http://%31%32%37.0.0.1:8080/": "",
	} {
		g.refused("WebFetch", with{"url": address}, says)
	}
}

func TestASlowServerIsGivenUp(t *testing.T) {
	testkit.Alone(t)
	g := newGround(t, nil)
	g.web(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	g.box.web.Timeout = 100 * time.Millisecond
	g.refused("WebFetch", with{"url": "https://example.com/"}, "example.com did not answer within")
	g.box.web.Timeout = time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if r := g.run(ctx, "WebFetch", []byte(`{"url":"https://example.com/"}`)); !r.IsError || !strings.Contains(r.Text, "interrupted") {
		t.Errorf("%q", r.Text)
	}
}

func TestAPageReadsAsItLooks(t *testing.T) {
	base, err := url.Parse("https://example.com/a/")
	testkit.Must(t, err)
	for page, want := range map[string]string{
		"<ul><li>one<li><p>two</p><li>three <b>bold</b>!</ul>after": "- one\n- two\n\n- three bold!\n\nafter\n",
		"<table><tr><th>a<th>b<tr><td>1<td>2</table>":               "a | b\n1 | 2\n",
		"a<br>b<hr>c":             "a\nb\n\nc\n",
		"<pre>x\n  y\n</pre><p>z": "x\n  y\n\nz\n",
		"<p>a <span hidden>marigold</span><span style='Display: NONE'>marigold</span>b":                 "a b\n",
		"<nav>marigold</nav><template>marigold</template><noscript>marigold</noscript>a<!--marigold-->": "a\n",
		"<a href='b'>here</a> <a href='#x'>top</a> <a href='javascript:x'>run</a><a>no</a>":             "here (https://example.com/a/b) top runno\n",
		"<a href='https://x.org/'>https://x.org/</a><img alt='a cat' src=x>":                            "https://x.org/a cat\n",
		"<base href='https://other.org/'><a href='b'>x</a>":                                             "x (https://other.org/b)\n",
		"&lt;b&gt; &amp; &eacute;":            "<b> & é\n",
		strings.Repeat("<div>", 400) + "deep": "deep\n",
		"":                                    "\n",
	} {
		if got, ok := markdown(page, base); got != want || !ok {
			t.Errorf("%s: %q, want %q", page, got, want)
		}
	}
}

// For any page, reading ends in time, the text is hardly longer than the page with its links, and
// shows nothing hidden.
func FuzzAPageIsText(f *testing.F) {
	for _, seed := range []string{"<p>a", "<ul><li><table><td>x", "<a href=//x><a href=y>z", strings.Repeat("<div>", 1000) + "x", "<pre>\n\n x</pre>", "<svg><p>x", "<base href=%zz>", "\x00\xff<"} {
		f.Add(seed)
	}
	base, _ := url.Parse("https://example.com/")
	f.Fuzz(func(t *testing.T, page string) {
		got, _ := markdown("<script>marigold</script>"+page, base)
		if !strings.Contains(page, "marigold") && strings.Contains(got, "marigold") {
			t.Errorf("%q shows a script", page)
		}
		if links := strings.Count(page, "<"); len(got) > 10*len(page)+400*links+100 {
			t.Errorf("%d bytes become %d", len(page), len(got))
		}
		if strings.Contains(got, "\n\n\n") && !strings.Contains(page, "pre") {
			t.Errorf("%q has empty paragraphs: %q", page, got)
		}
	})
}

func BenchmarkAPage(b *testing.B) {
	page := strings.Repeat("<div class=x><h2>Plums</h2><p>A plum <a href='/x'>is</a> a fruit.</p><ul><li>one<li>two</ul></div>\n", 5000)
	base, _ := url.Parse("https://example.com/")
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		markdown(page, base)
	}
}
