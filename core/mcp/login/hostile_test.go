package login

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/mcp/login/logintest"
	"ollimbot/core/storage/store/storetest"
)

// attempt is a login at a server, without a bot.
type attempt struct {
	*Login
	tokens *Tokens
	done   chan error
	mu     sync.Mutex
	hidden []string // from logs
}

// hides reports whether a secret is kept out of logs.
func (a *attempt) hides(secret string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Contains(a.hidden, secret)
}

func begin(t *testing.T, s *logintest.Server, shorter func(*patience)) *attempt {
	t.Helper()
	a := &attempt{done: make(chan error, 1)}
	a.tokens = New(storetest.Prepared(t), func(secret string) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.hidden = append(a.hidden, secret)
	})
	if shorter != nil {
		shorter(&a.tokens.wait)
	}
	home, err := url.Parse(s.Resource())
	testkit.Must(t, err)
	a.Login, err = a.tokens.Login("weather", s.Resource(), home, http.DefaultClient)
	testkit.Must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	go func() { a.done <- a.Run(ctx) }()
	return a
}

// fails waits for the end of a login without a token. Dots stand for what the library says, or random numbers.
func (a *attempt) fails(t *testing.T, want string) {
	t.Helper()
	err := <-a.done
	part, begins := strings.CutSuffix(want, "…")
	part, library := strings.CutPrefix(part, "…")
	if err == nil || !strings.Contains(err.Error(), part) || !library && !strings.HasPrefix(err.Error(), part) || !begins && !strings.HasSuffix(err.Error(), part) {
		t.Errorf("%v, want %q", err, want)
	}
	if a.tokens.Has("weather", a.address) {
		t.Error("there is a token")
	}
}

// at answers a path instead of the servers.
func at(path string, answer http.HandlerFunc) func(*logintest.Server) {
	return func(s *logintest.Server) {
		s.Override = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != path {
				return false
			}
			answer(w, r)
			return true
		}
	}
}

func says(key string, value any) func(*logintest.Server) {
	return func(s *logintest.Server) {
		s.Metadata = func(m map[string]any) {
			if m[key] = value; value == nil {
				delete(m, key)
			}
		}
	}
}

func endless(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"issuer": "`))
	for range 200 {
		if _, err := w.Write(bytes.Repeat([]byte("x"), 1<<20)); err != nil {
			return
		}
	}
}

func to(address string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, address, http.StatusTemporaryRedirect)
	}
}

func hangs(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // a server notices only then that the client has disconnected
	<-r.Context().Done()
}

const (
	describes = "/.well-known/oauth-authorization-server"
	resource  = "/.well-known/oauth-protected-resource/mcp"
)

// 31: whatever a server does before the user is asked, the result is one sentence and no
// page to open.
func TestAHostileServerGetsASentenceAndNoPage(t *testing.T) {
	testkit.Alone(t)
	for name, c := range map[string]struct {
		do   func(*logintest.Server)
		want string
	}{
		"metadata without end":                    {at(describes, endless), "…unexpected EOF…"},
		"a token address of a private network":    {says("registration_endpoint", "https://10.1.2.3/register"), "…non-public…"},
		"a name of a private network":             {says("registration_endpoint", "https://localhost:1/register"), "it leads to localhost, an address of a private network"},
		"a redirect to a cloud's own data":        {at(describes, to("http://169.254.169.254/latest/meta-data/")), "…it redirects to another address (169.254.169.254), which is not followed"},
		"a redirect of the registration":          {at("/register", to("http://127.0.0.1:9/elsewhere")), "it redirects to another address (127.0.0.1:9), which is not followed"},
		"another issuer than announced":           {says("issuer", "https://accounts.example.org"), "…does not match…"},
		"a script for a page":                     {says("authorization_endpoint", "javascript:alert(1)//"), "…disallowed scheme…"},
		"a file for a page":                       {says("authorization_endpoint", "file:///etc/passwd"), "…does not use HTTPS…"},
		"a page of this machine":                  {says("authorization_endpoint", "https:///authorize"), "its authorization server names a page that no browser should open (https:///authorize?client_id=…"},
		"a page without encryption":               {says("authorization_endpoint", "http://example.org/authorize"), "…does not use HTTPS…"},
		"a page that misleads":                    {says("authorization_endpoint", "https://accounts.example.org@127.0.0.1/authorize"), "its authorization server names a page that no browser should open (https://accounts.example.org@127.0.0.1/authorize?client_id=…"},
		"a page with an endless address":          {says("authorization_endpoint", "https://example.org/"+strings.Repeat("a", 5_000)), "its authorization server names a page that no browser should open (https://example.org/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa)"},
		"no challenge of the code":                {says("code_challenge_methods_supported", []string{}), "…does not implement PKCE…"},
		"no registration":                         {says("registration_endpoint", nil), "its authorization server does not let programs register: get a token there, and put it into its headers"},
		"a registration without end":              {at("/register", endless), "it ended the connection"},
		"no answer about itself":                  {at(describes, hangs), "an address of its login does not answer"},
		"no answer about the resource, and after": {func(s *logintest.Server) { s.Override = hangAll }, "its authorization server did not answer within 1s"},
		"an answer with an error":                 {at("/mcp", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }), "it answered 418 I'm a teapot, and not with a question for a login"},
		"a resource that is another":              {at(resource, says200(`{"resource": "https://example.org"}`)), "…404…"},
	} {
		t.Run(name, func(t *testing.T) {
			s := logintest.New(t, nil)
			c.do(s)
			a := begin(t, s, func(p *patience) {
				if strings.Contains(c.want, "not answer") {
					p.request, p.discovery = time.Second/2, time.Second
				}
			})
			if page, err := a.URL(t.Context()); err == nil {
				t.Errorf("the user is asked to open %.100s", page)
			} else if strings.ContainsAny(err.Error(), "\n\x1b") || len(err.Error()) > 400 {
				t.Errorf("no sentence: %.500q", err)
			}
			a.fails(t, c.want)
		})
	}
}

