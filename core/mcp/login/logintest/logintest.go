// Package logintest is a fake MCP server that requires a login, with its authorization
// server, as strict as the RFCs. It is for tests.
package logintest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is both servers. Set the fields before the first request.
type Server struct {
	MCP *httptest.Server // the resource: its address is MCP.URL + "/mcp"
	As  *httptest.Server // the authorization server

	// Override answers requests instead of either server; return false to let the server
	// answer.
	Override func(w http.ResponseWriter, r *http.Request) bool
	// Metadata changes the authorization server's metadata.
	Metadata func(m map[string]any)
	// Lasts is the lifetime of a token.
	Lasts time.Duration
	// SaysNo makes the user refuse.
	SaysNo bool

	mu      sync.Mutex
	clients map[string][]string // redirect addresses by client
	codes   map[string]url.Values
	access  map[string]time.Time
	refresh map[string]string // clients by token
	counts  map[string]int
}

// New starts both. resource is the MCP server behind the login.
func New(t testing.TB, resource http.Handler) *Server {
	s := &Server{
		Lasts: time.Hour, clients: map[string][]string{}, codes: map[string]url.Values{}, access: map[string]time.Time{},
		refresh: map[string]string{}, counts: map[string]int{},
	}
	wrap := func(mux *http.ServeMux) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s.mu.Lock()
			s.counts[r.Method+" "+r.URL.Path]++
			s.mu.Unlock()
			if s.Override == nil || !s.Override(w, r) {
				mux.ServeHTTP(w, r)
			}
		})
	}
	mcp, as := http.NewServeMux(), http.NewServeMux()
	// RFC 9728, section 3: the metadata of a resource with a path.
	mcp.HandleFunc("GET /.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]any{
			"resource": s.Resource(), "authorization_servers": []string{s.As.URL}, "scopes_supported": []string{"read"},
			"bearer_methods_supported": []string{"header"},
		})
	})
	mcp.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) { s.guard(w, r, resource) })
	as.HandleFunc("GET /.well-known/oauth-authorization-server", s.describe)
	as.HandleFunc("POST /register", s.register)
	as.HandleFunc("GET /authorize", s.authorize)
	as.HandleFunc("POST /token", s.token)
	s.MCP, s.As = httptest.NewServer(wrap(mcp)), httptest.NewServer(wrap(as))
	t.Cleanup(func() {
		s.MCP.CloseClientConnections()
		s.As.CloseClientConnections()
		s.MCP.Close()
		s.As.Close()
	})
	return s
}

// Resource is the address of the MCP server.
func (s *Server) Resource() string { return s.MCP.URL + "/mcp" }

// Count returns the number of requests, by method and path.
func (s *Server) Count(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[what]
}

// Revoke revokes all access tokens and, with all set, also the refresh tokens.
func (s *Server) Revoke(all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.access)
	if all {
		clear(s.refresh)
	}
}

// Browse opens a page like a browser whose user agrees, and returns the address it is
// redirected to.
func Browse(t testing.TB, page string) string {
	t.Helper()
	c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := c.Get(page)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusFound {
		t.Fatalf("the page %s: %s %s", page, resp.Status, text)
	}
	return resp.Header.Get("Location")
}

// Visit opens an address of the bot's page like a browser, and returns the page's text.
func Visit(t testing.TB, address string) string {
	t.Helper()
	resp, err := http.Get(address) //nolint:gosec // of a test
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return string(text)
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store") // RFC 6749, section 5.1
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func refuse(w http.ResponseWriter, code, format string, args ...any) {
	answer(w, http.StatusBadRequest, map[string]any{"error": code, "error_description": fmt.Sprintf(format, args...)})
}

// guard implements RFC 6750, sections 2.1 and 3, and RFC 9728, section 5.1.
func (s *Server) guard(w http.ResponseWriter, r *http.Request, resource http.Handler) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	until, ok := s.access[token]
	s.mu.Unlock()
	if ok && time.Now().Before(until) {
		resource.ServeHTTP(w, r)
		return
	}
	challenge := `Bearer resource_metadata="` + s.MCP.URL + `/.well-known/oauth-protected-resource/mcp", scope="read"`
	if token != "" {
		challenge += `, error="invalid_token"`
	}
	w.Header().Set("WWW-Authenticate", challenge)
	w.WriteHeader(http.StatusUnauthorized)
}

