package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/base/testkit"
)

// acts does what is written, separated by ", ", on a connection of the server.
func (p *peer) acts(script string) {
	for act := range strings.SplitSeq(script, ", ") {
		verb, arg, _ := strings.Cut(act, " ")
		d, _ := time.ParseDuration(arg)
		n, _ := strconv.Atoi(arg)
		switch verb {
		case "", "silent":
		case "hello":
			p.hello()
		case "login":
			p.login()
		case "ready":
			p.ready()
		case "welcome":
			p.welcome()
		case "idle":
			p.idle(d)
		case "says":
			p.dispatch("MESSAGE_CREATE", words("1", arg))
		case "replays": // the n-th dispatch
			p.send(p.s.log[n-1])
		case "deletes":
			p.dispatch("MESSAGE_DELETE", map[string]any{"id": arg, "channel_id": "77"})
		case "edits":
			p.dispatch("MESSAGE_UPDATE", words("1", arg))
		case "denies": // every session
			for p.login() != 0 {
				p.send(packetOut{Op: opInvalid, D: false})
			}
		case "admits": // like Discord, no session within five seconds of another
			p.hello()
			p.login()
			early := time.Since(p.s.last) < 5*time.Second
			if p.s.last = time.Now(); !early {
				p.ready()
				p.idle(time.Hour)
			} else {
				p.send(packetOut{Op: opInvalid, D: false})
				p.idle(time.Second)
			}
		case "misses": // it happens while the socket is dead
			p.s.record("MESSAGE_CREATE", words("1", arg))
		case "typing":
			p.dispatch("TYPING_START", map[string]any{"user_id": "42"})
		case "chatter": // half open or not
			for p.idle(time.Second) {
				p.dispatch("TYPING_START", map[string]any{"channel_id": "77", "user_id": "42", "timestamp": 1})
			}
		case "deaf": // what the client sends arrives, no answer comes back
			p.mute.Store(true)
		case "moves":
			p.send(packetOut{Op: opReconnect})
		case "forgets":
			p.send(packetOut{Op: opInvalid, D: false})
		case "hesitates": // the session may be resumed
			p.send(packetOut{Op: opInvalid, D: true})
		case "closes":
			p.closeWith(n)
		case "leaves": // without a code
			p.write(8, nil)
		case "drops":
			p.drop()
		case "sends":
			p.raw(arg)
		case "threatens": // says that a terabyte follows
			_, _ = p.ws.NetConn().Write([]byte{0x81, 127, 0, 0, 0, 0xff, 0, 0, 0, 0})
		case "dawdles": // with its answers to heartbeats
			for {
				select {
				case <-p.beats:
					p.idle(d)
					p.send(packetOut{Op: opHeartbeatAck})
				case <-p.gone:
					return
				}
			}
		default:
			p.s.fail("no act " + act)
		}
	}
}