func says200(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }
}

func hangAll(w http.ResponseWriter, r *http.Request) bool {
	if r.URL.Path == "/mcp" {
		return false
	}
	hangs(w, r)
	return true
}

// 31: the browser's answer is accepted only if it belongs to this login.
func TestWhatTheBrowserBringsBackIsChecked(t *testing.T) {
	testkit.Alone(t)
	for name, c := range map[string]struct {
		do   func(*logintest.Server)
		edit func(q url.Values)
		want string
	}{
		"the user says no":             {func(s *logintest.Server) { s.SaysNo = true }, nil, "the login was refused there (access_denied); nothing has changed"},
		"the code of somebody else":    {nil, func(q url.Values) { q.Set("code", "injected") }, "the authorization server refused: invalid_grant the code does not fit"},
		"another authorization server": {nil, func(q url.Values) { q.Set("iss", "https://evil.example") }, "…does not match expected issuer…"},
		"no authorization server":      {nil, func(q url.Values) { q.Del("iss") }, "…iss…"},
		"a redirect of the code":       {at("/token", to("http://127.0.0.1:9/thief")), nil, "it redirects to another address (127.0.0.1:9), which is not followed"},
		"tokens without end":           {at("/token", endless), nil, "…unexpected end…"},
		"no token in time":             {at("/token", hangs), nil, "it does not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			s := logintest.New(t, nil)
			if c.do != nil {
				c.do(s)
			}
			a := begin(t, s, func(p *patience) {
				if strings.Contains(c.want, "not answer") {
					p.request = time.Second / 2
				}
			})
			page, err := a.URL(t.Context())
			testkit.Must(t, err)
			back, err := url.Parse(logintest.Browse(t, page))
			testkit.Must(t, err)
			q := back.Query()
			if c.edit != nil {
				c.edit(q)
			}
			back.RawQuery = q.Encode()
			if text := logintest.Visit(t, back.String()); text != pageFailed {
				t.Errorf("the browser shows %q", text)
			}
			a.fails(t, c.want)
		})
	}
}

// 31: an answer with another login's state has no effect; the right answer is still
// accepted.
func TestAnotherStateChangesNothing(t *testing.T) {
	testkit.Alone(t)
	a := begin(t, logintest.New(t, nil), nil)
	page, err := a.URL(t.Context())
	testkit.Must(t, err)
	address := logintest.Browse(t, page)
	for _, forged := range []string{"", "state=", "state=x&code=injected", "code=injected"} {
		before, _, _ := strings.Cut(address, "?")
		if text := logintest.Visit(t, before+"?"+forged); text != pageFailed {
			t.Errorf("%s: the browser shows %q", forged, text)
		}
		if a.Take(before+"?"+forged) == nil {
			t.Errorf("%s is taken", forged)
		}
	}
	if err := a.Take(address); err != nil {
		t.Error(err)
	}
	if err := <-a.done; err != nil || !a.tokens.Has("weather", a.address) {
		t.Errorf("the login: %v", err)
	}
}

// 31: the browser never returns.
func TestALoginThatIsNotEndedIsOver(t *testing.T) {
	testkit.Alone(t)
	a := begin(t, logintest.New(t, nil), func(p *patience) { p.discovery, p.user = time.Second, time.Second })
	if _, err := a.URL(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.fails(t, "you did not log in within 1s: start again")
	if err := a.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "within 1s") {
		t.Errorf("it is waited for with %v", err)
	}
}

// 31: only one login is under way.
func TestALoginThatIsReplacedSaysSo(t *testing.T) {
	testkit.Alone(t)
	a := begin(t, logintest.New(t, nil), nil)
	_, err := a.URL(t.Context())
	testkit.Must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("while it is under way it is waited for with %v", err)
	}
	a.Stop()
	a.fails(t, "another login was started")
}

