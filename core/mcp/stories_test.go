package mcp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/mcp/login/logintest"
	"ollimbot/routines"
)

// fits compares texts; "…" in the wanted one stands for anything.
func fits(want, got string) bool {
	parts := strings.Split(want, "…")
	for i, part := range parts {
		at := strings.Index(got, part)
		if i == len(parts)-1 && i > 0 {
			return strings.HasSuffix(got, part)
		}
		if at < 0 || i == 0 && at > 0 {
			return false
		}
		got = got[at+len(part):]
	}
	return got == ""
}

// A story has servers, each named after its part, or one behind a login, perhaps limits, and then steps of them and of their host: a
// line is a verb with words, and behind " -> " what comes of it, where … is anything and ⏎ a new line. It begins when all tools are
// known, or "at once". "until" repeats a step. "again" is a new start of the bot.
func stories(t *testing.T, file string) {
	t.Helper()
	goldentest.Stories(t, "stories/"+file+".txt", func(t *testing.T, text string) string {
		if !*goldentest.Update {
			t.Parallel()
		}
		p := &player{folder: t.TempDir()}
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			step, want, _ := strings.Cut(line, " ->")
			want = strings.ReplaceAll(strings.TrimSpace(want), "⏎", "\n")
			step, wait := strings.CutPrefix(step, "until ")
			verb, rest, _ := strings.Cut(step, " ")
			if verb == "#" || p.begin(t, verb, rest) {
				continue
			}
			if wait {
				unseen := verb == "processes" || verb == "call" || verb == "known"
				p.until(line, func() bool { return fits(want, p.do(verb, rest)) || unseen && p.pause() })
			} else if got := p.do(verb, rest); !fits(want, got) {
				lines[i] = step + " -> " + strings.ReplaceAll(got, "\n", "⏎")
			}
		}
		return strings.Join(lines, "\n")
	})
}

// begin reads how a story begins, and begins it before its first other step.
func (p *player) begin(t *testing.T, verb, rest string) (more bool) {
	switch verb {
	case "servers":
		if rest == "login" {
			p.login, p.home = behindLogin(t)
			p.begun = true
			return true
		}
		p.home = newHome(t, stdio(t, map[string]string{"PIDS": filepath.Join(p.folder, "pids"), "DESCRIPTION": filepath.Join(p.folder, "description")}, strings.Fields(rest)...))
		return true
	case "limits":
		for one := range strings.FieldsSeq(rest) {
			name, value, _ := strings.Cut(one, "=")
			d, _ := time.ParseDuration(value) // none for "searched"
			switch name {
			case "newest":
				p.limits.newest = d
			case "older":
				p.limits.older = d
			case "idle":
				p.limits.idle = d
			default:
				p.limits.direct = maxDirect
			}
		}
		return true
	}
	if !p.begun {
		p.begun = true
		p.remake()
		p.run()
		if verb != "at" {
			p.known()
		}
	}
	return verb == "at"
}

// player plays a story.
type player struct {
	*home
	begun   bool
	login   *logintest.Server
	folder  string
	offered routines.Proposal // read last
	page    string            // the last address of a login
	tokens  int               // requests for them that were seen
}

// address is that of a login's page, a forged one, or another.
func (p *player) address(which string) string {
	switch which {
	case "", "page":
		return " " + p.page + "\n"
	case "forged":
		return strings.Replace(p.page, "state=", "state=x", 1)
	}
	return which
}

// do takes a step and returns what comes of it.
func (p *player) do(verb, rest string) string {
	said := func(err error) string {
		if err != nil {
			return "! " + err.Error()
		}
		return ""
	}
	switch verb {
	case "end":
		p.end()
	case "again": // the bot starts again
		p.end()
		p.remake()
		p.run()
	case "renew":
		p.Renew(p.t.Context())
	case "save":
		p.save(rest)
		p.Reload()
	case "describe":
		testkit.Must(p.t, os.WriteFile(filepath.Join(p.folder, "description"), []byte(rest), 0o600))
	case "call", "ask":
		tool, args, _ := strings.Cut(rest, " ")
		if verb == "ask" {
			got, err := p.Ask(p.t.Context(), tool, json.RawMessage(args))
			return got + said(err)
		}
		r := p.call(tool, args)
		if r.IsError {
			return "! " + r.Text
		}
		return r.Text
	case "state":
		return p.state(rest).String()
	case "tools":
		return strconv.Itoa(len(p.Tools()))
	case "said":
		return p.said()
	case "count":
		return strconv.Itoa(strings.Count(p.said(), rest))
	case "logged":
		return strconv.Itoa(strings.Count(p.log(), rest))
	case "log":
		lines, err := Log(p.dir, rest, 10)
		return strings.Join(lines, "\n") + said(err)
	case "offers":
		p.mu.Lock()
		defer p.mu.Unlock()
		return strconv.Itoa(p.offers)
	case "offered":
		p.offered = p.Offered()[rest]
		return p.offered.Why + ": " + p.offered.Diff
	case "allow":
		server, version, _ := strings.Cut(rest, " ")
		return said(p.AllowTools(server, strings.Replace(version, "it", p.offered.Version, 1)))
	case "refuse":
		return said(p.RefuseTools(rest, p.offered.Version))
	case "known": // beside the bot
		states, _, err := Known(p.dir, func(string) (string, bool) { return "", false })
		testkit.Must(p.t, err)
		return states[0].String()
	case "reload":
		p.Reload()
	case "sign":
		p.signIn()
	case "other": // program
		other := &home{t: p.t, dir: p.dir, env: p.env, news: make(chan struct{}, 1), end: func() {}}
		other.remake()
		other.run()
		other.signIn()
	case "lasts":
		p.login.Lasts = 30 * time.Second // less than the minute before the expiry
	case "break": // the requests for tokens
		p.login.Override = func(w http.ResponseWriter, r *http.Request) bool {
			broken := r.URL.Path == "/token"
			if broken {
				w.WriteHeader(http.StatusTeapot)
			}
			return broken
		}
	case "page":
		p.page = logintest.Browse(p.t, p.home.page("weather"))
	case "visit":
		return logintest.Visit(p.t, strings.TrimSpace(p.address(rest)))
	case "redirected":
		return strconv.FormatBool(p.Redirected(p.address(rest)))
	case "logout":
		return said(p.Logout(rest))
	case "revoke":
		p.login.Revoke(rest == "all")
	case "more":
		before := p.tokens
		p.tokens = p.login.Count("POST /token")
		return strconv.FormatBool(p.tokens > before)
	case "requests":
		return strconv.Itoa(p.login.Count(rest))
	case "processes":
		all, over := pidsIn(p.t, filepath.Join(p.folder, "pids")), 0
		for _, pid := range all {
			if gone(pid) {
				over++
			}
		}
		return fmt.Sprintf("%d, of which %d have ended", len(all), over)
	default:
		p.t.Fatalf("no step %q", verb)
	}
	return ""
}

func TestAServerStartsAndEnds(t *testing.T) {
	testkit.Alone(t)
	stories(t, "starts")
}

func TestABadServerGetsASentenceAndTheOthersGoOn(t *testing.T) {
	testkit.Alone(t)
	stories(t, "bad")
}

func TestWhatASessionGetsFromServers(t *testing.T) {
	testkit.Alone(t)
	stories(t, "gets")
}

func TestToolsThatChangeWaitForTheUser(t *testing.T) {
	testkit.Alone(t)
	stories(t, "change")
}

// 31
func TestAServerThatAsksForALogin(t *testing.T) {
	testkit.Alone(t)
	stories(t, "login")
}
