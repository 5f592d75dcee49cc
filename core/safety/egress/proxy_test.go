package egress

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/yamux"
	socks "golang.org/x/net/proxy"

	"ollimbot/core/base/hosts"
	"ollimbot/core/base/testkit"
)

// end is the inside of a sandbox, as set up by Run: its connections share one link.
type end struct {
	session *yamux.Session
	list    hosts.List
}

func newEnd(t testing.TB, s *Server, list string) *end {
	t.Helper()
	l, err := hosts.Parse(list)
	testkit.Must(t, err)
	link, err := s.Pair(l)
	testkit.Must(t, err)
	return joined(t, link, l)
}

func joined(t testing.TB, link *os.File, l hosts.List) *end {
	t.Helper()
	conn, err := net.FileConn(link)
	testkit.Must(t, errors.Join(err, link.Close()))
	session, err := yamux.Client(conn, muxed())
	testkit.Must(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return &end{session, l}
}

func (e *end) Dial(string, string) (net.Conn, error) { return e.session.Open() }

func (e *end) client() *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy:             http.ProxyURL(&url.URL{Scheme: "http", Host: "proxy"}),
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return e.session.Open() },
		DisableKeepAlives: true,
	}}
}

// ask writes raw bytes and returns the whole answer.
func (e *end) ask(t testing.TB, text string) string {
	t.Helper()
	c, err := e.session.Open()
	testkit.Must(t, err)
	defer c.Close()
	_, err = io.WriteString(c, text)
	testkit.Must(t, err)
	testkit.Must(t, c.SetReadDeadline(time.Now().Add(10*time.Second)))
	all, _ := io.ReadAll(c)
	return string(all)
}

func newServer(t testing.TB) *Server {
	t.Helper()
	s := New(Options{Lookup: func(context.Context, string) ([]netip.Addr, error) { return nil, errors.New("no such host") }})
	t.Cleanup(s.Close)
	return s
}

func portOf(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}

func TestARequestPassesAsItIs(t *testing.T) {
	testkit.Alone(t)
	var got *http.Request
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Answer", "yes")
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write(bytes.ToUpper(body))
	}))
	defer web.Close()
	at := "localhost:" + portOf(web.Listener.Addr().String())
	e := newEnd(t, newServer(t), at)
	r, err := http.NewRequest(http.MethodPut, "http://"+at+"/a%2Fb?x=1;y=2&&z", strings.NewReader("pear"))
	testkit.Must(t, err)
	r.Header.Set("Proxy-Authorization", "Basic x")
	answer, err := e.client().Do(r)
	testkit.Must(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	testkit.Must(t, err)
	if answer.StatusCode != http.StatusTeapot || answer.Header.Get("X-Answer") != "yes" || string(body) != "PEAR" {
		t.Errorf("%s %v %s", answer.Status, answer.Header, body)
	}
	if got.RequestURI != "/a%2Fb?x=1;y=2&&z" || got.Host != at || got.Header.Get("Proxy-Authorization") != "" || got.Header.Get("X-Forwarded-For") != "" {
		t.Errorf("the server was asked for %s of %s, %v", got.RequestURI, got.Host, got.Header)
	}
}

// The name in Host is ignored if the request names another one: each line of testdata/requests.txt is an answer and the request, in
// which ⏎ is a line end.
func TestAHostHeaderLeadsNowhere(t *testing.T) {
	e := newEnd(t, newServer(t), "good.example.org")
	data, err := os.ReadFile("testdata/requests.txt")
	testkit.Must(t, err)
	for line := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n") {
		wants, text, _ := strings.Cut(line, ": ")
		request, err := strconv.Unquote(`"` + strings.ReplaceAll(text, "⏎", `\r\n`) + `"`)
		testkit.Must(t, err)
		c, err := e.session.Open()
		testkit.Must(t, err)
		_, err = io.WriteString(c, request)
		testkit.Must(t, err)
		testkit.Must(t, c.SetReadDeadline(time.Now().Add(10*time.Second)))
		answer, err := bufio.NewReader(c).ReadString('\n')
		if err != nil || !strings.Contains(answer, wants) {
			t.Errorf("%s: %q, %v", line, answer, err)
		}
		testkit.Must(t, c.Close())
	}
}

func TestARefusalIsOneSentenceThatNamesHostAndSetting(t *testing.T) {
	e := newEnd(t, newServer(t), "good.example.org")
	r, err := e.client().Get("http://evil.example.org/")
	testkit.Must(t, err)
	defer r.Body.Close()
	text, _ := io.ReadAll(r.Body)
	if r.StatusCode != http.StatusForbidden || strings.Count(string(text), "\n") != 1 ||
		!strings.Contains(string(text), "evil.example.org:80 is not allowed") || !strings.Contains(string(text), "sandbox_network") {
		t.Errorf("%s: %q", r.Status, text)
	}
}

