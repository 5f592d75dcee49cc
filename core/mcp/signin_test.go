package mcp

import (
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ollimbot/core/base/testkit"
	"ollimbot/core/mcp/login"
	"ollimbot/core/mcp/login/logintest"
)

// behindLogin returns a server that requires a login, and a running host whose file names
// it.
func behindLogin(t *testing.T) (*logintest.Server, *home) {
	t.Helper()
	s := logintest.New(t, sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return fakeServer("plain") }, nil))
	h := newHome(t, `{"mcpServers": {"weather": {"url": "`+s.Resource()+`"}}}`)
	h.run()
	return s, h
}

// page starts a login and returns the page to open.
func (h *home) page(name string) string {
	h.t.Helper()
	l, err := h.Login(h.t.Context(), name)
	testkit.Must(h.t, err)
	page, err := l.URL(h.t.Context())
	testkit.Must(h.t, err)
	return page
}

// visit opens a page like a browser whose user agrees.
func (h *home) visit(page string) {
	h.t.Helper()
	if text := logintest.Visit(h.t, logintest.Browse(h.t, page)); !strings.Contains(text, "You are logged in") {
		h.t.Errorf("the browser shows %q", text)
	}
}

// signIn logs in like a user with a browser.
func (h *home) signIn() {
	h.t.Helper()
	before := strings.Count(h.said(), "You are logged in at")
	h.visit(h.page("weather"))
	const said = "You are logged in at the MCP server weather: 3 tools"
	h.until("the login", func() bool { return strings.Count(h.said(), said) > before })
	h.Renew(h.t.Context())
}

func (h *home) expect(tool, want string) {
	h.t.Helper()
	if got := h.call(tool, `{"text":"hello"}`).Text; !strings.Contains(got, want) {
		h.t.Errorf("%s: %q, want %q", tool, got, want)
	}
}

// 31: a server that requires a login says so in one sentence, once, and works afterwards.
func TestAServerThatAsksForALoginSaysHowAndWorksAfterIt(t *testing.T) {
	testkit.Alone(t)
	s, h := behindLogin(t)
	const cure = "it asks for a login: /mcp login weather"
	h.until("the sentence", func() bool { st := h.state("weather"); return st.Asks && st.Status == Failed })
	if st := h.state("weather"); !strings.HasPrefix(st.Text, cure) || strings.Count(h.said(), cure) != 1 {
		t.Errorf("state %+v, said %s", st, h.said())
	}
	none := func(string) (string, bool) { return "", false }
	h.until("it beside the bot", func() bool {
		known, _, err := Known(h.dir, none)
		return err == nil && strings.Contains(known[0].String(), cure)
	})
	if s.Count("POST /register") != 0 {
		t.Error("a login has begun without the user")
	}
	h.signIn()
	h.expect("weather/echo", "you said hello")
	if st := h.state("weather"); st.Asks || st.Status != Ready {
		t.Errorf("state %+v", st)
	}
}

// 31: only the user sees a token.
func TestTokensAreKeptPrivateAndHidden(t *testing.T) {
	testkit.Alone(t)
	_, h := behindLogin(t)
	hidden := map[string]bool{}
	h.o.Hide = func(s string) { hidden[s] = true }
	h.logins = login.New(h.dir, h.o.Hide)
	h.signIn()
	text, err := os.ReadFile(h.dir.Path(login.File))
	info, errInfo := os.Stat(h.dir.Path(login.File))
	if err := errors.Join(err, errInfo); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	n := 0
	for s := range hidden {
		if s != "" && strings.Contains(string(text), s) {
			n++
		}
		if s != "" && (strings.Contains(h.said(), s) || strings.Contains(h.logged.String(), s)) {
			t.Errorf("%s is in a log", s)
		}
	}
	if n != 2 { // the access token and the refresh token
		t.Errorf("%d secrets are hidden", n)
	}
}

// 31: a rejected token is renewed; after the login has ended, the server asks again.
func TestATokenIsRenewedUntilTheLoginHasEnded(t *testing.T) {
	testkit.Alone(t)
	s, h := behindLogin(t)
	h.signIn()
	s.Revoke(false)
	h.expect("weather/echo", "you said hello")
	if n := s.Count("POST /token"); n != 2 {
		t.Errorf("%d requests for tokens", n)
	}
	s.Revoke(true)
	h.expect("weather/echo", "it asks for a login")
	h.until("the state", func() bool { st := h.state("weather"); return st.Asks && st.Status == Failed })
	if _, there := h.logins.Forget("weather"); there != nil {
		t.Error(there)
	}
	h.signIn()
	h.expect("weather/echo", "you said hello")
}

