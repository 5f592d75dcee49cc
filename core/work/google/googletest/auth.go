package googletest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// The only known client, and a permanent login of it.
const (
	ClientID     = "1234.apps.googleusercontent.com"
	ClientSecret = "GOCSPX-fake"
)

// auth are the logins.
type auth struct {
	codes   map[string]url.Values // by code: the request
	refresh map[string][]string   // by token: the permissions
	access  map[string]access
}

type access struct {
	scopes []string
	ends   time.Time
	from   string // the refresh token
}

// Grant creates a permanent login with these permissions, without a browser.
func (s *Server) Grant(scopes ...string) (refreshToken string) {
	s.Lock()
	defer s.Unlock()
	refreshToken = "1//" + rand.Text()
	s.refresh[refreshToken] = scopes
	return refreshToken
}

// Revoke ends all logins.
func (s *Server) Revoke() {
	s.Lock()
	defer s.Unlock()
	s.refresh, s.access = map[string][]string{}, map[string]access{}
}

// Expire ends all access tokens but no login.
func (s *Server) Expire() {
	s.Lock()
	defer s.Unlock()
	s.access = map[string]access{}
}

// Logins returns the number of permanent logins.
func (s *Server) Logins() int {
	s.Lock()
	defer s.Unlock()
	return len(s.refresh)
}

func (s *Server) serveAuth(w http.ResponseWriter, r *http.Request) bool {
	switch r.URL.Path {
	case "/o/oauth2/v2/auth":
		s.consent(w, r)
	case "/token":
		if f := s.fault("token"); f.Status != 0 {
			send(w, answer{status: f.Status, body: object{"error": f.Reason}})
		} else {
			time.Sleep(f.Slow)
			send(w, s.token(r))
		}
	case "/revoke":
		if _, known := s.refresh[r.FormValue("token")]; !known {
			send(w, answer{status: 400, body: object{"error": "invalid_token"}})
			break
		}
		s.Revoke() // everything ever granted to this client
		send(w, answer{body: object{}})
	default:
		return false
	}
	return true
}

// consent is the page on which the user agrees or refuses.
func (s *Server) consent(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	for name, want := range map[string]string{
		"client_id": ClientID, "response_type": "code", "access_type": "offline", "prompt": "consent", "code_challenge_method": "S256",
	} {
		if q.Get(name) != want {
			s.refuse(w, fail(400, "invalid_request", "%s is %q", name, q.Get(name)))
			return
		}
	}
	if err != nil || back.Hostname() != "127.0.0.1" || back.Scheme != "http" || q.Get("scope") == "" || len(q.Get("code_challenge")) != 43 {
		s.refuse(w, fail(400, "invalid_request", "redirect_uri_mismatch, or no scope or challenge"))
		return
	}
	s.Lock()
	defer s.Unlock()
	answer := url.Values{"state": {q.Get("state")}}
	if s.SaysNo {
		answer.Set("error", "access_denied")
	} else {
		code := "4/" + rand.Text()
		s.codes[code] = q
		answer.Set("code", code)
		answer.Set("scope", q.Get("scope"))
	}
	back.Path, back.RawQuery = "/", answer.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

func (s *Server) token(r *http.Request) answer {
	s.Lock()
	defer s.Unlock()
	no := func(why string) answer {
		return answer{status: 400, body: object{"error": why, "error_description": "Bad Request"}}
	}
	if r.Method != http.MethodPost || r.FormValue("client_id") != ClientID || r.FormValue("client_secret") != ClientSecret {
		return answer{status: 401, body: object{"error": "invalid_client"}}
	}
	out := object{"token_type": "Bearer", "expires_in": 3599}
	var lasting string
	var scopes []string
	switch r.FormValue("grant_type") {
	case "authorization_code":
		asked, ok := s.codes[r.FormValue("code")]
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		delete(s.codes, r.FormValue("code"))
		if !ok || asked.Get("redirect_uri") != r.FormValue("redirect_uri") || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) {
			return no("invalid_grant")
		}
		if scopes = strings.Fields(asked.Get("scope")); len(s.Grants) > 0 {
			scopes = slices.DeleteFunc(scopes, func(v string) bool { return !slices.Contains(s.Grants, v) })
		}
		lasting = "1//" + rand.Text()
		out["refresh_token"] = lasting
	case "refresh_token":
		s.Refreshes++
		lasting = r.FormValue("refresh_token")
		if scopes = s.refresh[lasting]; scopes == nil {
			return no("invalid_grant")
		}
		if s.Rotates {
			delete(s.refresh, lasting)
			lasting = "1//" + rand.Text()
			out["refresh_token"] = lasting
		}
	default:
		return no("unsupported_grant_type")
	}
	s.refresh[lasting] = scopes
	short := "ya29." + rand.Text()
	s.access[short] = access{scopes: scopes, ends: s.now().Add(time.Hour), from: lasting}
	out["access_token"], out["scope"] = short, strings.Join(scopes, " ")
	return answer{body: out}
}