// plays runs a story: what the server does on each connection, the last one on all that follow, and what the link does,
// separated by "; ". Steps that end with a time, as "up 2s" or "up 1s-5s", take no longer. What is given comes before "| ".
func plays(t *testing.T, name string, peers []string, steps string) {
	t.Helper()
	var now *peer
	srv := &server{fail: func(why string) { t.Errorf("%s: %s", name, why) }}
	given, rest, prepared := strings.Cut(steps, "| ")
	if prepared {
		steps = rest
	}
	inBubbleOf(t, srv, func(n int, p *peer) {
		srv.do(func() { now = p })
		p.acts(peers[min(n, len(peers))-1])
	}, func(o *Options) {
		if prepared {
			srv.given(o, given)
		}
		find := o.Find
		o.Find = func(ctx context.Context) (discordgo.GatewayBotResponse, error) {
			srv.do(func() { srv.searches++ })
			return find(ctx)
		}
		o.Started = func(at time.Time) { srv.do(func() { srv.noted = append(srv.noted, at) }) }
	}, func(w *world) {
		for step := range strings.SplitSeq(steps, "; ") {
			verb, arg, _ := strings.Cut(step, " ")
			least, most, bounded := strings.Cut(arg, "-")
			if !bounded {
				least, most = "0s", arg
			}
			d, _ := time.ParseDuration(most)
			from, _ := time.ParseDuration(least)
			took := time.Duration(0)
			limit := time.Hour
			began := time.Now()
			switch verb {
			case "ready":
				if e := w.next(Ready); e.At.IsZero() {
					t.Errorf("%s: %s without a time", name, step)
				}
				took = time.Since(began)
			case "resumed":
				w.next(Resumed)
			case "hears":
				if got := w.text(); got != arg {
					t.Errorf("%s: message %q, want %q", name, got, arg)
				}
			case "up":
				if took = w.wait(name+" up", limit, isUp); w.last.Reason != "" {
					t.Errorf("%s: up because of %q", name, w.last.Reason)
				}
			case "down":
				took = w.wait(name+" down", limit, isDown)
			case "because":
				if w.last.Reason != arg {
					t.Errorf("%s: reason %q, want %q", name, w.last.Reason, arg)
				}
			case "deleted":
				if got := w.deleted(); got != arg {
					t.Errorf("%s: message %s is deleted, want %s", name, got, arg)
				}
			case "lasts":
				if got := time.Since(w.s.State().Since); got < d || got > d+3*time.Second {
					t.Errorf("%s: it has lasted %v, want %v", name, got, d)
				}
				d = 0
			case "logs":
				if !strings.Contains(w.log.String(), arg) {
					t.Errorf("%s: the log lacks %q:\n%s", name, arg, w.log)
				}
			case "dead": // the address for resuming
				srv.dead.Store(true)
			case "panic": // of the listener
				w.broken.Store(true)
				for range w.events {
				}
				if err := <-w.result; err == nil || !strings.Contains(err.Error(), "listener") {
					t.Errorf("%s: Run = %v", name, err)
				}
			case "watch":
				w.s.Show(Presence{Watching: arg})
			case "away":
				w.s.Show(Presence{Watching: arg, Away: true})
			case "status":
				w.s.Show(Presence{Status: arg})
			case "latency":
				w.wait("measured", limit, func(s State) bool { return s.Latency > 0 })
				if w.last.Latency != d {
					t.Errorf("%s: latency %v, want %s", name, w.last.Latency, arg)
				}
				d = 0
			case "wait":
				time.Sleep(d)
			case "refuse":
				srv.refuseWith(refusal())
			case "swallow":
				srv.refuseWith(errSwallowed)
			case "accept":
				srv.refuseWith(nil)
			case "drop":
				var latest *peer
				srv.do(func() { latest = now })
				latest.drop()
			case "since": // the loss, whatever was tried
				if s := w.s.State(); s.Phase != Down || time.Since(s.Since) < d {
					t.Errorf("%s: state %+v", name, s)
				}
			case "cancel":
				w.cancel()
				testkit.Must(t, <-w.result)
				if took = time.Since(began); took > d {
					t.Errorf("%s: Run took %v to end", name, took)
				}
			case "ended":
				for range w.events { // closed when Run ends
				}
				err := <-w.result
				if s := w.s.State(); err == nil || s.Phase != Stopped || s.Reason != err.Error() || strings.ReplaceAll(s.Reason, "; ", ", ") != arg { // a semicolon ends a step
					t.Errorf("%s: %v, state %+v", name, err, s)
				}
			case "stopped":
				if s := w.s.State(); s.Phase != Stopped || s.Reason != "the bot has left Discord" {
					t.Errorf("%s: state %+v", name, s)
				}
			case "leave":
				w.leave()
				srv.work.Wait()
			case "login", "asked", "spaced", "shown", "paced":
				srv.do(func() {
					if wrong := srv.saw(verb, arg); wrong != "" {
						t.Errorf("%s: %s: %s", name, step, wrong)
					}
				})
			default: // counts
				got := srv.count(map[string]func(*server) int{
					"connections": connections, "sessions": identifies, "resumes": resumes,
					"byes":         func(s *server) int { return len(s.byes) },
					"bye":          func(s *server) int { return s.byes[0] },
					"searches":     func(s *server) int { return s.searches },
					"changes":      func(s *server) int { return len(s.shown) },
					"refused":      func(s *server) int { return s.refused },
					"starts noted": func(s *server) int { return len(s.noted) },
					"warnings":     func(*server) int { return strings.Count(w.log.String(), "level=WARN") },
					"notes":        func(*server) int { return strings.Count(w.log.String(), "level=INFO") },
				}[arg])
				least, most, several := strings.Cut(verb, "-")
				from, _ := strconv.Atoi(least)
				to, err := strconv.Atoi(most)
				if !several {
					to, err = from, nil
				}
				if err != nil || got < from || got > to {
					t.Errorf("%s: %d %s, want %s", name, got, arg, verb)
				}
			}
			if d > 0 && (took > d || took < from) {
				t.Errorf("%s: %s took %v", name, step, took)
			}
		}
	})
}

