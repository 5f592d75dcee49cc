package claude

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/testkit"
)

const (
	goodCode  = "good-code-1234#state-5678"
	loginPage = "https://claude.example/oauth/authorize?code=true&state=5678"
)

// loginScript imitates "claude auth login", and "claude auth status" by the file that a login
// leaves in HOME.
const loginScript = `#!/bin/sh
case "$1 $2" in
"auth status")
	if [ -f "$HOME/in" ]; then echo '{"loggedIn":true,"authMethod":"claude.ai","apiProvider":"firstParty"}'; exit 0; fi
	echo '{"loggedIn":false,"authMethod":"none","apiProvider":"firstParty"}'; exit 1 ;;
"auth login")
	echo "$BROWSER" > "$HOME/browser"
	echo "Opening browser to sign in…"
	echo "If the browser didn't open, visit: ` + loginPage + `"
	printf 'Paste code here if prompted > '
	read code
	if [ "$code" = "` + goodCode + `" ]; then touch "$HOME/in"; echo "Login successful."; exit 0; fi
	echo "Login failed: the code $code is not known" >&2
	exit 1 ;;
esac
exit 2
`

// loginEngine returns an engine whose command is a shell script. Its login ends with the test.
func loginEngine(t *testing.T, script string) (e *Engine, home string) {
	t.Helper()
	home = t.TempDir()
	path := filepath.Join(home, "claude")
	testkit.Program(t, path, script)
	e = New(Options{Path: path, Env: []string{"PATH=/usr/bin:/bin", "HOME=" + home, "BROWSER=firefox"}})
	runLogins(t, e)
	return e, home
}

// runLogins runs an engine's logins until the test ends, without the rest of Run.
func runLogins(t *testing.T, e *Engine) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	testkit.Must(t, e.begin(ctx))
	end = func() { cancel(); e.end() }
	t.Cleanup(end)
	return end
}

// waitingLogin returns the login that is waiting for its code.
func waitingLogin(e *Engine) *attempt {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.login
}