func TestSocksConnectsAndRefuses(t *testing.T) {
	testkit.Alone(t)
	echo, err := net.Listen("tcp4", "127.0.0.1:0")
	testkit.Must(t, err)
	defer echo.Close()
	go func() {
		for {
			c, err := echo.Accept()
			if err != nil {
				return
			}
			go func() { // everything sent is returned once the sender has ended
				all, _ := io.ReadAll(c)
				_, _ = c.Write(all)
				_ = c.Close()
			}()
		}
	}()
	port := portOf(echo.Addr().String())
	e := newEnd(t, newServer(t), "localhost:"+port+",good.example.org")
	client, err := socks.SOCKS5("tcp", "proxy", nil, e)
	testkit.Must(t, err)
	c, err := client.Dial("tcp", "localhost:"+port)
	testkit.Must(t, err)
	_, err = io.WriteString(c, "pear")
	testkit.Must(t, err)
	stream, ok := c.(interface{ Close() error })
	if !ok {
		t.Fatal(c)
	}
	testkit.Must(t, stream.Close()) // on a stream this only ends writing
	if all, err := io.ReadAll(c); string(all) != "pear" || err != nil {
		t.Errorf("%q was returned, %v", all, err)
	}
	for target, wants := range map[string]string{
		"127.0.0.1:" + port: "not allowed by ruleset", "evil.example.org:80": "not allowed by ruleset", "[::1]:" + port: "not allowed by ruleset",
		"good.example.org:80": "host unreachable",
	} {
		if _, err := client.Dial("tcp", target); err == nil || !strings.Contains(err.Error(), wants) {
			t.Errorf("%s: %v", target, err)
		}
	}
	for request, wants := range map[string]string{
		"\x05\x01\x02": "\x05\xff", // it requires a login
		"\x05\x01\x00\x05\x02\x00\x01\x7f\x00\x00\x01\x00\x50": "\x05\x00\x05\x07\x00\x01\x00\x00\x00\x00\x00\x00", // to be connected to
		"\x05\x01\x00\x05\x03\x00\x01\x7f\x00\x00\x01\x00\x50": "\x05\x00\x05\x07\x00\x01\x00\x00\x00\x00\x00\x00", // UDP
		"\x05\x01\x00\x05\x01\x00\x09":                         "\x05\x00\x05\x08\x00\x01\x00\x00\x00\x00\x00\x00", // an unknown kind of address
	} {
		if got := e.ask(t, request); got != wants {
			t.Errorf("%q: %q", request, got)
		}
	}
}

func TestAPassIsGoodForItsListOnly(t *testing.T) {
	testkit.Alone(t)
	s := newServer(t)
	list, err := hosts.Parse("good.example.org,localhost:80")
	testkit.Must(t, err)
	p, err := s.Pass(list)
	testkit.Must(t, err)
	link, err := Join(p)
	testkit.Must(t, err)
	e := joined(t, link, list)
	if text := e.ask(t, "CONNECT evil.example.org:443 HTTP/1.0\r\n\r\n"); !strings.Contains(text, "403") {
		t.Errorf("a link by a pass answers %q", text)
	}
	mac, _, _ := strings.Cut(p.Line, " ")
	for _, line := range []string{
		"", " ", mac, mac + " ", mac + " good.example.org,localhost:81", mac + " evil.example.org", "00" + p.Line[2:] + "x", strings.ToUpper(mac) + " " + list.String(),
		strings.Repeat("a", 2*maxPass), New(Options{}).sign(list.String()) + " " + list.String(),
	} {
		if link, err := Join(Pass{p.Address, line}); err == nil {
			t.Errorf("%.80q is taken", line)
			_ = link.Close()
		}
	}
	s.Close()
	if _, err := Join(p); err == nil {
		t.Error("a pass outlives its server")
	}
	if _, err := s.Pair(list); err == nil {
		t.Error("a closed server makes a link")
	}
}