// saw is what is wrong with what the server has seen.
func (s *server) saw(what, want string) (wrong string) {
	tooMany := func(times []time.Time, n int, within time.Duration) {
		for i := n; i < len(times); i++ {
			if apart := times[i].Sub(times[i-n]); apart < within {
				wrong = fmt.Sprintf("number %d came %v after the one %d before", i, apart, n)
			}
		}
	}
	got := ""
	switch what {
	case "login":
		got = strings.TrimSpace(s.login[0])
	case "asked":
		got = strings.ReplaceAll(strings.Join(s.asked, " "), "/?encoding=json&v=10", "")
	case "shown": // newest last
		got = strings.Join(s.shown, ", ")
	case "spaced": // three sessions a minute and thirty an hour
		tooMany(s.starts, 3, time.Minute)
		tooMany(s.starts, 30, time.Hour)
	case "paced": // five presences in twenty seconds at most
		tooMany(s.told, 5, 20*time.Second)
	}
	if got != want && (what != "shown" || !strings.HasSuffix(got, want)) {
		wrong = "it has " + got
	}
	return wrong
}

// given prepares a link: what the world knows of sessions that other programs started, and how it finds the gateway.
func (s *server) given(o *Options, list string) {
	find, began := o.Find, time.Now()
	for what := range strings.SplitSeq(list, "; ") {
		verb, arg, _ := strings.Cut(what, " ")
		d, _ := time.ParseDuration(arg)
		switch verb {
		case "started": // a session, that long ago
			s.last = began.Add(-d)
			o.LastStart = func() time.Time { return began.Add(-d) }
		case "refuses":
			s.refuse = refusal()
		case "swallows":
			s.refuse = errSwallowed
		case "forgotten": // a session that the link does not know of
			s.last = began
		case "resets": // instead of ends of connections, each from another port
			dial, port := o.Dial, 40000
			o.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				raw, err := dial(ctx, network, addr)
				port++
				return resetConn{raw, port}, err
			}
		case "finds": // in turn: the gateway, an error, or no answer
			o.Find = func(ctx context.Context) (discordgo.GatewayBotResponse, error) {
				now, rest, _ := strings.Cut(arg, " ")
				switch arg = rest; now {
				case "error":
					return discordgo.GatewayBotResponse{}, errors.New("503")
				case "silence":
					<-ctx.Done()
					return discordgo.GatewayBotResponse{}, ctx.Err()
				}
				return find(ctx)
			}
		case "few": // starts are left for a time
			o.Find = func(context.Context) (discordgo.GatewayBotResponse, error) {
				if left := time.Until(began.Add(d)); left > 0 {
					return door("ws://127.0.0.1:1", 9, left), nil
				}
				return door("ws://127.0.0.1:1", 10, 24*time.Hour), nil
			}
		default:
			s.fail("not given: " + what)
		}
	}
}

// resetConn reports the end of a connection as the system does when it was reset.
type resetConn struct {
	net.Conn
	port int
}

func (c resetConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil && !errors.Is(err, net.ErrClosed) {
		here := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: c.port}
		err = &net.OpError{Op: "read", Net: "tcp", Source: here, Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	}
	return n, err
}