func TestATokenIsRenewedUntilItsLoginHasEnded(t *testing.T) {
	testkit.Alone(t)
	s := logintest.New(t, nil)
	a := begin(t, s, nil)
	page, err := a.URL(t.Context())
	testkit.Must(t, err)
	logintest.Visit(t, logintest.Browse(t, page))
	testkit.Must(t, <-a.done)
	h := a.tokens.Holder("weather", a.address, a.home)
	token := func(h *Holder) string {
		source, err := h.TokenSource(t.Context())
		testkit.Must(t, err)
		if source == nil {
			return "none"
		}
		got, err := source.Token()
		if err != nil {
			return err.Error()
		}
		return got.AccessToken
	}
	// refused is what comes of an answer to a request with a token.
	refused := func(sent string, status int, header string) error {
		r, err := http.NewRequest(http.MethodPost, a.address, nil)
		testkit.Must(t, err)
		if sent != "" {
			r.Header.Set("Authorization", "Bearer "+sent)
		}
		return h.Authorize(t.Context(), r, &http.Response{StatusCode: status, Header: http.Header{"Www-Authenticate": {header}}, Body: io.NopCloser(strings.NewReader("x"))})
	}
	first := token(h)
	if err := refused(first, http.StatusForbidden, ""); err != nil || token(h) != first || h.Asks() {
		t.Errorf("a refusal of something else ends the token: %v", err)
	}
	if other := token(a.tokens.Holder("weather", a.address+"/other", a.home)); other != "none" {
		t.Errorf("another address gets %s", other)
	}
	if err := refused(first, http.StatusUnauthorized, ""); err != nil || token(h) == first || s.Count("POST /token") != 2 || !a.hides(first) || !a.hides(token(h)) {
		t.Errorf("it is not renewed: %v, %d requests of tokens", err, s.Count("POST /token"))
	}
	second := token(h)
	if err := refused(first, http.StatusUnauthorized, ""); err != nil || token(h) != second || s.Count("POST /token") != 2 {
		t.Errorf("what another request has renewed is renewed again: %v", err)
	}
	at("/token", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })(s)
	if err := refused(second, http.StatusUnauthorized, ""); err == nil || !strings.Contains(err.Error(), "could not be renewed") || token(h) != second || h.Asks() {
		t.Errorf("a server of tokens that is out of order ends the login: %v", err)
	}
	s.Override = nil
	asks := new(AsksError)
	if err := refused(second, http.StatusForbidden, `Bearer error="insufficient_scope"`); !errors.As(err, &asks) || asks.Server != "weather" || !h.Asks() {
		t.Errorf("a token that may too little: %v", err)
	}
	s.Revoke(true)
	if err := refused(second, http.StatusUnauthorized, ""); !errors.As(err, &asks) || token(h) != "none" {
		t.Errorf("a login that has ended: %v, the token is %s", err, token(h))
	}
	if err := refused("", http.StatusUnauthorized, ""); !errors.As(err, &asks) {
		t.Errorf("without a login: %v", err)
	}
	if there, err := a.tokens.Forget("weather"); there || err != nil {
		t.Errorf("it is there to be forgotten, %v", err)
	}
	testkit.Must(t, a.tokens.keep("weather", kept{Address: "x", Access: "a"}))
	if there, err := a.tokens.Forget("weather"); !there || err != nil || a.tokens.Has("weather", "x") {
		t.Errorf("it is not forgotten: %v", err)
	}
}

func TestTheLastAddressOfALoginIsRecognized(t *testing.T) {
	for address, want := range map[string]bool{
		" http://127.0.0.1:9/mcp/callback?state=a&code=b\n": true, "http://127.0.0.1:9/mcp/callback?state=a&error=no": true,
		"http://127.0.0.1:9/mcp/callback?state=a": false, "http://127.0.0.1:9/mcp/callback?code=b": false, "http://127.0.0.1:9/?state=a&code=b": false,
		"https://example.org/mcp/callback?state=a&code=b": false, "look: http://127.0.0.1:9/mcp/callback?state=a&code=b": false,
		"http://127.0.0.1:9/mcp/callback?state=a&code=b and more": false,
	} {
		if got := Redirected(address); got != want {
			t.Errorf("%q: %v", address, got)
		}
	}
}

// An unreadable file counts as empty, and the next login sets it aside.
func TestADamagedFileIsSetAside(t *testing.T) {
	dir := storetest.Prepared(t)
	storetest.Put(t, dir, File, "{")
	tokens := New(dir, func(string) {})
	if tokens.Has("weather", "x") {
		t.Error("a login of a damaged file")
	}
	if err := tokens.keep("weather", kept{Address: "x", Access: "a"}); err != nil || !tokens.Has("weather", "x") || tokens.Has("weather", "y") {
		t.Errorf("kept: %v", err)
	}
}