func TestCloseEndsWhatIsOpen(t *testing.T) {
	testkit.Alone(t)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	testkit.Must(t, err)
	defer l.Close()
	at := "localhost:" + portOf(l.Addr().String())
	s := New(Options{})
	e := newEnd(t, s, at)
	client, err := socks.SOCKS5("tcp", "proxy", nil, e)
	testkit.Must(t, err)
	c, err := client.Dial("tcp", at)
	testkit.Must(t, err)
	server, err := l.Accept()
	testkit.Must(t, err)
	defer server.Close()
	request, err := e.session.Open()
	testkit.Must(t, err)
	_, err = io.WriteString(request, "GET http://"+at+"/ HTTP/1.1\r\nHost: x\r\n\r\n")
	testkit.Must(t, err)
	waiting, err := l.Accept() // the request is being answered
	testkit.Must(t, err)
	defer waiting.Close()
	half, err := e.session.Open() // a client that sends nothing
	testkit.Must(t, err)
	s.Close()
	for _, c := range []net.Conn{c, request, half, server} {
		testkit.Must(t, c.SetReadDeadline(time.Now().Add(10*time.Second)))
		if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error("a connection is open")
		}
	}
}

// lines counts the lines of a log.
type lines struct {
	mu   sync.Mutex
	list []string
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, string(p))
	return len(p), nil
}

func TestRefusalsDoNotFloodTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &lines{}
		log := newRefusalLog(slog.New(slog.NewTextHandler(out, nil)))
		tell := log.perSandbox()
		for range 50 {
			tell(&refusal{host: "evil.example.org", port: 443})
		}
		if len(out.list) != 1 || !strings.Contains(out.list[0], "host=evil.example.org:443 setting=sandbox_network") {
			t.Errorf("one host in one sandbox: %q", out.list)
		}
		for range 50 {
			tell := log.perSandbox()
			for i := range 50 {
				tell(&refusal{host: fmt.Sprintf("a%d.example.org", i), port: 443})
			}
		}
		if len(out.list) != logBurst {
			t.Errorf("many hosts in many sandboxes: %d lines", len(out.list))
		}
		time.Sleep(time.Hour)
		log.perSandbox()(&refusal{host: "evil\nlevel=ERROR.example.org", port: 443, addr: netip.MustParseAddr("10.0.0.1")})
		last := out.list[len(out.list)-1]
		if !strings.Contains(last, fmt.Sprintf("more_not_shown=%d", 1+2500-logBurst)) || !strings.Contains(last, "leads_to=10.0.0.1") || strings.Contains(last, `\n`) {
			t.Errorf("later: %s", last)
		}
	})
}

func TestARefusalThatTheLogLeftOutIsCountedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &lines{}
		log := newRefusalLog(slog.New(slog.NewTextHandler(out, nil)))
		for range logBurst + 3 {
			log.perSandbox()(&refusal{host: "evil.example.org", port: 443})
		}
		for _, want := range []bool{true, false} {
			time.Sleep(logEvery)
			log.perSandbox()(&refusal{host: "evil.example.org", port: 443})
			if last := out.list[len(out.list)-1]; strings.Contains(last, "more_not_shown=3") != want || strings.Contains(last, "more_not_shown") != want {
				t.Errorf("three were left out, and the next line says so: %t; it is %s", want, last)
			}
		}
	})
}

func FuzzProxy(f *testing.F) {
	f.Add([]byte("CONNECT good.example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n"))
	f.Add([]byte("GET http://good.example.org/ HTTP/1.1\r\nHost: x\r\n\r\n"))
	f.Add([]byte("\x05\x01\x00\x05\x01\x00\x03\x10good.example.org\x01\xbb"))
	f.Add([]byte("\x05\x01\x00\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r := newRecorder(t, "good.example.org:443,192.168.1.5:80", func(host string) []netip.Addr {
			if !strings.EqualFold(host, "good.example.org") {
				t.Errorf("%q is looked up", host)
			}
			return addrs("1.1.1.1")
		})
		here, there := net.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			newProxy(&r.gate).serve(&once{conn: here})
		}()
		go func() { _, _ = io.Copy(io.Discard, there) }()
		_ = there.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = there.Write(text)
		_ = there.Close()
		<-done
		for _, at := range r.dialed {
			if at.String() != "1.1.1.1:443" && at.String() != "192.168.1.5:80" {
				t.Errorf("%s was dialled", at)
			}
		}
	})
}

// once is a listener with one connection, which ends when that one does.
type once struct {
	conn net.Conn
	got  chan struct{}
}

func (o *once) Accept() (net.Conn, error) {
	if o.got == nil {
		o.got = make(chan struct{})
		return &watched{o.conn, sync.OnceFunc(func() { close(o.got) })}, nil
	}
	<-o.got
	return nil, net.ErrClosed
}

func (o *once) Addr() net.Addr { return o.conn.LocalAddr() }
func (o *once) Close() error   { return nil }

type watched struct {
	net.Conn
	closed func()
}

func (w *watched) Close() error {
	w.closed()
	return w.Conn.Close()
}