func TestALinkIsKeptOrWonBackAndEndsWhereItMust(t *testing.T) {
	const lost, in = "welcome, idle 1m, drops", "hello, login"
	for _, s := range []struct {
		name  string
		peers []string
		steps string
	}{
		{"it is up after ready", []string{"welcome"}, `ready; up 1s; login {"op":2,"d":{"compress":false,"intents":12288,` +
			`"presence":{"since":null,"activities":[{"name":"your DMs","type":3}],"status":"online","afk":false},` +
			`"properties":{"browser":"ollim-bot","device":"ollim-bot","os":"` + runtime.GOOS + `"},"token":"` + testToken + `"}}`},
		{"and says goodbye, so that the bot is shown as offline", []string{"welcome"}, "ready; up 1s; leave; 1 byes; 1000 bye"},
		{
			"the bot is shown as watching your DMs until it is busy or muted, in the newest words",
			[]string{"welcome, idle 2m, drops", "welcome"},
			`ready; wait 1m; ` + strings.Repeat("watch number; wait 100ms; watch numbers; wait 100ms; ", 10) +
				"away busy; wait 10s; down; watch ; resumed; wait 1s; 3 changes; shown number 3 online, busy 3 idle, your DMs 3 online",
		},
		{
			"the budget in the presence is no faster than Discord allows, and ends with the newest",
			[]string{"welcome"},
			"ready; wait 1m; " + strings.Repeat("status 9 pings left; wait 300ms; status 8 pings left; wait 300ms; ", 50) +
				"wait 5s; paced; 6-9 changes; shown Custom Status 4 8 pings left online",
		},
		{"latency is the round trip of the latest heartbeat", []string{"deaf, welcome, dawdles 300ms"}, "ready; latency 300ms"},

		// The number that was asked for: within 2 s.
		{
			"a dropped socket is resumed, and nothing is missed",
			[]string{"welcome, says one, idle 10s, misses two, misses three, drops", "welcome, says four"},
			"ready; hears one; down 1m; because the connection to Discord was lost (websocket: close 1006 (abnormal closure): unexpected EOF); up 2s; hears two; hears three; resumed; hears four; 1 sessions",
		},
		// Discord's rule: no answer before the next heartbeat is due.
		{
			"a dead one is noticed after one unanswered heartbeat, and its session lives on",
			[]string{"welcome, idle 10m, deaf", "welcome"},
			"ready; wait 10m; down 82.5s; because Discord did not answer a heartbeat: the connection is dead; up 1s; resumed; 0 byes",
		},
		{
			"also where it still speaks",
			[]string{"welcome, idle 10m, deaf, chatter", "welcome"},
			"ready; wait 10m; down 82.5s; because Discord did not answer a heartbeat: the connection is dead; up 1s; resumed; 0 byes",
		},
		{"without a greeting it is given up", []string{"silent", "welcome"}, "down 30s-32s; because Discord did not let the bot in within 30s; ready; up 5s"},
		{"one that ends before it greets is tried again", []string{"drops", "welcome"}, "down 1s; because the connection to Discord was lost (websocket: close 1006 (abnormal closure): unexpected EOF); ready; up 5s"},
		{"or behind one", []string{"hello", "welcome"}, "down 30s-32s; because Discord did not let the bot in within 30s; ready; up 5s"},
		{"or with anything but ready", []string{in + ", typing", "welcome"}, "down 30s-32s; because Discord did not let the bot in within 30s; ready; up 5s"},

		// What comes in one piece before the order to reconnect still counts.
		{"asked to reconnect it resumes", []string{"welcome, idle 5s, says last words, moves", "welcome"}, "ready; hears last words; down; up 2s; resumed"},
		{
			"asked right after IDENTIFY or RESUME it tries again",
			[]string{in + ", moves", lost, lost, in + ", moves", "welcome"},
			"ready; resumed; resumed; up 1m; 5 connections",
		},
		// P14: Discord moves its bots to other servers now and then; that is no refusal, and no loop.
		{
			"a request does not delay the next one", append(slices.Repeat([]string{"welcome, idle 5s, moves"}, 12), "welcome"),
			"ready" + strings.Repeat("; down 1m; up 100ms; resumed", 12),
		},
		{"not even after a second", []string{"welcome, idle 1s, moves", "welcome"}, "ready; up; down 2s; up 100ms; resumed"},
		{"one that only asks to reconnect is not asked in a loop", []string{in + ", moves"}, "wait 1m; 3-61 connections"},
		{"also where it greets", []string{in + ", ready, moves"}, "wait 1m; 3-61 connections"},

		{
			"an invalid session is replaced after a pause and nothing else",
			[]string{lost, in + ", forgets", "welcome"},
			"ready; down 2m; ready 1s-5s; 2 sessions; 1 resumes",
		}, // not resumed: the consumer has to catch up
		{
			"one that may be resumed is",
			[]string{"welcome, idle 1m, hesitates", "welcome"},
			"ready; down 2m; because Discord no longer knows the session; up 1s-5s; resumed; 1 sessions",
		},
		{
			"a frame beyond all measure ends the connection",
			[]string{"welcome, idle 1m, threatens", "welcome"},
			"ready; up 1s; down 2m; because Discord sent invalid data (a packet of more than 16777216 bytes); ready",
		},

		{
			"a session is resumed where Discord wants, or where it began if that address is dead",
			[]string{lost, lost, "welcome"},
			"ready; resumed; dead; resumed; asked 127.0.0.1:1 127.0.0.1:2 127.0.0.1:1",
		},
		{
			"a gateway that refuses every session costs three starts a minute and thirty an hour, and is not given up",
			[]string{"hello, denies"},
			"wait 5h; 100-150 sessions; spaced; down; because Discord no longer knows the session; " +
				`logs reason="Discord refused several sessions in a row: the next one starts a little later"`,
		},
		// P1: a program that is restarted at once was offline for a minute. D7: no warning, it is the bot's own pause.
		{"a session is not started within five seconds of another", []string{"admits"}, "started 0s| ready 5s-7s; 1 sessions; 1 starts noted; 0 warnings"},
		{"nor three seconds after it", []string{"admits"}, "started 3s| ready 2s-4s; 1 sessions; 1 starts noted; 0 warnings"},
		{"a clock that was set back costs nothing", []string{"welcome"}, "started -10m| ready 10ms; 1 sessions"},
		{"P1: a start that is refused costs its five seconds and no more", []string{"admits"}, "forgotten| ready 7s; 2 sessions; 2 starts noted"},
		// P10: each reset names another port of this machine, which made each one news.
		{
			"a connection that is reset again and again is reported once", append(slices.Repeat([]string{"welcome, idle 1s, drops"}, 30), "welcome"),
			"resets| ready; up" + strings.Repeat("; down 1m; because the connection to Discord was lost (connection reset); up 1m", 30) + "; 1 warnings; 2 notes",
		},
		// P10
		{
			"a loss is news again once it has not occurred for ten minutes, and so is its end",
			[]string{"welcome"},
			"ready; up; 1 notes; drop; down; up; 1 warnings; 2 notes; wait 9m; drop; down; up; 1 warnings; 2 notes; wait 9m; drop; down; up; 1 warnings; 2 notes; " +
				"wait 1m; refuse; drop; down; wait 1m; 2 warnings; accept; up; 3 notes; wait 11m; drop; down; up; 3 warnings; 4 notes",
		},
		{
			"a refusal is forgotten after thirty seconds, and a first one costs nothing",
			[]string{"welcome, idle 5s, closes 4000", "welcome, idle 30s, closes 4000", "welcome, idle 29s, closes 4000", "welcome"},
			"ready; up; down 6s; up 100ms; down 31s; up 100ms; down 30s; up 500ms-1s",
		},
		{"the state says how long it has lasted", []string{"welcome"}, "ready; up; wait 2h; lasts 2h; refuse; drop; down; wait 1m; lasts 1m; accept; up; lasts 0s"},
		{
			"a server that cannot be reached is tried each second or two, and half as often after five minutes",
			[]string{"welcome"},
			"ready; up; refuse; drop; down; wait 5m; 175-225 refused; wait 50m; 1125-1275 refused",
		},
		{
			"duplicates and disorder arrive as Discord sent them",
			[]string{"welcome, misses one, misses two, edits before it was there, replays 3, replays 2, replays 2, deletes 2, deletes 404"},
			"ready; hears two; hears one; hears one; deleted 2; deleted 404",
		},
		{"with few starts left it waits until Discord counts from zero", []string{"welcome"}, "few 5h| down 1s; because Discord allows only 9 more session starts today: waiting for its daily reset; wait 4h59m; 0 connections; up 1m-1m5s"},
		{"a gateway that has never been found is searched again", []string{"welcome"}, "finds error gateway| down 1m; because Discord cannot be reached (503); ready 5s"},
		{"also after no answer", []string{"welcome"}, "finds silence gateway| down 1m; ready 5s"},
		{"one that cannot be asked for is taken where it was", []string{"welcome, idle 1m, closes 4009", "welcome"}, "finds gateway error| ready; up; down 2m; ready 5s"},
		{
			"also where no answer comes",
			[]string{"welcome, idle 1m, closes 4009", "welcome"},
			"finds gateway silence| ready; up; down 2m; ready 30s-35s",
		},
		{"the budget is not asked before a session is resumed", []string{lost, lost, lost, "welcome"}, "ready; resumed; resumed; resumed; 1 searches"},
		{"a panic of the listener ends Run with an error and not the program", []string{lost}, "ready; up 1s; panic; wait 2s; 1 connections"},

		{"Run ends at once, when it is up", []string{"welcome"}, "wait 1h; 1 connections; cancel 2s; wait 1h; 1 connections; stopped"},
		{"when it waits for a try", []string{""}, "refuses| wait 5m0.333s; cancel 0s; accept; wait 1h; 0 connections; stopped"},
		{"when it dials", []string{""}, "swallows| wait 10s; cancel 0s; accept; wait 1h; 0 connections; stopped"},
		{"when it waits for a greeting", []string{""}, "wait 10s; cancel 0s; wait 1h; 1 connections; stopped"},
		{"when it waits for admission", []string{"hello"}, "wait 10s; cancel 0s; wait 1h; 1 connections; stopped"},
		{"when it is half let in", []string{in + ", typing"}, "wait 10s; cancel 0s; wait 1h; 1 connections; stopped"},
	} {
		plays(t, s.name, s.peers, s.steps)
	}
	for code, back := range map[string]string{
		"4000, unknown error": "resumed", "4001, unknown opcode": "resumed", "4002, decode error": "resumed", "4005, already authenticated": "resumed",
		"4008, sent too fast": "resumed", "1001": "resumed", "1005": "resumed", "4999": "resumed",
		"4003, not authenticated": "ready", "4007, invalid sequence": "ready", "4009, session timed out": "ready",
	} {
		closes := "closes " + code[:4]
		if code == "1005" {
			closes = "leaves"
		}
		plays(t, closes, []string{"welcome, idle 1m, " + closes, "welcome"}, "ready; up; down 1m; because Discord closed the connection ("+code+"); "+back+"; up 3s")
	}
	for code, cure := range map[int]string{ // it stops for good, and says what to do
		4004: "Discord refuses the bot's token (4004). In the Developer Portal open the application, Bot > Reset Token, set DISCORD_TOKEN in .env to the new token, and restart the bot",
		4010: "Discord refuses the bot's shard number (4010). This is a bug in the program: update it, and report it if that does not help",
		4011: "Discord requires sharding (4011), because the bot is on more than 2,500 servers. Remove the bot from servers in their Server Settings > Integrations; one private server is enough",
		4012: "Discord no longer accepts the bot's gateway version (4012): update the program",
		4013: "Discord does not understand the bot's intents (4013). This is a bug in the program: update it, and report it if that does not help",
		4014: "Discord does not grant one of the bot's intents (4014). In the Developer Portal open the application, Bot > Privileged Gateway Intents, switch on Message Content Intent, and restart the bot",
	} {
		for _, before := range []string{in, "welcome, idle 1h"} {
			plays(t, cure, []string{fmt.Sprint(before, ", closes ", code)}, "ended "+strings.ReplaceAll(cure, "; ", ", ")+"; wait 24h; 1 connections")
		}
	}
	for packet, why := range map[string]string{ // no greeting, or without content
		`null`: "malformed", `hello?`: "malformed", `{"d":1}`: "malformed", `{"op":"7"}`: "malformed", `{"op":10,"d":null}`: "0 ms",
		`{"op":10,"d":{"heartbeat_interval":0}}`: "0 ms", `{"op":10,"d":{"heartbeat_interval":-5}}`: "-5 ms", `{"op":10,"d":{"heartbeat_interval":600001}}`: "600001 ms",
	} {
		why = map[bool]string{true: "a malformed packet", false: "its greeting asks for a heartbeat every " + why}[why == "malformed"]
		plays(t, packet, []string{"sends " + packet, "welcome"}, "down 1s; because Discord sent invalid data ("+why+"); ready; up 5s")
	}
	// The number that was asked for: within five seconds, however long the server was away and whether or not the session
	// is still known.
	for _, away := range []time.Duration{3 * time.Second, 30 * time.Second, 150 * time.Second, time.Hour} {
		for failure, limit := range map[string]time.Duration{"refuse": 5 * time.Second, "swallow": 5*time.Second + dialWithin} { // the try that is under way does not know
			for _, forgotten := range []bool{false, true} {
				peers, back := []string{"welcome"}, "resumed"
				if forgotten && away < sessionKept {
					peers = []string{"welcome", in + ", forgets", "welcome"}
				}
				if forgotten || away > sessionKept {
					back = "ready"
				}
				plays(t, fmt.Sprintf("%s for %v, forgotten %v", failure, away, forgotten), peers, fmt.Sprintf(
					"ready; up 1m; %s; drop; down 1m; wait %v; since %v; accept; up %v; %s", failure, away, away, limit, back))
			}
		}
	}
}

