package google

import (
	"context"
	"errors"
	"net/http"
	"time"

	"golang.org/x/oauth2"

	"ollimbot/core/base/clean"
)

const (
	// early is how long before its expiry a token is renewed.
	early = time.Minute
	// refreshTime bounds a renewal, because others wait for it.
	refreshTime = 8 * time.Second
)

// endpoint is the source of tokens. The addresses in files count in tests only, so that a
// changed file cannot redirect tokens.
func (a *api) endpoint(authURI, tokenURI string) oauth2.Endpoint {
	e := oauth2.Endpoint{
		AuthURL: "https://accounts.google.com/o/oauth2/v2/auth", TokenURL: "https://oauth2.googleapis.com/token",
		AuthStyle: oauth2.AuthStyleInParams,
	}
	if a.base == "" {
		return e
	}
	e.AuthURL, e.TokenURL = a.base+"/o/oauth2/v2/auth", a.base+"/token"
	if loopback(authURI) {
		e.AuthURL = authURI
	}
	if loopback(tokenURI) {
		e.TokenURL = tokenURI
	}
	return e
}

// bearer is a valid token. It is renewed if it is about to expire or was rejected; of many
// callers in all processes, one renews it.
func (a *api) bearer(ctx context.Context, rejected string) (token, error) {
	good := func(t token) bool {
		return t.Access != "" && t.Access != rejected && t.Expiry.Sub(a.creds.now()) > early
	}
	t, err := a.creds.load()
	if err == nil && good(t) {
		return t, nil
	}
	if err != nil {
		return token{}, a.creds.off()
	}
	err = a.creds.dir.WithLock(tokenLock, func() error {
		if t, err = a.creds.load(); err != nil {
			return a.creds.off()
		}
		if good(t) {
			return nil
		}
		t, err = a.renew(ctx, t)
		return err
	})
	return t, err
}

// renew asks for a new token; the lock is held.
func (a *api) renew(ctx context.Context, t token) (token, error) {
	ctx, stop := context.WithTimeout(context.WithValue(ctx, oauth2.HTTPClient, a.http), refreshTime)
	defer stop()
	conf := oauth2.Config{ClientID: t.ID, ClientSecret: t.Secret, Endpoint: a.endpoint("", t.URI)}
	fresh, err := conf.TokenSource(ctx, &oauth2.Token{RefreshToken: t.Refresh}).Token()
	if err != nil {
		return token{}, a.notRenewed(t, err)
	}
	t.Access, t.Expiry = fresh.AccessToken, instant{fresh.Expiry}
	if fresh.Expiry.IsZero() {
		t.Expiry = instant{a.creds.now().Add(time.Hour)}
	}
	if fresh.RefreshToken != "" {
		t.Refresh = fresh.RefreshToken
	}
	return t, a.creds.save(t)
}

// notRenewed separates temporary failures from a login that has ended. An ended login is
// removed, so that Google is not asked again.
func (a *api) notRenewed(t token, err error) error {
	refused := (*oauth2.RetrieveError)(nil)
	if !errors.As(err, &refused) || refused.Response != nil && refused.Response.StatusCode >= 500 {
		return &lostError{err: err}
	}
	var text string
	switch refused.ErrorCode {
	case "invalid_grant":
		text = textLapsed
	case "invalid_client", "unauthorized_client", "deleted_client":
		text = textNoClient
	default:
		if refused.Response != nil && refused.Response.StatusCode == http.StatusTooManyRequests {
			return &lostError{err: errors.New("too many requests")}
		}
		return says(textRefused, 0, clean.Line(refused.ErrorCode+" "+refused.ErrorDescription))
	}
	n := notes{Lapsed: text, Account: t.Account}
	err = errors.Join(a.creds.dir.WriteJSON(notesFile, n), a.creds.dir.Write(markFile, nil), a.creds.dir.Remove(TokenFile))
	return errors.Join(&offError{"google: " + text}, err)
}
