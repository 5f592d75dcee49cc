package claude

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/process"
	"ollimbot/core/clean"
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

// attempt is one "claude auth login" that waits for its code. Its two
// goroutines end with the command; end waits for them.
type attempt struct {
	child   *process.Process
	cancel  context.CancelFunc
	address chan string // takes the first line with an address
	ended   chan struct{}
	given   atomic.Bool // the code was handed over
	work    sync.WaitGroup
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
	child, err := process.Start(process.Spec{Path: path, Args: []string{"auth", "login"}, Env: withoutBrowser(e.env())})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), cmp.Or(e.login.limit, loginLimit))
	a := &attempt{child: child, cancel: cancel, address: make(chan string, 1), ended: make(chan struct{})}
	a.work.Go(func() { _ = e.safely("login output", a.read) }) // safely has logged it
	a.work.Go(func() {
		_ = e.safely("login", func() { a.watch(ctx) })
		_ = e.safely("login status", func() { e.clearLogin(a) })
	})
	old, ok := e.login.replace(a)
	if old != nil {
		old.end()
	}
	if !ok {
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

// clearLogin takes the address of an ended login out of the status.
func (e *Engine) clearLogin(a *attempt) {
	if e.login.forget(a) {
		e.setStatus(func(s *agent.Status) { s.LoginURL = "" })
	}
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

// replace makes a the login that runs; ok is false after the engine's end.
func (l *login) replace(a *attempt) (old *attempt, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return nil, false
	}
	old, l.now = l.now, a
	return old, true
}

func (l *login) current() *attempt {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

// forget reports whether a was the login that ran.
func (l *login) forget(a *attempt) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now != a {
		return false
	}
	l.now = nil
	return true
}

// watch keeps the command until it ends by itself, is ended, or time is up.
func (a *attempt) watch(ctx context.Context) {
	defer close(a.ended)
	select {
	case <-a.child.Done():
	case <-ctx.Done():
	}
	_ = a.child.Stop(context.WithoutCancel(ctx), loginPatience) // it had nothing to lose
}

// end ends the command and waits until nothing of it is left.
func (a *attempt) end() {
	a.cancel()
	a.work.Wait()
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
		a.work.Wait()
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

// withoutBrowser is an environment in which the command opens no browser: on a
// server there is none, and on a desktop it is the user who opens the address.
func withoutBrowser(env []string) []string {
	out := make([]string, 0, len(env)+1)
	for _, v := range env {
		if !strings.HasPrefix(v, "BROWSER=") {
			out = append(out, v)
		}
	}
	return append(out, "BROWSER=/bin/true")
}