func TestTheFirstHeartbeatComesAtARandomMomentOfItsInterval(t *testing.T) {
	var first []time.Duration
	for range 20 {
		inBubble(t, func(_ int, p *peer) {
			p.hello()
			began := time.Now()
			p.login()
			p.ready()
			<-p.beats
			first = append(first, time.Since(began))
		}, func(w *world) {
			w.next(Ready)
			time.Sleep(time.Minute)
		})
	}
	least, most := slices.Min(first), slices.Max(first)
	if most > 41250*time.Millisecond || least > 20*time.Second || most < 20*time.Second {
		t.Errorf("first heartbeats after %v to %v", least, most)
	}
}

func TestTheWaitsAfterRefusalsGrowToAMinute(t *testing.T) {
	var tries []time.Time
	inBubble(t, func(_ int, p *peer) {
		tries = append(tries, time.Now())
		p.closeWith(4000)
	}, func(w *world) {
		time.Sleep(20 * time.Minute)
		w.leave()
		for i := range 12 {
			if got, most := tries[i+1].Sub(tries[i]), min(time.Second<<i, time.Minute); got > most || got < most/2 {
				t.Errorf("wait %d is %v, want %v to %v", i, got, most/2, most)
			}
		}
		if !strings.Contains(w.log.String(), "Discord closed the connection (4000, unknown error)") {
			t.Errorf("log\n%s", w.log)
		}
	})
}

