package claude

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/agent/claude/process"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
)

func TestWhatACommandMustBe(t *testing.T) {
	testkit.Alone(t)
	stories(t, "commands", tellCommand)
}

func TestALoginGoesFromAddressToCodeToAccount(t *testing.T) {
	testkit.Alone(t)
	t.Parallel() // one story waits for the end of a login's time
	stories(t, "login", tellCommand)
}

// loginScript imitates "claude auth login", and "claude auth status" by the file that a login
// leaves in HOME.
const loginScript = `case "$1 $2" in
"auth status")
	if [ -f "$HOME/in" ]; then echo '{"loggedIn":true,"authMethod":"claude.ai","apiProvider":"firstParty"}'; exit 0; fi
	echo '{"loggedIn":false,"authMethod":"none","apiProvider":"firstParty"}'; exit 1 ;;
"auth login")
	echo $$ >> "$HOME/started"
	echo "Opening browser to sign in with $BROWSER…"
	echo "If the browser didn't open, visit: https://claude.example/oauth/authorize?code=true&by=$BROWSER"
	printf 'Paste code here if prompted > '
	read code
	case "$code" in
	good#code) touch "$HOME/in"; echo "Login successful."; exit 0 ;;
	lost#code) echo "Login successful."; exit 0 ;;
	odd#code) touch "$HOME/in"; printf '#!/bin/sh\necho nonsense\n' > "$0"; exit 0 ;;
	esac
	echo "Login failed: the code $code is not known" >&2
	exit 1 ;;
esac
`