// What the caller has seen fail, what another login replaces, and what ends with the bot is not reported again.
func TestALoginIsReportedOnceAndOnlyIfItWasTheLast(t *testing.T) {
	testkit.Alone(t)
	s, h := behindLogin(t)
	const failed = "login at the MCP server weather"
	h.page("weather")
	h.signIn() // in another window
	if strings.Contains(h.said(), failed) {
		t.Errorf("the login that was replaced: %s", h.said())
	}
	s.Override = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/token" {
			return false
		}
		w.WriteHeader(http.StatusTeapot)
		return true
	}
	logintest.Visit(t, logintest.Browse(t, h.page("weather")))
	h.until("the failure", func() bool { return strings.Contains(h.said(), failed) })
	h.page("weather")
	h.end()
	if said := h.said(); strings.Count(said, failed) != 1 || strings.Count(said, "You are logged in") != 1 {
		t.Errorf("said: %s", said)
	}
}

// 31: a token that is about to expire is renewed before use.
func TestATokenThatIsAboutToEndIsRenewedFirst(t *testing.T) {
	testkit.Alone(t)
	s, h := behindLogin(t)
	s.Lasts = 30 * time.Second // less than the minute before the expiry
	h.signIn()
	before := s.Count("POST /token")
	h.expect("weather/echo", "you said hello")
	if s.Count("POST /token") == before {
		t.Error("an old token was used")
	}
}

// 31: the final address of a login can be pasted, and another address does no harm.
func TestALoginEndsByItsPastedAddress(t *testing.T) {
	testkit.Alone(t)
	_, h := behindLogin(t)
	address := logintest.Browse(t, h.page("weather"))
	forged := strings.Replace(address, "state=", "state=x", 1)
	if h.Redirected("hello") || h.Redirected("http://127.0.0.1:9/?state=a&code=b") {
		t.Error("something else is taken for the end of a login")
	}
	if !h.Redirected(forged) || !strings.Contains(h.said(), "not the address") {
		t.Errorf("a forged address: %s", h.said())
	}
	if text := logintest.Visit(t, forged); !strings.Contains(text, "failed") {
		t.Errorf("forged, the browser shows %q", text)
	}
	if !h.Redirected(" " + address + "\n") {
		t.Error("the address is not taken")
	}
	h.until("the login", func() bool { return strings.Contains(h.said(), "You are logged in") })
	if !h.Redirected(address) || !strings.Contains(h.said(), "start one with /mcp login") {
		t.Errorf("a second time: %s", h.said())
	}
}

// 31: a login by another process is noticed, and so is its end.
func TestALoginByAnotherProgramIsUsedAndEnds(t *testing.T) {
	testkit.Alone(t)
	_, h := behindLogin(t)
	h.until("the question", func() bool { return h.state("weather").Asks })
	other := &home{t: t, dir: h.dir, env: h.env, news: make(chan struct{}, 1), end: func() {}}
	other.remake()
	other.run()
	other.signIn()
	h.Reload()
	h.until("the tools", func() bool { return h.state("weather").Tools > 0 })
	h.Renew(t.Context())
	h.expect("weather/echo", "you said hello")
	testkit.Must(t, h.Logout("weather"))
	h.expect("weather/echo", "it asks for a login")
	if err := h.Logout("weather"); err == nil {
		t.Error("logged out twice")
	}
}

// 31: another server address under the same name does not get the token.
func TestATokenGoesToItsOwnAddressOnly(t *testing.T) {
	testkit.Alone(t)
	_, h := behindLogin(t)
	h.signIn()
	stolen := make(chan string, 100)
	thief := logintest.New(t, nil)
	thief.Override = func(w http.ResponseWriter, r *http.Request) bool {
		stolen <- r.Header.Get("Authorization")
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	h.save(`{"mcpServers": {"weather": {"url": "` + thief.Resource() + `"}}}`)
	h.Reload()
	h.until("its question", func() bool { return h.state("weather").Asks })
	h.end()
	for close(stolen); ; {
		sent, more := <-stolen
		if !more {
			return
		}
		if sent != "" {
			t.Errorf("the other address got %q", sent)
		}
	}
}

// 31: a server without a login says so.
func TestWhatNeedsNoLoginSaysSo(t *testing.T) {
	testkit.Alone(t)
	open := logintest.New(t, nil)
	open.Override = func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(http.StatusNoContent); return true }
	h := newHome(t, `{"mcpServers": {"open": {"url": "`+open.Resource()+`"}, "keyed": {"url": "`+open.Resource()+
		`", "headers": {"authorization": "Bearer x"}}, "local": {"command": "none"}}}`)
	h.run()
	for name, want := range map[string]string{
		"open": "does not ask for a login", "keyed": "has an Authorization header", "local": "a program on this machine", "nobody": "no MCP server nobody",
	} {
		if _, err := h.Login(t.Context(), name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