// within10 returns a context that ends a hanging test.
func within10(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// loginEnded waits until the login has ended.
func loginEnded(t *testing.T, a *attempt) {
	t.Helper()
	select {
	case <-a.ended:
	case <-within10(t).Done():
		t.Fatal("the login does not end")
	}
}

func TestALoginGoesFromAddressToCodeToAccount(t *testing.T) {
	testkit.Alone(t)
	e, home := loginEngine(t, loginScript)
	ctx := within10(t)
	e.setStatus(func(s *agent.Status) { s.LoginNeeded, s.Problem = true, "not logged in" })
	address, err := e.Login(ctx)
	if err != nil || address != loginPage {
		t.Fatalf("the address is %q, %v", address, err)
	}
	if s := e.Status(); s.LoginURL != loginPage || !s.LoginNeeded {
		t.Errorf("while it waits the status is %+v", s)
	}
	testkit.Must(t, e.Finish(ctx, "  "+goodCode+"\n"))
	if s := e.Status(); s.LoginURL != "" || s.LoginNeeded || s.Problem != "" {
		t.Errorf("after it the status is %+v", s)
	}
	if browser, err := os.ReadFile(filepath.Join(home, "browser")); err != nil || string(browser) != "/bin/true\n" {
		t.Errorf("the browser is %q, %v", browser, err)
	}
	if err := e.Finish(ctx, goodCode); err == nil || err.Error() != textNoLogin {
		t.Errorf("a second code gives %v", err)
	}
}

func TestALoginThatSucceedsLeavesOtherProblemsAlone(t *testing.T) {
	testkit.Alone(t)
	e, _ := loginEngine(t, loginScript)
	ctx := within10(t)
	e.setStatus(func(s *agent.Status) { s.Problem = "claude 1.0 is too old" })
	if _, err := e.Login(ctx); err != nil {
		t.Fatal(err)
	}
	testkit.Must(t, e.Finish(ctx, goodCode))
	if s := e.Status(); s.Problem != "claude 1.0 is too old" {
		t.Errorf("the problem is %q", s.Problem)
	}
}

func TestARefusedCodeIsToldInOneLineWithoutTheCode(t *testing.T) {
	testkit.Alone(t)
	e, _ := loginEngine(t, loginScript)
	ctx := within10(t)
	if _, err := e.Login(ctx); err != nil {
		t.Fatal(err)
	}
	err := e.Finish(ctx, "secret-part#other-part")
	if err == nil || !strings.Contains(err.Error(), "Login failed") || strings.Contains(err.Error(), "\n") {
		t.Fatalf("the error is %v", err)
	}
	if strings.Contains(err.Error(), "secret-part") || strings.Contains(err.Error(), "other-part") {
		t.Errorf("the code is in the error: %v", err)
	}
	if s := e.Status(); s.LoginURL != "" {
		t.Errorf("the address is still there: %s", s.LoginURL)
	}
}

func TestHalfACodeLeavesTheLoginWaiting(t *testing.T) {
	testkit.Alone(t)
	e, _ := loginEngine(t, loginScript)
	ctx := within10(t)
	if _, err := e.Login(ctx); err != nil {
		t.Fatal(err)
	}
	for _, code := range []string{"", "  ", "abc", "abc#", "#def", "a b#c", "a#b\nc#d", "a\x00#b", strings.Repeat("x", 5000) + "#y"} {
		if err := e.Finish(ctx, code); err == nil || err.Error() != textHalfCode {
			t.Errorf("%.20q gives %v", code, err)
		}
	}
	if err := e.Finish(ctx, goodCode); err != nil {
		t.Errorf("the whole code gives %v", err)
	}
}

func TestNoCodeBecomesTwoLines(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		code, err := loginCode(rapid.String().Draw(t, "code") + rapid.SampledFrom([]string{"#", "", "#\n"}).Draw(t, "mark") + rapid.String().Draw(t, "state"))
		if err != nil {
			return
		}
		if strings.ContainsAny(code, "\n\r\x00\u2028") || !strings.Contains(code, "#") {
			t.Fatalf("%q would be handed over", code)
		}
	})
}

func TestASecondLoginReplacesTheFirst(t *testing.T) {
	testkit.Alone(t)
	e, _ := loginEngine(t, loginScript)
	ctx := within10(t)
	if _, err := e.Login(ctx); err != nil {
		t.Fatal(err)
	}
	first := waitingLogin(e)
	if _, err := e.Login(ctx); err != nil {
		t.Fatal(err)
	}
	select {
	case <-first.child.Done():
	default:
		t.Error("the first command still runs")
	}
	if s := e.Status(); s.LoginURL != loginPage {
		t.Errorf("the end of the first took the address of the second: %q", s.LoginURL)
	}
	if err := e.Finish(ctx, goodCode); err != nil {
		t.Error(err)
	}
}

func TestALoginEndsWithTheEngine(t *testing.T) {
	testkit.Alone(t)
	withScript, _ := loginEngine(t, loginScript)
	e := New(withScript.o)
	end := runLogins(t, e)
	ctx := within10(t)
	if _, err := e.Login(ctx); err != nil {
		t.Fatal(err)
	}
	a := waitingLogin(e)
	end()
	select {
	case <-a.child.Done():
	default:
		t.Error("the command still runs")
	}
	if s := e.Status(); s.LoginURL != "" {
		t.Errorf("the address is still there: %s", s.LoginURL)
	}
	if _, err := e.Login(ctx); err == nil {
		t.Error("a login begins after the end")
	}
}