// tellCommand plays a story of an engine over a command that is a shell script.
func tellCommand(t *testing.T, steps []string) string {
	home, broken := t.TempDir(), playing(t, "#!/bin/sh\necho 'node: not found' >&2\nexit 127\n", 0o700)
	path := filepath.Join(home, "claude")
	o := Options{Path: path, Env: []string{"PATH=/usr/bin:/bin", "HOME=" + home, "BROWSER=firefox"}, Log: testLog(t)}
	script := func(body string) { testkit.Program(t, path, "#!/bin/sh\n"+body) }
	version := func(v string) string {
		v = strings.NewReplacer("NEWEST", process.Newest(), "OLDEST", process.Oldest()).Replace(v)
		return fmt.Sprintf("[ \"$1\" = --version ] && { echo '%s (Claude Code)'; exit 0; }\n", v)
	}
	var e *Engine
	end, limit, greets := func() {}, loginLimit, ""
	var out strings.Builder
	status := map[string]string{"login needed": "false"}
	write := func(what string, err error) {
		if err != nil {
			what = fmt.Sprint(err)
		}
		fmt.Fprintf(&out, "it says: %s\n", what)
	}
	now := func() map[string]string {
		s := statusOf(e.Status())
		delete(s, "models")
		delete(s, "processes") // which end a moment later
		return s
	}
	until := func(what string) { // the status has this
		name, text, _ := strings.Cut(what, ": ")
		eventually(t, func() bool { return cmp.Or(now()[name], "none") == text })
	}
	for _, step := range steps {
		fmt.Fprintln(&out, step)
		verb, rest, _ := strings.Cut(strings.TrimPrefix(step, "> "), " ")
		ctx, cancel := context.WithTimeout(t.Context(), soon)
		for _, may := range []time.Duration{50 * time.Millisecond, 200 * time.Millisecond} { // otherwise it would take forever
			if word := " within " + may.String(); strings.HasSuffix(step, word) {
				ctx, cancel = context.WithTimeout(t.Context(), may)
				rest = strings.TrimSuffix(" "+rest, word)
			}
		}
		switch verb {
		case "version": // of a command that does nothing else
			script(version(rest))
		case "login-command":
			script(version(rest) + loginScript)
		case "script":
			script(rest + "\n")
		case "file": // that cannot be run
			testkit.Must(t, os.WriteFile(path, []byte("#!/bin/sh\n"), 0o600))
			testkit.Must(t, os.Chmod(path, 0o600))
		case "removed":
			testkit.Must(t, os.Remove(path))
		case "limit": // of a login
			limit = 10 * time.Second // an address comes in less
		case "nowhere":
			o.Path, o.Env = "", []string{"PATH=" + home, "HOME=" + home}
		case "sandbox": // in which the script does not work
			o.Sandbox = func(cmd *exec.Cmd) func() { cmd.Path = broken; return func() {} }
		case "greets":
			greets = rest
		case "start":
			e = New(o)
			e.loginLimit = limit
			if greets != "" {
				e.start = func(process.Spec) (child, error) {
					p := newPlayer()
					p.greets = greets
					go p.listen()
					return p, nil
				}
			}
			end = runEngine(t, e)
			<-e.examined
			if what, ok := strings.CutPrefix(rest, "until "); ok {
				until(what)
			}
		case "end":
			end()
		case "run":
			write("ok", e.Run(ctx))
		case "open":
			s, err := e.Open(ctx, agent.SessionOptions{Dir: home})
			if write("ok", err); err == nil {
				testkit.Must(t, s.Close())
			}
		case "login":
			address, err := e.Login(ctx)
			write(address, err)
		case "code":
			text, err := strconv.Unquote(rest)
			testkit.Must(t, err)
			write("ok", e.Finish(ctx, text))
		case "long": // a code
			write("ok", e.Finish(ctx, strings.Repeat("x", maxCode)+"#y"))
		case "auth":
			auth, err := AuthStatus(ctx, path, e.env())
			write(brief(auth), err)
		case "soon":
			until(rest)
		case "alive": // how many of the logins
			data, err := os.ReadFile(filepath.Join(home, "started"))
			testkit.Must(t, err)
			n := 0
			for pid := range strings.FieldsSeq(string(data)) {
				number, err := strconv.Atoi(pid)
				testkit.Must(t, err)
				if syscall.Kill(number, 0) == nil {
					n++
				}
			}
			write(fmt.Sprint(n), nil)
		default:
			t.Fatalf("nothing is done by %q", verb)
		}
		cancel()
		if e == nil {
			continue
		}
		is := now()
		for _, name := range slices.Sorted(maps.Keys(is)) {
			if is[name] != status[name] {
				fmt.Fprintf(&out, "%s: %s\n", name, cmp.Or(is[name], "none"))
			}
		}
		status = is
	}
	end()
	return strings.TrimSpace(strings.NewReplacer(home, "$HOME", process.Newest(), "NEWEST", process.Oldest(), "OLDEST").Replace(out.String()))
}

func TestAnEngineThatDoesNotRunOpensNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := New(Options{Path: "/nowhere"}).Open(t.Context(), agent.SessionOptions{})
		oneLine(t, err, "not running")
	})
}

func TestAnIDIsFreeAsSoonAsItsOpeningHasFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened := 0
		s := newStage(t, Options{}, func(p *player) { opened++; p.mute.Store(opened == 1) })
		o := agent.SessionOptions{Dir: "/", ID: store.NewUUID()}
		if _, err := s.engine.Open(t.Context(), o); !errors.Is(err, context.DeadlineExceeded) {
			t.Error("a command that does not answer:", err)
		}
		_, err := s.engine.Open(t.Context(), o)
		testkit.Must(t, err)
	})
}

func TestNoCodeBecomesTwoLines(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		code, err := loginCode(rapid.String().Draw(t, "code") + rapid.SampledFrom([]string{"#", "", "#\n"}).Draw(t, "mark") + rapid.String().Draw(t, "state"))
		if err == nil && (strings.ContainsAny(code, "\n\r\x00\u2028") || !strings.Contains(code, "#")) {
			t.Fatalf("%q would be handed over", code)
		}
	})
}

