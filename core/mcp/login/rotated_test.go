package login

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
)

// OAuth 2.1, section 4.3.1: a server may replace the refresh token each time.
func TestARenewalIsAskedForWithTheNewestRefreshToken(t *testing.T) {
	testkit.Alone(t)
	asked := make(chan string, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		old := r.FormValue("refresh_token")
		asked <- old
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"access_token": "access", "token_type": "Bearer", "expires_in": 1, "refresh_token": %q}`, old+"+")
	}))
	defer s.Close()
	tokens := New(storetest.Prepared(t), func(string) {})
	testkit.Must(t, tokens.keep("weather", kept{Address: "x", TokenURL: s.URL, Access: "old", Refresh: "r", Expiry: time.Now()}))
	home, err := url.Parse(s.URL)
	testkit.Must(t, err)
	for _, want := range []string{"r", "r+", "r++"} {
		token, err := New(tokens.dir, tokens.hide).Holder("weather", "x", home).token(t.Context(), "") // after a restart
		if err != nil || token == nil || token.AccessToken != "access" {
			t.Fatalf("%+v, %v", token, err)
		}
		if got := <-asked; got != want {
			t.Errorf("asked with the refresh token %q, want %q", got, want)
		}
	}
}
