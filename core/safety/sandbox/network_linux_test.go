package sandbox_test

import (
	"bytes"
	"context"
	"crypto/tls"
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
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ollimbot/core/base/binarytest"
	"ollimbot/core/base/hosts"
	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/sandbox"
	"ollimbot/core/safety/sandbox/sandboxtest"
)

// reachArg makes the test binary a program that uses the network: through the proxy variable, or
// directly.
const reachArg = "__reach"

func reach(args []string) int {
	by, target := args[0], args[1]
	if by == "tcp4" || by == "udp4" {
		conn, err := net.DialTimeout(by, target, 5*time.Second)
		if err == nil {
			_, err = conn.Write([]byte("x"))
		}
		fmt.Println("direct:", err)
		return 0
	}
	at, err := url.Parse(os.Getenv(by))
	if err != nil || at.Host == "" {
		fmt.Println("no proxy in", by)
		return 1
	}
	client := &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyURL(at), TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		OnProxyConnectResponse: func(_ context.Context, _ *url.URL, _ *http.Request, r *http.Response) error {
			if r.StatusCode == http.StatusOK {
				return nil
			}
			text, _ := io.ReadAll(r.Body)
			return fmt.Errorf("%d %s", r.StatusCode, text)
		},
	}}
	r, err := client.Get(target)
	if err != nil {
		fmt.Println(err)
		return 0
	}
	defer r.Body.Close()
	text, _ := io.ReadAll(r.Body)
	fmt.Println(r.StatusCode, strings.TrimSpace(string(text)))
	return 0
}

// town is a ground with servers on the surrounding machine, and a resolver.
type town struct {
	*ground
	plain, secure string // ports
	named         string // the port of a server whose address is listed, for good.example.org
	log           syncBuffer
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// newTown lists a name and a port of this machine. rebound.example.org is a listed name whose owner
// points it to this machine.
func newTown(t testing.TB) *town {
	t.Helper()
	greet := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "hello from "+r.Host) })
	plain, named, secure := httptest.NewServer(greet), httptest.NewServer(greet), httptest.NewTLSServer(greet)
	for _, s := range []*httptest.Server{plain, named, secure} {
		t.Cleanup(s.Close)
	}
	g := &town{ground: newGround(t, settled)}
	_, g.plain, _ = net.SplitHostPort(plain.Listener.Addr().String())
	_, g.secure, _ = net.SplitHostPort(secure.Listener.Addr().String())
	_, g.named, _ = net.SplitHostPort(named.Listener.Addr().String())
	list, err := hosts.Parse(fmt.Sprintf("localhost:%s,localhost:%s,good.example.org,127.0.0.1:%s,rebound.example.org", g.plain, g.secure, g.named))
	testkit.Must(t, err)
	g.settings.Hosts = list
	g.box = sandboxtest.Box(t, sandbox.Options{
		Dir: g.data, Home: g.home, Settings: func() sandbox.Settings { return g.settings },
		Lookup: func(_ context.Context, host string) ([]netip.Addr, error) {
			switch host {
			case "rebound.example.org", "good.example.org":
				return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
			}
			return nil, errors.New("no such host")
		},
	})
	g.box.LogTo(slog.New(slog.NewTextHandler(&g.log, nil)))
	t.Cleanup(g.box.Close)
	g.settings.Visible = append(g.settings.Visible, sandbox.Visible{Path: filepath.Dir(binarytest.Path())})
	return g
}

// inside are the ways for commands.
var inside = []string{"a skill's command", "a command of claude"}

func (g *town) reach(t testing.TB, way, by, target string) string {
	t.Helper()
	out, err := g.run(t, way, fmt.Sprintf("%s %s %s '%s'", binarytest.Path(), reachArg, by, target))
	if err != nil {
		t.Errorf("%s: %s %s: %v, %s", way, by, target, err, out)
	}
	return out
}

func TestCommandsReachTheHostsOnTheListOnly(t *testing.T) {
	testkit.Alone(t)
	g := newTown(t)
	for _, way := range inside {
		for _, c := range []struct{ by, target, says string }{
			{"HTTP_PROXY", "http://localhost:" + g.plain, "200 hello from localhost"},
			{"http_proxy", "http://good.example.org:" + g.named, "200 hello from good.example.org"},
			{"HTTPS_PROXY", "https://localhost:" + g.secure, "200 hello from localhost"},
			{"ALL_PROXY", "http://localhost:" + g.plain, "200 hello from localhost"},
			{"all_proxy", "https://localhost:" + g.secure, "200 hello from localhost"},

			{"HTTP_PROXY", "http://evil.example.org:" + g.plain, "403 evil.example.org:" + g.plain + " is not allowed"},
			{"HTTP_PROXY", "http://127.0.0.1:" + g.plain, "403 127.0.0.1:" + g.plain + " is not allowed"},
			{"HTTP_PROXY", "http://rebound.example.org:" + g.plain, "403 rebound.example.org:" + g.plain + " is not allowed: it resolves to 127.0.0.1"},
			{"HTTPS_PROXY", "https://127.0.0.1:" + g.secure, "403 127.0.0.1:" + g.secure + " is not allowed"},
			{"HTTPS_PROXY", "https://169.254.169.254/", "403 169.254.169.254:443 is not allowed"},
			{"HTTPS_PROXY", "https://rebound.example.org:" + g.secure, "403 rebound.example.org:" + g.secure},
			{"ALL_PROXY", "http://127.0.0.1:" + g.plain, "not allowed by ruleset"},
			{"ALL_PROXY", "http://rebound.example.org:" + g.plain, "not allowed by ruleset"},
			{"tcp4", "127.0.0.1:" + g.plain, "connection refused"},
			{"tcp4", "192.0.2.1:80", "network is unreachable"},
			{"udp4", "192.0.2.1:53", "network is unreachable"},
		} {
			if out := g.reach(t, way, c.by, c.target); !strings.Contains(out, c.says) {
				t.Errorf("%s: %s %s: no %q in %s", way, c.by, c.target, c.says, out)
			}
		}
	}
	for _, want := range []string{"host=evil.example.org:" + g.plain, "leads_to=127.0.0.1", "setting=sandbox_network"} {
		if text := g.log.String(); !strings.Contains(text, want) {
			t.Errorf("no %q in the log:\n%s", want, text)
		}
	}
}

