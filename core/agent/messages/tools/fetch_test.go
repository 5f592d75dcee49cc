package tools

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
)

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
}

func TestASlowServerIsGivenUp(t *testing.T) {
	testkit.Alone(t)
	g := newGround(t, nil)
	g.serve(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	g.box.web.Timeout = 100 * time.Millisecond
	g.refused("WebFetch", with{"url": "https://example.com/"}, "example.com did not answer within")
	g.box.web.Timeout = time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if r := g.run(ctx, "WebFetch", []byte(`{"url":"https://example.com/"}`)); !r.IsError || !strings.Contains(r.Text, "interrupted") {
		t.Errorf("%q", r.Text)
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