// describe implements RFC 8414, section 2.
func (s *Server) describe(w http.ResponseWriter, _ *http.Request) {
	m := map[string]any{
		"issuer": s.As.URL, "authorization_endpoint": s.As.URL + "/authorize", "token_endpoint": s.As.URL + "/token",
		"registration_endpoint": s.As.URL + "/register", "response_types_supported": []string{"code"},
		"grant_types_supported": []string{"authorization_code", "refresh_token"}, "code_challenge_methods_supported": []string{"S256"},
		"token_endpoint_auth_methods_supported": []string{"none"}, "authorization_response_iss_parameter_supported": true,
	}
	if s.Metadata != nil {
		s.Metadata(m)
	}
	answer(w, http.StatusOK, m)
}

// register implements RFC 7591, sections 2 and 3; redirects are those of a native program
// (RFC 8252, section 7.3).
func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	var m struct {
		Redirects []string `json:"redirect_uris"`
		Grants    []string `json:"grant_types"`
		Method    string   `json:"token_endpoint_auth_method"`
		Name      string   `json:"client_name"`
	}
	if json.NewDecoder(r.Body).Decode(&m) != nil || len(m.Redirects) != 1 {
		refuse(w, "invalid_redirect_uri", "one redirect address is needed")
		return
	}
	u, err := url.Parse(m.Redirects[0])
	if err != nil || u.Scheme != "http" || u.Hostname() != "127.0.0.1" || u.Port() == "" || u.Fragment != "" {
		refuse(w, "invalid_redirect_uri", "%s is no loopback address", m.Redirects[0])
		return
	}
	if m.Method != "none" || m.Name == "" || !slices.Contains(m.Grants, "refresh_token") || !slices.Contains(m.Grants, "authorization_code") {
		refuse(w, "invalid_client_metadata", "%+v", m)
		return
	}
	id := rand.Text()
	s.mu.Lock()
	s.clients[id] = m.Redirects
	s.mu.Unlock()
	answer(w, http.StatusCreated, map[string]any{
		"client_id": id, "redirect_uris": m.Redirects, "grant_types": m.Grants, "token_endpoint_auth_method": "none", "client_name": m.Name,
	})
}

// authorize implements RFC 6749, section 4.1.1, RFC 7636, section 4.3, and RFC 8707,
// section 2.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s.mu.Lock()
	known := slices.Contains(s.clients[q.Get("client_id")], q.Get("redirect_uri"))
	s.mu.Unlock()
	if !known { // never redirect then
		http.Error(w, "unknown client or redirect_uri", http.StatusBadRequest)
		return
	}
	back := url.Values{"state": {q.Get("state")}, "iss": {s.As.URL}} // RFC 9207, section 2
	switch {
	case q.Get("response_type") != "code", q.Get("state") == "", q.Get("code_challenge_method") != "S256",
		len(q.Get("code_challenge")) != 43, q.Get("resource") != s.Resource(), q.Get("scope") != "read":
		back.Set("error", "invalid_request")
	case s.SaysNo:
		back.Set("error", "access_denied")
	default:
		code := rand.Text()
		s.mu.Lock()
		s.codes[code] = q
		s.mu.Unlock()
		back.Set("code", code)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

// token implements RFC 6749, sections 4.1.3 and 6, and RFC 7636, section 4.6. A refresh
// token can be used once (OAuth 2.1, section 4.3.1).
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" || r.ParseForm() != nil || r.Header.Get("Authorization") != "" {
		refuse(w, "invalid_request", "not a form of a public client")
		return
	}
	f := r.PostForm
	s.mu.Lock()
	defer s.mu.Unlock()
	client := f.Get("client_id")
	switch f.Get("grant_type") {
	case "authorization_code":
		q, ok := s.codes[f.Get("code")]
		delete(s.codes, f.Get("code"))
		sum := sha256.Sum256([]byte(f.Get("code_verifier")))
		switch {
		case !ok, q.Get("client_id") != client, q.Get("redirect_uri") != f.Get("redirect_uri"), f.Get("resource") != s.Resource(),
			base64.RawURLEncoding.EncodeToString(sum[:]) != q.Get("code_challenge"):
			refuse(w, "invalid_grant", "the code does not fit")
			return
		}
	case "refresh_token":
		of, ok := s.refresh[f.Get("refresh_token")]
		delete(s.refresh, f.Get("refresh_token"))
		if !ok || of != client {
			refuse(w, "invalid_grant", "unknown refresh token")
			return
		}
	default:
		refuse(w, "unsupported_grant_type", "%s", f.Get("grant_type"))
		return
	}
	access, refresh := "access-"+rand.Text(), "refresh-"+rand.Text()
	s.access[access], s.refresh[refresh] = time.Now().Add(s.Lasts), client
	answer(w, http.StatusOK, map[string]any{
		"access_token": access, "token_type": "Bearer", "expires_in": int(s.Lasts.Seconds()), "refresh_token": refresh, "scope": "read",
	})
}