func TestALoginDoesNotWaitForEver(t *testing.T) {
	testkit.Alone(t)
	e, _ := loginEngine(t, loginScript)
	e.loginLimit = time.Second
	_, err := e.Login(within10(t))
	if a := waitingLogin(e); a != nil {
		loginEnded(t, a)
	}
	if err := e.Finish(within10(t), goodCode); err == nil || err.Error() != textNoLogin {
		t.Errorf("a code that comes too late gives %v", err)
	}
	if err != nil {
		t.Errorf("the login did not begin: %v", err)
	}
	if s := e.Status(); s.LoginURL != "" {
		t.Errorf("the address is still there: %s", s.LoginURL)
	}
}

func TestALoginThatNobodyWaitsForIsEnded(t *testing.T) {
	testkit.Alone(t)
	e, _ := loginEngine(t, "#!/bin/sh\nread code\n")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := e.Login(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v", err)
	}
	if waitingLogin(e) != nil {
		t.Error("the command still waits")
	}
}

func TestACommandThatCannotLogInSaysWhy(t *testing.T) {
	testkit.Alone(t)
	for name, c := range map[string]struct{ script, want string }{
		"words on stderr":     {"#!/bin/sh\necho 'no network' >&2\nexit 1\n", "no network"},
		"a code only":         {"#!/bin/sh\nexit 3\n", "3"},
		"nothing":             {"#!/bin/sh\nexit 0\n", textLoginEnded},
		"an address of http":  {"#!/bin/sh\necho 'visit: http://evil.example/'\n", textLoginEnded},
		"a text with control": {"#!/bin/sh\nprintf 'bad\\033[31m\\n\\tthing\\n' >&2\nexit 1\n", "bad"},
	} {
		e, _ := loginEngine(t, c.script)
		_, err := e.Login(within10(t))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsAny(err.Error(), "\n\x1b\t") {
			t.Errorf("%s gives %v", name, err)
		}
		if s := e.Status(); s.LoginURL != "" {
			t.Errorf("%s leaves the address %q", name, s.LoginURL)
		}
	}
	e := New(Options{Path: filepath.Join(t.TempDir(), "missing")})
	runLogins(t, e)
	if _, err := e.Login(within10(t)); err == nil {
		t.Error("a command that is missing logs in")
	}
}

func TestTheAddressMayStandOnTheLineBelowItsAnnouncement(t *testing.T) {
	testkit.Alone(t)
	for said, want := range map[string]string{
		"If it did not open, visit:\n" + loginPage:                           loginPage,
		"visit:\n\n\033[4m" + loginPage + "\033[0m":                          loginPage,
		"If it did not open, visit: " + loginPage:                            loginPage,
		"see https://evil.example/\nvisit:\nno address\n" + loginPage + "/x": "",
	} {
		e, _ := loginEngine(t, "#!/bin/sh\nprintf '"+strings.ReplaceAll(said, "\n", "\\n")+"\\n'\n")
		if address, err := e.Login(within10(t)); address != want || (err == nil) != (want != "") {
			t.Errorf("%q gives %q, %v", said, address, err)
		}
	}
}

func TestOnlyAnHTTPSAddressIsShown(t *testing.T) {
	for line, want := range map[string]string{
		" https://claude.com/a?b=c":   "https://claude.com/a?b=c",
		"https://claude.com/a and so": "https://claude.com/a",
		"javascript:alert(1)":         "",
		"https://claude.com@evil.com": "",
		"https:///nohost":             "",
		"":                            "",
		"https://claude.com/" + strings.Repeat("x", maxAddress): "",
	} {
		got, ok := loginAddress(line)
		if got != want || ok != (want != "") {
			t.Errorf("%.60q gives %q, %v", line, got, ok)
		}
	}
}

func TestALoginsSpeechHasNoLineLimit(t *testing.T) {
	testkit.Alone(t)
	e, _ := loginEngine(t, "#!/bin/sh\nhead -c 1000000 /dev/zero | tr '\\0' x\necho\necho 'visit: "+loginPage+"'\nread code\n")
	if address, err := e.Login(within10(t)); err != nil || address != loginPage {
		t.Errorf("the address is %q, %v", address, err)
	}
}