func TestOnlyAnHTTPSAddressIsShown(t *testing.T) {
	for line, want := range map[string]string{
		" https://claude.com/a?b=c":   "https://claude.com/a?b=c",
		"https://claude.com/a and so": "https://claude.com/a",
		"javascript:alert(1)":         "",
		"http://claude.com/":          "",
		"https://claude.com@evil.com": "",
		"https:///nohost":             "",
		"":                            "",
		"https://claude.com/" + strings.Repeat("x", maxAddress-19): "https://claude.com/" + strings.Repeat("x", maxAddress-19),
		"https://claude.com/" + strings.Repeat("x", maxAddress-18): "",
	} {
		if got, ok := loginAddress(line); got != want || ok != (want != "") {
			t.Errorf("%.60q gives %q, %v", line, got, ok)
		}
	}
}

func TestWithTheRealCLITheLoginAndItsStatusAreAsWeReadThem(t *testing.T) {
	testkit.Alone(t)
	path := claudetest.RequireCLI(t)
	// It reaches nothing outside this machine: its proxy is a port without a listener.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	unused := l.Addr().String()
	testkit.Must(t, l.Close())
	home := t.TempDir()
	env := []string{
		"PATH=/usr/bin:/bin", "HOME=" + home, "CLAUDE_CONFIG_DIR=" + home, "HTTPS_PROXY=http://" + unused, "HTTP_PROXY=http://" + unused,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1",
	}
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	e := New(Options{Path: path, Env: env, Log: testLog(t)})
	runEngine(t, e)
	for key, want := range map[string]Auth{
		"":                       {Method: "none", Provider: "firstParty"},
		"ANTHROPIC_API_KEY=test": {LoggedIn: true, Method: "api_key", Provider: "firstParty", KeySource: "ANTHROPIC_API_KEY"},
	} {
		got, err := AuthStatus(ctx, path, append(e.env(), key))
		testkit.Must(t, err)
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("with the key %q: %s", key, diff)
		}
	}
	address, err := e.Login(ctx)
	testkit.Must(t, err)
	if !strings.HasPrefix(address, "https://claude.com/") && !strings.HasPrefix(address, "https://claude.ai/") {
		t.Errorf("the address is %s", address)
	}
	oneLine(t, e.Finish(ctx, "half"), textHalfCode)
	err = e.Finish(ctx, "abcdef#ghijkl") // without a network
	oneLine(t, err, "log")
	t.Logf("it says: %v", err)
}

// TestWhatIsKnownOfTheReleaseIsTrue checks the table of releases against the installed command.
func TestWhatIsKnownOfTheReleaseIsTrue(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t, func(o *Options) {
		o.Process.Extra = []string{"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=", "CLAUDE_AGENT_SDK_DISABLE_BUILTIN_AGENTS="}
	})
	s := r.open(func(o *agent.SessionOptions) { o.Settings.Model = "opus" })
	h := say(t, s, claudetest.Script(claudetest.Step{Tool: "Agent", Input: map[string]any{
		"description": "ask", "subagent_type": "general-purpose", "prompt": claudetest.Script(claudetest.Step{Text: "The subagent speaks."}),
	}}, claudetest.Step{Text: "It spoke."}))
	release := process.Like(r.engine.Status().Version)
	q := r.requests()
	if !strings.HasPrefix(q[0].Model, release.Opus) {
		t.Errorf("opus is %s, not %s", q[0].Model, release.Opus)
	}
	if always := q[0].Thinking.Type != "disabled"; always != release.AlwaysThinks {
		t.Errorf("with thinking off it is asked for %q", q[0].Thinking.Type)
	}
	ends := all[agent.ToolEnd](h)
	if goesOn := len(ends) == 0 || !strings.Contains(ends[0].Text, "The subagent speaks."); goesOn != (release.Version != process.Oldest()) {
		t.Errorf("the subagent continues: %t; %+v", goesOn, ends)
	}
}
