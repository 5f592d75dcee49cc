package google

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"time"

	"ollimbot/core/storage/store"
)

// The files. The first three are the original program's.
const (
	ClientFile = store.StateDir + "/credentials.json"
	TokenFile  = store.StateDir + "/token.json"
	markFile   = store.StateDir + "/google_auth_revoked"
	notesFile  = store.StateDir + "/google.json"
	loginFile  = store.StateDir + "/google_login.json"
	tokenLock  = "google"
)

var (
	errDamaged = errors.New("damaged")
	// ErrOff means that no login exists.
	ErrOff = errors.New("google is not connected")
)

// offError is ErrOff with the cure.
type offError struct{ text string }

func (e *offError) Error() string        { return e.text }
func (e *offError) Is(target error) bool { return target == ErrOff }

// token is the file that google-auth calls an authorized user's. Unknown keys are kept.
type token struct {
	Access   string  `json:"token"`
	Refresh  string  `json:"refresh_token"`
	URI      string  `json:"token_uri"`
	ID       string  `json:"client_id"`
	Secret   string  `json:"client_secret"`
	Scopes   scopes  `json:"scopes"`
	Universe string  `json:"universe_domain"`
	Account  string  `json:"account"`
	Expiry   instant `json:"expiry"`

	others map[string]json.RawMessage
}

// scopes may be a list, or one text with spaces.
type scopes []string

func (s *scopes) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*s = strings.Fields(text)
		return nil
	}
	return json.Unmarshal(data, (*[]string)(s))
}

// instant is a time as Python writes it: UTC, to the microsecond, perhaps without
// a zone.
type instant struct{ time.Time }

func (i *instant) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	if text == "" {
		return nil
	}
	t, err := time.Parse("2006-01-02T15:04:05", strings.TrimSuffix(text, "Z")) // takes fractions too
	if err != nil {
		t, err = time.Parse(time.RFC3339, text)
	}
	i.Time = t
	return err
}

func (i instant) MarshalJSON() ([]byte, error) {
	return json.Marshal(i.UTC().Format("2006-01-02T15:04:05.000000Z"))
}

// credentials are the files of the login. The lock of the directory orders changes
// between processes.
type credentials struct {
	dir *store.Dir
	now func() time.Time
}

// load reads the token. If it is missing or damaged, the error says what to do.
func (c *credentials) load() (token, error) {
	var t token
	var others map[string]json.RawMessage
	found, err := c.dir.PeekJSON(TokenFile, &t)
	if err == nil && found {
		_, err = c.dir.PeekJSON(TokenFile, &others)
	}
	switch {
	case err != nil, found && (t.Refresh == "" || t.ID == ""):
		return token{}, fmt.Errorf(textDamaged+"%w", silent{errDamaged})
	case found:
		t.others = others
		return t, nil
	}
	return token{}, &offError{textLogIn}
}

// silent is an error that errors.Is finds and that adds no text.
type silent struct{ error }

func (silent) Error() string   { return "" }
func (s silent) Unwrap() error { return s.error }

// save writes the token; the lock is held.
func (c *credentials) save(t token) error {
	data, err := json.Marshal(t)
	if err != nil {
		return err
	}
	all := maps.Clone(t.others)
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	return c.dir.WriteJSON(TokenFile, all)
}

// keep replaces the token and removes the notes about an older one.
func (c *credentials) keep(t token) error {
	return c.dir.WithLock(tokenLock, func() error {
		if err := c.save(t); err != nil {
			return err
		}
		return errors.Join(c.dir.Remove(notesFile), c.dir.Remove(markFile))
	})
}

// forget removes all files of a login.
func (c *credentials) forget() error {
	return c.dir.WithLock(tokenLock, func() error {
		var err error
		for _, name := range []string{TokenFile, notesFile, markFile, loginFile} {
			err = errors.Join(err, c.dir.Remove(name))
		}
		return err
	})
}

// off is why no login exists.
func (c *credentials) off() error {
	if s := c.State(); s.Why != "" {
		return &offError{"google: " + s.Why}
	}
	return &offError{textLogIn}
}

// notes are facts that the original's files have no place for.
type notes struct {
	Lapsed  string `json:"lapsed,omitempty"`  // why the login ended
	Account string `json:"account,omitempty"` // of the ended login
	Failure string `json:"failure,omitempty"` // why the last call did not reach Google
}

func (c *credentials) notes() notes {
	var n notes
	_, _ = c.dir.PeekJSON(notesFile, &n) // only explanations
	return n
}

// reached notes the last failure to reach Google, or "" for success. It writes changes only.
func (c *credentials) reached(failure string) {
	n := c.notes()
	if n.Failure == failure {
		return
	}
	n.Failure = failure
	_ = c.dir.WriteJSON(notesFile, n) // only explanations
}

// State reads the state from the files, without calling Google.
func (c *credentials) State() State {
	t, err := c.load()
	n := c.notes()
	switch {
	case err == nil && n.Failure != "":
		return State{Kind: Unreachable, Account: t.Account, Scopes: t.Scopes, Why: n.Failure}
	case err == nil:
		return State{Kind: Connected, Account: t.Account, Scopes: t.Scopes}
	case n.Lapsed != "":
		return State{Kind: Lapsed, Account: n.Account, Why: n.Lapsed}
	case errors.Is(err, errDamaged):
		return State{Kind: Lapsed, Why: err.Error()}
	}
	if _, err := c.app(); err != nil {
		return State{Kind: NotSetUp, Why: err.Error()}
	}
	return State{Kind: NotSetUp, Why: textLogIn}
}

// Revoked reports, once, that the login has ended without the user, and why.
func (c *credentials) Revoked() (why string, ended bool) {
	if _, err := c.dir.Read(markFile); err != nil || c.dir.Remove(markFile) != nil {
		return "", false
	}
	if why = c.notes().Lapsed; why == "" { // the original program noticed it
		why = textLapsed
	}
	return why, true
}

// app is the client that the user created at Google.
type app struct {
	ID       string `json:"client_id"`
	Secret   string `json:"client_secret"`
	AuthURI  string `json:"auth_uri"`
	TokenURI string `json:"token_uri"`
}

// app reads the client file.
func (c *credentials) app() (app, error) {
	data, err := c.dir.Read(ClientFile)
	if errors.Is(err, fs.ErrNotExist) {
		return app{}, errors.New(textNoApp)
	}
	if err != nil {
		return app{}, err
	}
	return readApp(data)
}

func readApp(data []byte) (app, error) {
	var kinds map[string]json.RawMessage
	if err := json.Unmarshal(data, &kinds); err != nil {
		return app{}, fmt.Errorf(textBadApp, "not JSON")
	}
	raw, ok := kinds["installed"]
	if !ok {
		for kind := range kinds {
			if kind == "web" || kind == "type" {
				return app{}, fmt.Errorf(textWrongApp, kind)
			}
		}
		return app{}, fmt.Errorf(textBadApp, `it has no "installed" entry`)
	}
	var a app
	if err := json.Unmarshal(raw, &a); err != nil || a.ID == "" || a.Secret == "" {
		return app{}, fmt.Errorf(textBadApp, "client_id or client_secret is missing")
	}
	return a, nil
}

// SetApp installs the client file that the user downloaded.
func (c *credentials) SetApp(data []byte) error {
	if _, err := readApp(data); err != nil {
		return err
	}
	return c.dir.Write(ClientFile, data)
}