// A list does not change a command in any other way: its status, its signals, its input, its
// background processes and its descriptors.
func TestACommandBesideTheProxyIsAsWithout(t *testing.T) {
	testkit.Alone(t)
	g := newTown(t)
	list := g.settings.Hosts
	for _, way := range inside {
		scripts := []string{
			"echo a; exit 7", "kill -TERM $$", "kill -KILL $$", "sleep 100 & echo b", "cat; echo end",
			"echo $OLLIM_SESSION$DISCORD_TOKEN", "ls /proc/self/fd | wc -l", "exec missing",
		}
		if way == "a skill's command" { // claude's process group contains bubblewrap, which may end first
			scripts = append(scripts, "trap 'echo c' TERM; kill -TERM 0", "trap 'echo d' INT; kill -INT 0")
		}
		for _, script := range scripts {
			g.settings.Hosts = nil
			out, err := g.run(t, way, script)
			wants := fmt.Sprintf("%s %v", out, err)
			g.settings.Hosts = list
			out, err = g.run(t, way, script)
			if got := fmt.Sprintf("%s %v", out, err); got != wants {
				t.Errorf("%s: %s: %q, and without a list %q", way, script, got, wants)
			}
		}
	}
}

func TestNoAttackSucceedsBesideTheProxy(t *testing.T) {
	testkit.Alone(t)
	newTown(t).attacked(t, "a skill's command", func(attack) bool { return true })
}

func TestOnAndOffNeedNoProxy(t *testing.T) {
	testkit.Alone(t)
	g := newTown(t)
	list := g.settings.Hosts
	for _, way := range inside {
		for _, on := range []bool{true, false} {
			g.settings.Network, g.settings.Hosts = on, nil
			says := "connection refused"
			if on { // the whole network includes the list
				g.settings.Hosts, says = list, "direct: <nil>"
			}
			if out := g.reach(t, way, "tcp4", "127.0.0.1:"+g.plain); !strings.Contains(out, says) {
				t.Errorf("%s, on %v: %s", way, on, out)
			}
			if out, err := g.run(t, way, "echo $HTTP_PROXY-"); out != "-\n" || err != nil {
				t.Errorf("%s, on %v: %s, %v", way, on, out, err)
			}
		}
	}
}

// Landlock's rules have ports but no addresses, so one open port would lead everywhere.
func TestWithLandlockAListOpensNothingAndSaysSo(t *testing.T) {
	testkit.Alone(t)
	g := newTown(t)
	g.box = sandboxtest.Landlock(t, sandbox.Options{Dir: g.data, Home: g.home, Settings: func() sandbox.Settings { return g.settings }})
	if s := g.box.State(); s.Complete() || !strings.Contains(s.String(), "hosts in sandbox_network need bubblewrap") {
		t.Errorf("the state: %s", s)
	}
	for _, way := range inside {
		if out := g.reach(t, way, "tcp4", "127.0.0.1:"+g.plain); strings.Contains(out, "<nil>") {
			t.Errorf("%s: %s", way, out)
		}
	}
}

func TestAStateSaysWhatAListIsWorth(t *testing.T) {
	for _, c := range []struct {
		state    sandbox.State
		complete bool
		says     string
	}{
		{sandbox.State{Kind: sandbox.Bubblewrap, Version: "0.9.0", Inner: true, Filter: true, Hosts: true}, true, "sandbox: bubblewrap 0.9.0"},
		{sandbox.State{Kind: sandbox.Bubblewrap, Version: "0.9.0", Filter: true, Hosts: true}, false, "are not limited to the hosts"},
		{sandbox.State{Kind: sandbox.Landlock, Version: "7", Inner: true, Filter: true, Hosts: true}, false, "need bubblewrap"},
		{sandbox.State{Kind: sandbox.Seatbelt, Hosts: true}, false, "are not limited to the hosts"},
		{sandbox.State{Reason: "none", Hosts: true}, false, "the hosts in sandbox_network are not enforced"},
		{sandbox.State{Off: true, Hosts: true}, false, "the hosts in sandbox_network are not enforced"},
	} {
		if text := c.state.String(); c.state.Complete() != c.complete || !strings.Contains(text, c.says) {
			t.Errorf("%+v: %s", c.state, text)
		}
		c.state.Hosts = false
		if text := c.state.String(); strings.Contains(text, "hosts") {
			t.Errorf("without a list: %s", text)
		}
	}
}
