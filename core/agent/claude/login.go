package claude

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/process"
	"ollimbot/core/base/clean"
)

const (
	// loginLimit is how long a login waits for its code.
	loginLimit = 10 * time.Minute
	// addressLimit is how long the command may take to print the address, and exchangeLimit how
	// long it may take to exchange the code.
	addressLimit  = 30 * time.Second
	exchangeLimit = time.Minute
	// loginPatience is the pause between the steps of stopping the command, which has no state to
	// save.
	loginPatience = 200 * time.Millisecond

	maxAddress = 4096 // bytes
	maxCode    = 4096 // bytes
	maxWords   = 300  // characters of the command's output
)

// attempt is one "claude auth login" that waits for its code. Only one exists at a time; it ends
// with the engine.
type attempt struct {
	path    string
	child   *process.Process
	cancel  context.CancelFunc
	address chan string   // receives the first line with an address
	ended   chan struct{} // closed when the command and its children have ended
	given   atomic.Bool   // the code was passed on
}

// Login starts "claude auth login" and returns the address that it prints (agent.Account). The
// command works with plain pipes and waits for Finish for up to ten minutes. A second Login ends
// the first. An error is one line that says what to do.
func (e *Engine) Login(ctx context.Context) (string, error) {
	if err := e.waitBegun(ctx); err != nil {
		return "", err
	}
	a, err := e.startLogin()
	if err != nil {
		return "", err
	}
	address, err := a.waitAddress(ctx)
	if err != nil {
		a.end()
		return "", err
	}
	current := false
	e.setStatus(func(s *agent.Status) {
		if current = e.login == a; current {
			s.LoginURL = address
		}
	})
	if !current {
		return "", errors.New(textLoginReplaced)
	}
	return address, nil
}

// Finish passes the code from the page to the command and waits up to a minute for the result
// (agent.Account). After an incomplete code the login keeps waiting; after any other error a new
// Login is needed.
func (e *Engine) Finish(ctx context.Context, code string) error {
	code, err := loginCode(code)
	if err != nil {
		return err
	}
	e.mu.Lock()
	a := e.login
	e.mu.Unlock()
	switch {
	case a == nil:
		return errors.New(textNoLogin)
	case !a.given.CompareAndSwap(false, true):
		return errors.New(textCodeTwice)
	}
	defer a.end()
	if _, err := io.WriteString(a.child.Stdin(), code+"\n"); err != nil {
		a.end() // it has exited, so its output is complete
		return a.failure(code)
	}
	limit, cancel := context.WithTimeout(ctx, exchangeLimit)
	defer cancel()
	select {
	case <-a.ended:
	case <-limit.Done():
		if ctx.Err() != nil {
			return fmt.Errorf("finish the login: %w", ctx.Err())
		}
		return fmt.Errorf(textExchangeSlow, exchangeLimit)
	}
	if a.child.Err() != nil {
		return a.failure(code)
	}
	return e.loggedIn(ctx, a.path)
}

// startLogin starts the command and replaces an earlier one.
func (e *Engine) startLogin() (*attempt, error) {
	path, err := e.path(e.ctx)
	if err != nil {
		return nil, err
	}
	// A server has no browser, and on a desktop the user opens the address.
	env := slices.DeleteFunc(e.env(), func(v string) bool { return strings.HasPrefix(v, "BROWSER=") })
	child, err := process.Start(process.Spec{Path: path, Args: []string{"auth", "login"}, Env: append(env, "BROWSER=/bin/true")})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(e.ctx, e.loginLimit)
	a := &attempt{path: path, child: child, cancel: cancel, address: make(chan string, 1), ended: make(chan struct{})}
	var old *attempt
	running := e.ifRunning(func() {
		old, e.login = e.login, a
		e.later("login", func() { e.attend(ctx, a) })
	})
	if !running {
		cancel()
		return nil, errors.Join(errNotRunning, child.Stop(ctx, 0))
	}
	if old != nil {
		old.end()
	}
	return a, nil
}

// attend reads the command's output until it exits, is ended, or runs out of time.
func (e *Engine) attend(ctx context.Context, a *attempt) {
	defer close(a.ended)
	var reading sync.WaitGroup
	reading.Go(func() { _ = e.safely("login output", a.read) })
	select {
	case <-a.child.Done():
	case <-ctx.Done():
	}
	_ = a.child.Stop(context.WithoutCancel(ctx), loginPatience) // it has no state to save
	reading.Wait()
	e.setStatus(func(s *agent.Status) {
		if e.login == a {
			e.login, s.LoginURL = nil, ""
		}
	})
}

// loggedIn updates the status after a successful login.
func (e *Engine) loggedIn(ctx context.Context, path string) error {
	auth, err := AuthStatus(ctx, path, e.env())
	switch {
	case err != nil: // the login itself succeeded
		e.o.Log.Warn("status of the login is not known", "error", err)
	case !auth.LoggedIn:
		return errors.New(textStillOut)
	}
	e.setStatus(func(s *agent.Status) {
		if s.LoginNeeded {
			s.LoginNeeded, s.Problem = false, ""
		}
	})
	return nil
}

