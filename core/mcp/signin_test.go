package mcp

import (
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

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
