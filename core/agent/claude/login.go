package claude

import (
	"bufio"
	"cmp"
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
	// addressLimit is how long the command may take to say the address, and
	// exchangeLimit to trade the code in.
	addressLimit  = 30 * time.Second
	exchangeLimit = time.Minute
	// loginPatience is how long the command is given between the steps of its
	// end: there is nothing that it could lose.
	loginPatience = 200 * time.Millisecond

	authLimit = 10 * time.Second
	authBytes = 64 << 10 // of an answer; the real one has about 100

	maxAddress = 4096 // bytes
	maxCode    = 4096 // bytes
	maxWords   = 300  // runes of what the command says
)

// login is the engine's login, of which there is one at a time. Its zero value
// is ready; the engine's end calls endLogin.
type login struct {
	limit time.Duration // 0 is loginLimit

	mu   sync.Mutex
	now  *attempt // nil while nobody logs in
	over bool     // the engine has ended
}

// attempt is one "claude auth login" that waits for its code. Its goroutine ends
// with the command; end waits for it.
type attempt struct {
	child   *process.Process
	cancel  context.CancelFunc
	address chan string // takes the first line with an address
	ended   chan struct{}
	given   atomic.Bool // the code was handed over
}

// Login starts "claude auth login" and answers with the address that it shows
// (agent.Account). The command works with plain pipes; it waits
// for Finish for ten minutes at most. A second Login ends the first. An error is
// one line that says what to do.
func (e *Engine) Login(ctx context.Context) (string, error) {
	a, err := e.startLogin()
	if err != nil {
		return "", err
	}
	address, err := a.waitAddress(ctx)
	if err != nil {
		a.end()
		return "", err
	}
	running := false
	e.setStatus(func(s *agent.Status) {
		// Asked in here: what ends the login clears the address after this.
		if running = e.login.current() == a; running {
			s.LoginURL = address
		}
	})
	if !running {
		return "", errors.New(textLoginReplaced)
	}
	return address, nil
}

// Finish hands the code of the page to the command and waits for its verdict,
// for a minute at most (agent.Account). A code that was not copied in full leaves
// the login as it is; after any other error a new Login is needed.
func (e *Engine) Finish(ctx context.Context, code string) error {
	code, err := loginCode(code)
	if err != nil {
		return err
	}
	a := e.login.current()
	switch {
	case a == nil:
		return errors.New(textNoLogin)
	case !a.given.CompareAndSwap(false, true):
		return errors.New(textCodeTwice)
	}
	defer a.end()
	if _, err := io.WriteString(a.child.Stdin(), code+"\n"); err != nil {
		a.end() // it has ended: its last words are complete now
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
	return e.loggedIn(ctx)
}

// startLogin starts the command and puts it in the place of an earlier one.
func (e *Engine) startLogin() (*attempt, error) {
	path, err := e.path()
	if err != nil {
		return nil, err
	}
	// On a server there is no browser, and on a desktop it is the user who opens the
	// address.
	env := slices.DeleteFunc(e.env(), func(v string) bool { return strings.HasPrefix(v, "BROWSER=") })
	child, err := process.Start(process.Spec{Path: path, Args: []string{"auth", "login"}, Env: append(env, "BROWSER=/bin/true")})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), cmp.Or(e.login.limit, loginLimit))
	a := &attempt{child: child, cancel: cancel, address: make(chan string, 1), ended: make(chan struct{})}
	go func() { // end waits for it
		defer close(a.ended)
		_ = e.safely("login", func() { e.attend(ctx, a) }) // safely has logged it
		e.login.mu.Lock()
		mine := e.login.now == a
		if mine {
			e.login.now = nil
		}
		e.login.mu.Unlock()
		if mine {
			e.setStatus(func(s *agent.Status) { s.LoginURL = "" })
		}
	}()
	e.login.mu.Lock()
	old, over := e.login.now, e.login.over
	if !over {
		e.login.now = a
	}
	e.login.mu.Unlock()
	if old != nil {
		old.end()
	}
	if over {
		a.end()
		return nil, errors.New(textNotRunning)
	}
	return a, nil
}

// loggedIn brings the status up to date after a login that went well.
func (e *Engine) loggedIn(ctx context.Context) error {
	path, err := e.path()
	if err != nil {
		return err
	}
	auth, err := AuthStatus(ctx, path, e.env())
	switch {
	case err != nil: // the login itself has said that it is done
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

// endLogin ends the login with the engine; no other can begin.
func (e *Engine) endLogin() {
	e.login.mu.Lock()
	a := e.login.now
	e.login.over = true
	e.login.mu.Unlock()
	if a != nil {
		a.end()
	}
}

func (l *login) current() *attempt {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

// attend reads what the command says until it ends by itself, is ended, or time is
// up.
func (e *Engine) attend(ctx context.Context, a *attempt) {
	var reading sync.WaitGroup
	reading.Go(func() { _ = e.safely("login output", a.read) })
	select {
	case <-a.child.Done():
	case <-ctx.Done():
	}
	_ = a.child.Stop(context.WithoutCancel(ctx), loginPatience) // it had nothing to lose
	reading.Wait()
}

// end ends the command and waits until nothing of it is left.
func (a *attempt) end() {
	a.cancel()
	<-a.ended
}

// read reads all that the command says and keeps the first address. Newer
// versions print it on a line of its own, below the words that announce it.
func (a *attempt) read() {
	r := bufio.NewReaderSize(a.child.Stdout(), 2*maxAddress)
	announced := false
	for {
		line, _, err := r.ReadLine() // pieces of a longer line hold no address of use
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
			return "", fmt.Errorf("begin a login: %w", ctx.Err())
		}
		return "", fmt.Errorf(textNoAddress, addressLimit)
	}
}

// failure is what the command has said at its end. Code is a secret, and is
// taken out should it be repeated.
func (a *attempt) failure(code string) error {
	words := a.child.StderrTail()
	if words == "" {
		if err := a.child.Err(); err != nil {
			words = err.Error()
		}
	}
	for _, part := range append(strings.Split(code, "#"), code) {
		if len(part) >= 4 { // a shorter one is no secret, but part of words
			words = strings.ReplaceAll(words, part, "…")
		}
	}
	if words == "" {
		return errors.New(textLoginEnded)
	}
	return fmt.Errorf(textLoginFailed, clean.Cut(clean.Line(words), maxWords))
}

// loginAddress takes the address from the head of the words behind "visit:".
// Nothing but an https address is shown to anybody.
func loginAddress(words string) (string, bool) {
	address, _, _ := strings.Cut(strings.TrimSpace(words), " ")
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || len(address) > maxAddress {
		return "", false
	}
	return address, true
}

// loginCode checks the code before the command sees it: half a code makes it
// ask again, with nobody there to answer.
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

// Auth is how the command is logged in.
type Auth struct {
	LoggedIn  bool   `json:"loggedIn"`
	Method    string `json:"authMethod"`   // "none", "api_key", "oauth_token", …
	Provider  string `json:"apiProvider"`  // "firstParty", "bedrock", "vertex"
	KeySource string `json:"apiKeySource"` // the variable of the key, or empty
}

// AuthStatus asks the command at path how it is logged in, without asking any
// server. It takes ten seconds at most. Not to be logged in is no error; an
// error is one line that says what to do, or that of ctx.
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
	if err != nil && answer.Stderr != "" { // its exit code says logged in or not, so only words count
		err = fmt.Errorf(textAuthSaid, clean.Cut(answer.Stderr, maxWords))
	}
	return auth, err
}

// readAuth reads the command's answer. Without the field that matters it is not
// the answer of a claude command.
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