// end ends the command and waits until it and its children have ended.
func (a *attempt) end() {
	a.cancel()
	<-a.ended
}

// read reads all output and keeps the first address. Newer versions print it on its own line, below
// the announcement.
func (a *attempt) read() {
	r := bufio.NewReaderSize(a.child.Stdout(), 2*maxAddress)
	announced := false
	for {
		line, _, err := r.ReadLine() // pieces of a longer line contain no usable address
		text := clean.Line(string(line))
		_, rest, here := strings.Cut(text, "visit:")
		if !here && announced {
			rest = text
		}
		announced = here || announced && text == ""
		if found, ok := loginAddress(rest); ok {
			select {
			case a.address <- found:
			default:
			}
		}
		if err != nil {
			return
		}
	}
}

func (a *attempt) waitAddress(ctx context.Context) (string, error) {
	limit, cancel := context.WithTimeout(ctx, addressLimit)
	defer cancel()
	select {
	case address := <-a.address:
		return address, nil
	case <-a.ended:
		return "", a.failure("")
	case <-limit.Done():
		if ctx.Err() != nil {
			return "", fmt.Errorf("start a login: %w", ctx.Err())
		}
		return "", fmt.Errorf(textNoAddress, addressLimit)
	}
}

// failure returns the command's last output as an error, without the code, which is a secret.
func (a *attempt) failure(code string) error {
	words := a.child.StderrTail()
	if words == "" {
		if err := a.child.Err(); err != nil {
			words = err.Error()
		}
	}
	for _, part := range append(strings.Split(code, "#"), code) {
		if len(part) >= 4 { // shorter parts are not secret and occur in ordinary words
			words = strings.ReplaceAll(words, part, "…")
		}
	}
	if words == "" {
		return errors.New(textLoginEnded)
	}
	return fmt.Errorf(textLoginFailed, clean.Cut(clean.Line(words), maxWords))
}

// loginAddress finds the address after "visit:". Only an https address is ever shown.
func loginAddress(words string) (string, bool) {
	address, _, _ := strings.Cut(strings.TrimSpace(words), " ")
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || len(address) > maxAddress {
		return "", false
	}
	return address, true
}

// loginCode checks the code before it is passed on: an incomplete one would make the command ask
// again.
func loginCode(code string) (string, error) {
	code = strings.TrimSpace(code)
	before, after, ok := strings.Cut(code, "#")
	if !ok || before == "" || after == "" || len(code) > maxCode {
		return "", errors.New(textHalfCode)
	}
	if strings.ContainsFunc(code, func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) }) {
		return "", errors.New(textHalfCode)
	}
	return code, nil
}

const (
	authLimit = 10 * time.Second
	authBytes = 64 << 10 // largest answer; the real one has about 100 bytes
)

// Auth is the command's login status.
type Auth struct {
	LoggedIn  bool   `json:"loggedIn"`
	Method    string `json:"authMethod"`   // "none", "api_key", "oauth_token", …
	Provider  string `json:"apiProvider"`  // "firstParty", "bedrock", "vertex"
	KeySource string `json:"apiKeySource"` // the variable of the key, or empty
}

// AuthStatus asks the command at path for its login status, which needs no network. It takes at
// most ten seconds. Being logged out is not an error; an error is one line that says what to do, or
// ctx's.
func AuthStatus(ctx context.Context, path string, env []string) (Auth, error) {
	answer, err := process.Run(ctx, process.Spec{Path: path, Args: []string{"auth", "status", "--json"}, Env: env}, authLimit, authBytes)
	switch {
	case ctx.Err() != nil:
		return Auth{}, fmt.Errorf("ask claude for its login: %w", ctx.Err())
	case errors.Is(err, process.ErrSlow):
		return Auth{}, fmt.Errorf(textAuthSlow, authLimit)
	case err != nil:
		return Auth{}, err
	}
	auth, err := readAuth(answer.Stdout)
	if err != nil && answer.Stderr != "" { // the exit code only reports whether the user is logged in
		err = fmt.Errorf(textAuthSaid, clean.Cut(answer.Stderr, maxWords))
	}
	return auth, err
}

// readAuth parses the command's answer, which must have the field loggedIn.
func readAuth(answer []byte) (Auth, error) {
	var known struct {
		LoggedIn *bool `json:"loggedIn"`
	}
	var a Auth
	if json.Unmarshal(answer, &known) != nil || known.LoggedIn == nil || json.Unmarshal(answer, &a) != nil {
		return Auth{}, errors.New(textAuthNonsense)
	}
	for _, s := range []*string{&a.Method, &a.Provider, &a.KeySource} {
		*s = clean.Cut(clean.Line(*s), 60)
	}
	return a, nil
}