func TestARefusalAfterAConnectionThatHeldIsTheFirst(t *testing.T) {
	for held, first := range map[time.Duration]bool{settledAfter: true, settledAfter - time.Second: false} {
		var began []time.Time
		var ended time.Time
		inBubble(t, func(_ int, p *peer) {
			if began = append(began, time.Now()); len(began) == 6 {
				p.welcome()
				p.idle(held)
				ended = time.Now()
			}
			p.closeWith(4000)
		}, func(w *world) {
			time.Sleep(5 * time.Minute)
			w.leave()
			if wait := began[6].Sub(ended); (wait < backoffMin) != first {
				t.Errorf("after five refusals and %v without one, the wait is %v", held, wait)
			}
		})
	}
}

func TestOnlySomeReasonsOfALossAreRememberedAndLongOnesAreShort(t *testing.T) {
	var n news
	for i := range 3 * keptReasons {
		n.lost(fmt.Sprint(i), time.Now())
	}
	if len(n.last) > keptReasons {
		t.Errorf("%d reasons are kept", len(n.last))
	}
	x := strings.Repeat("x", briefRunes)
	for text, want := range map[string]string{
		x + ": no route": "no route", x[:151] + ": no route": "no route", x[:150] + ": no route": x[:150] + ": no route",
		"y" + x: "y" + x[:briefRunes-2] + "…", ": " + x: x,
	} {
		if got := brief(errors.New(text)); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