func TestTheStatusIsReadOrTheErrorSaysWhatToDo(t *testing.T) {
	testkit.Alone(t)
	for name, c := range map[string]struct {
		script string
		want   Auth
		wrong  string
	}{
		"logged in": {"echo '{\"loggedIn\":true,\"authMethod\":\"api_key\",\"apiProvider\":\"firstParty\",\"apiKeySource\":\"ANTHROPIC_API_KEY\"}'", Auth{
			LoggedIn: true, Method: "api_key", Provider: "firstParty", KeySource: "ANTHROPIC_API_KEY",
		}, ""},
		"logged out": {"echo '{\"loggedIn\":false,\"authMethod\":\"none\",\"apiProvider\":\"firstParty\"}'; exit 1", Auth{Method: "none", Provider: "firstParty"}, ""},
		"nothing":    {"exit 0", Auth{}, textAuthNonsense},
		"nonsense":   {"echo hello", Auth{}, textAuthNonsense},
		"other JSON": {"echo '{\"a\":1}'", Auth{}, textAuthNonsense},
		"words":      {"echo 'unknown command' >&2; exit 1", Auth{}, "unknown command"},
	} {
		e, _ := loginEngine(t, "#!/bin/sh\n"+c.script+"\n")
		got, err := AuthStatus(within10(t), e.o.Path, e.env())
		if (err != nil) != (c.wrong != "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s gives the error %v", name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestAskingForTheStatusEndsWithItsContext(t *testing.T) {
	testkit.Alone(t)
	e, _ := loginEngine(t, "#!/bin/sh\nexec sleep 100000\n")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := AuthStatus(ctx, e.o.Path, e.env()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v", err)
	}
}

// realLogin returns an engine over the real command, which reaches nothing outside this machine:
// its proxy is a port without a listener.
func realLogin(t *testing.T, key string) *Engine {
	t.Helper()
	path := claudetest.RequireCLI(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	nobody := l.Addr().String()
	testkit.Must(t, l.Close())
	home := t.TempDir()
	env := []string{
		"PATH=/usr/bin:/bin", "HOME=" + home, "CLAUDE_CONFIG_DIR=" + home, "HTTPS_PROXY=http://" + nobody, "HTTP_PROXY=http://" + nobody,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1",
	}
	if key != "" {
		env = append(env, "ANTHROPIC_API_KEY="+key)
	}
	e := New(Options{Path: path, Env: env})
	runLogins(t, e)
	return e
}

func TestWithTheRealCLITheStatusSaysWhetherSomebodyIsLoggedIn(t *testing.T) {
	testkit.Alone(t)
	for key, want := range map[string]Auth{
		"":     {Method: "none", Provider: "firstParty"},
		"test": {LoggedIn: true, Method: "api_key", Provider: "firstParty", KeySource: "ANTHROPIC_API_KEY"},
	} {
		e := realLogin(t, key)
		got, err := AuthStatus(t.Context(), e.o.Path, e.env())
		testkit.Must(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("with the key %q: %s", key, diff)
		}
	}
}

func TestWithTheRealCLIALoginGivesAnAddressAndSaysWhyItFails(t *testing.T) {
	testkit.Alone(t)
	e := realLogin(t, "")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	address, err := e.Login(ctx)
	testkit.Must(t, err)
	if !strings.HasPrefix(address, "https://claude.com/") && !strings.HasPrefix(address, "https://claude.ai/") {
		t.Errorf("the address is %s", address)
	}
	if err := e.Finish(ctx, "half"); err == nil || err.Error() != textHalfCode {
		t.Errorf("half a code gives %v", err)
	}
	err = e.Finish(ctx, "abcdef#ghijkl")
	if err == nil || !strings.Contains(strings.ToLower(err.Error()), "log") {
		t.Errorf("without a network it fails with %v", err)
	}
	t.Logf("it says: %v", err)
}
