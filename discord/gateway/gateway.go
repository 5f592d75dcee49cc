// Package gateway keeps the bot connected to Discord's gateway and delivers events in order. It owns the connection:
// opening, heartbeats, resuming or starting a session, the number of starts, and the message that explains a missing
// connection. It must not know the bot, its owner, or how messages are sent; it uses the REST API only through
// Options.Find.
//
// # Why not discordgo's session
//
// It cannot wait after an invalid session, sends its first heartbeat at once, takes five
// intervals to notice a dead connection, ignores the address for resuming, and deadlocks
// when Discord asks it to reconnect at the wrong moment. This connection is one loop over
// packets, heartbeats and time. The library provides types and constants.
package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"
	"golang.org/x/sync/errgroup"

	"ollimbot/core/base/fault"
)

// Options of a Link. Token and Find are required.
type Options struct {
	// Token is the bot's token, without the prefix "Bot ".
	Token string
	// Find returns the gateway's address and how many sessions may still be started (GET
	// /gateway/bot). It is called before a session is started, never before one is resumed,
	// and must return when ctx ends. After its first success an error is only logged and
	// the old address is used.
	Find func(ctx context.Context) (discordgo.GatewayBotResponse, error)
	// LastStart returns when an earlier process started its last session, and Started records when this process is about
	// to start one: Discord refuses two within five seconds, even across restarts. May be nil.
	LastStart func() time.Time
	Started   func(at time.Time)
	// Changed is called after each change of State. It must not block and may call State.
	Changed func()
	// Log gets a line for each change, never the token.
	Log *slog.Logger
	// Dial opens network connections, for tests; nil is a net.Dialer. It must return when
	// ctx ends.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Hurry divides the pauses between tries, for tests; zero means one.
	Hurry int
}

const (
	// openWithin limits the time from dialling to READY or RESUMED.
	openWithin = 30 * time.Second
	// backoffMin is the pause after a first refusal and between tries to reach Discord. It
	// doubles with each refusal, up to backoffMax.
	backoffMin = time.Second
	backoffMax = time.Minute
	// settledAfter is the uptime after which the next refusal counts as the first.
	settledAfter = 30 * time.Second
	// Discord asks for a pause of 1 to 5 s before a new session after an invalid one.
	pauseMin = time.Second
	pauseMax = 2500 * time.Millisecond
	// sessionKept is how long Discord probably keeps a session without a connection. After
	// that a new one is started at once: a refused resumption would cost the pause that
	// Discord asks for.
	sessionKept = 5 * time.Minute
)

// Phase says whether the bot is reachable through Discord.
type Phase int

// The phases of a connection. Connecting is only the first try: a lost connection is Down
// until it is Up again.
const (
	Connecting Phase = iota
	Up
	Down
	Stopped
)

// State is the current state of the connection.
type State struct {
	Phase   Phase
	Since   time.Time     // start of the phase; zero before Run
	Latency time.Duration // of the latest heartbeat; zero while not Up and before the first one
	Reason  string        // one sentence, empty while all is well; when Stopped: what to change, and where
}

// Link holds one connection to Discord. Its methods may be called concurrently.
type Link struct {
	o      Options
	events chan Event
	shown  chan struct{} // capacity 1: the presence has changed

	mu       sync.Mutex
	state    State
	presence Presence

	// Used only by stayConnected.
	session session
	starts  starts
	address string   // where new sessions are started
	told    Presence // the presence sent last
	news    news
}

// session outlives a connection: the next connection resumes it. The zero value is
// none.
type session struct {
	id      string
	address string // where to resume it
	seq     int64
}

// New creates a link and starts nothing.
func New(o Options) *Link {
	if o.Dial == nil {
		o.Dial = new(net.Dialer).DialContext
	}
	if o.LastStart == nil {
		o.LastStart = func() time.Time { return time.Time{} }
	}
	if o.Started == nil {
		o.Started = func(time.Time) {}
	}
	o.Hurry = max(o.Hurry, 1)
	return &Link{o: o, events: make(chan Event), shown: make(chan struct{}, 1)}
}

// Events delivers events in Discord's order. The reader must not block, because the connection waits for it. A
// message may be repeated after a reconnect, so handle messages by ID. The channel is closed when Run ends.
func (l *Link) Events() <-chan Event { return l.events }

// State returns the current state.
func (l *Link) State() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}

// change applies f to the state and reports a difference.
func (l *Link) change(f func(*State)) {
	l.mu.Lock()
	before := l.state
	f(&l.state)
	changed := l.state != before
	l.mu.Unlock()
	if changed {
		l.o.Changed()
	}
}

// enter starts a phase; entering the current one keeps its start.
func (l *Link) enter(p Phase, reason string) {
	l.change(func(s *State) {
		if s.Phase != p || s.Since.IsZero() {
			s.Since = time.Now()
		}
		s.Phase, s.Reason, s.Latency = p, reason, 0
	})
}

// Run stays connected until ctx ends, which is not an error, or until Discord rules out further tries; then the error
// says what to change, and where. It closes Events and returns at most about two seconds after ctx ends, the time for
// a goodbye. Run may be called once.
func (l *Link) Run(ctx context.Context) error {
	defer close(l.events)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(fault.Guard("the connection to Discord", func() error { return l.stayConnected(ctx) }))
	return g.Wait()
}

// stayConnected connects again and again until ctx ends or trying is pointless.
func (l *Link) stayConnected(ctx context.Context) error {
	l.enter(Connecting, "")
	if at := l.o.LastStart(); !at.After(time.Now()) { // ignored if the clock was set back
		l.starts = starts{at}
	}
	lost := time.Now() // when the connection was lost
	// refusals counts consecutive refusals, tries all tries since the loss.
	for refusals, tries := 0, 0; ; tries++ {
		if time.Since(lost) > sessionKept {
			l.session = session{}
		}
		began := time.Now()
		why, upFor := l.attend(ctx, tries)
		switch {
		case ctx.Err() != nil:
			l.enter(Stopped, textLeft)
			return nil
		case why.then == giveUp:
			l.enter(Stopped, why.reason)
			l.o.Log.Error("discord refuses the bot", "reason", why.reason)
			return errors.New(why.reason)
		}
		if upFor > 0 {
			lost, tries = time.Now(), -1
		}
		if upFor >= settledAfter {
			refusals = 0
		}
		if why.fresh {
			l.session = session{}
		}
		var wait time.Duration
		switch why.then {
		case pauseFirst:
			wait = pauseMin + rand.N(pauseMax-pauseMin)
		case tryOften:
			wait = again(time.Since(lost)) - time.Since(began)
		case moveOn:
			if upFor < backoffMin { // do not reconnect in a loop to a gateway that always sends this
				wait = again(0)
			}
		default:
			if upFor == 0 {
				refusals = max(refusals, 1)
			}
			wait = backoff(refusals)
			refusals++
		}
		if !l.waitDown(ctx, max(wait, 0)/time.Duration(l.o.Hurry), why.reason) {
			l.enter(Stopped, textLeft)
			return nil
		}
	}
}

// attend opens a connection and serves it until it ends. It returns the cause and the uptime: 0 if the bot was never
// up.
func (l *Link) attend(ctx context.Context, try int) (why *cause, upFor time.Duration) {
	if l.session.id == "" {
		if failed := l.findGateway(ctx); failed != nil {
			return failed, 0
		}
	}
	address := l.session.address
	if address == "" || try%2 == 1 { // the address for resuming may be dead
		address = l.address
	}
	limited, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	c, failed := l.connect(limited, address)
	if failed != nil {
		return failed, 0
	}
	defer c.close()
	why = c.follow(ctx, limited.Done())
	if !c.up.IsZero() {
		upFor = max(1, time.Since(c.up))
	}
	return why, upFor
}

// findGateway looks up where to start a session and waits until one may be started. A nil cause means that it may
// start now.
func (l *Link) findGateway(ctx context.Context) *cause {
	for {
		if wait := l.starts.wait(time.Now(), startsApart/time.Duration(l.o.Hurry)); wait > 0 {
			why := textManyStarts
			if l.starts.wait(time.Now(), 0) <= 0 { // the bot's own pause, such as after a restart
				why = textApart
			}
			if !l.waitDown(ctx, wait, why) {
				return &cause{}
			}
			continue
		}
		limited, cancel := context.WithTimeout(ctx, openWithin)
		door, err := l.o.Find(limited)
		cancel()
		switch {
		case ctx.Err() != nil:
			return &cause{}
		case err != nil && l.address == "":
			return unreachable(err)
		case err != nil: // the old address may still work
			l.o.Log.Warn("discord session budget unknown", "reason", brief(err))
			return nil
		}
		l.address = door.URL
		limit := door.SessionStartLimit
		if limit.Remaining >= startsReserve {
			return nil
		}
		wait := min(max(time.Duration(limit.ResetAfter)*time.Millisecond, time.Minute), 24*time.Hour)
		if !l.waitDown(ctx, wait, fmt.Sprintf(textFewStarts, limit.Remaining)) {
			return &cause{}
		}
	}
}

// waitDown records why there is no connection and waits; it returns false if ctx has ended.
func (l *Link) waitDown(ctx context.Context, wait time.Duration, reason string) bool {
	l.enter(Down, reason)
	level := slog.LevelDebug
	if reason != textApart {
		level = l.news.lost(reason, time.Now())
	}
	l.o.Log.Log(ctx, level, "discord not connected", "reason", reason, "next_try_s", wait.Seconds())
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// again is the pause between tries to reach a server. Together with the pause after an
// invalid session it stays below five seconds.
func again(away time.Duration) time.Duration {
	d := backoffMin
	if away > sessionKept {
		d *= 2
	}
	return d + rand.N(d)
}

// backoff is the pause after consecutive refusals: none after zero, then backoffMin doubling to backoffMax, minus a
// random part of up to half, so that clients do not reconnect at the same time.
func backoff(refusals int) time.Duration {
	if refusals == 0 {
		return 0
	}
	d := min(backoffMin<<min(refusals-1, 10), backoffMax)
	return d - rand.N(d/2+1)
}

// startsApart is the time between two sessions. Discord starts max_concurrency of them in
// five seconds, which is one for a bot like this, and answers others with op 9
// (https://discord.com/developers/docs/events/gateway#rate-limiting).
const startsApart = 5100 * time.Millisecond

// Discord allows 1000 new sessions a day and resets the token beyond that. The short window handles a gateway that
// refuses every session; the long one limits such a night to 720 starts.
const (
	startsInMinute = 3
	startsInHour   = 30
	startsReserve  = 10 // with fewer left at Discord, wait for the reset
)

// starts are the times of the newest session starts, counted by sent IDENTIFY packets.
type starts []time.Time

// wait is the time until the next start is allowed; 0 or less is now.
func (s starts) wait(now time.Time, apart time.Duration) time.Duration {
	var until time.Time
	for _, limit := range []struct {
		n      int
		window time.Duration
	}{{1, apart}, {startsInMinute, time.Minute}, {startsInHour, time.Hour}} {
		if len(s) >= limit.n {
			if free := s[len(s)-limit.n].Add(limit.window); free.After(until) {
				until = free
			}
		}
	}
	return until.Sub(now)
}

// Presence is the bot's status below its name.
type Presence struct {
	Watching string // "watching ..."; empty is textWatching
	Status   string // a text that replaces it, without "watching"
	Away     bool   // show the yellow moon instead of the green dot
}

// presenceEvery is the shortest interval between changes: Discord allows five in twenty
// seconds.
const presenceEvery = 5 * time.Second

// Show changes the presence as soon as Discord allows. It does not block.
func (l *Link) Show(p Presence) {
	l.mu.Lock()
	l.presence = p
	l.mu.Unlock()
	select {
	case l.shown <- struct{}{}:
	default:
	}
}

// stale reports whether Discord shows an outdated presence.
func (l *Link) stale() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.presence != l.told
}

// presenceUpdate is the presence in Discord's format: only the keys that its documentation lists for a bot.
// discordgo's types also send empty keys, for which a strict server closes the connection
// (https://discord.com/developers/docs/events/gateway-events#update-presence).
type presenceUpdate struct {
	Since      *int64     `json:"since"` // in milliseconds; null while the bot is not idle
	Activities []activity `json:"activities"`
	Status     string     `json:"status"`
	AFK        bool       `json:"afk"`
}

type activity struct {
	Name  string                 `json:"name"`
	Type  discordgo.ActivityType `json:"type"`
	State string                 `json:"state,omitempty"`
}

// status returns the presence in Discord's format and marks it as sent.
func (l *Link) status() presenceUpdate {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told = l.presence
	update := presenceUpdate{
		Activities: []activity{{Name: cmp.Or(l.told.Watching, textWatching), Type: discordgo.ActivityTypeWatching}},
		Status:     string(discordgo.StatusOnline),
	}
	if l.told.Status != "" { // a custom status has its text in state, and a name that is never shown
		update.Activities = []activity{{Name: textCustom, Type: discordgo.ActivityTypeCustom, State: l.told.Status}}
	}
	if l.told.Away {
		now := time.Now().UnixMilli()
		update.Since, update.Status = &now, string(discordgo.StatusIdle)
	}
	return update
}

const (
	// newsAfter is the time without a reason after which it is logged again. A night without a network, or a connection
	// reset every second, must not fill the log.
	newsAfter = 10 * time.Minute
	// keptReasons limits the remembered reasons; most are from a fixed list.
	keptReasons = 32
)

// news decides which connection changes to log. In the zero value, nothing has been logged.
type news struct {
	last map[string]time.Time // when each reason last occurred
	told bool                 // the latest loss was logged, so its end is, too
}

// lost returns the log level of a loss.
func (n *news) lost(reason string, now time.Time) slog.Level {
	last, known := n.last[reason]
	if n.last == nil || len(n.last) >= keptReasons {
		n.last = map[string]time.Time{}
	}
	n.last[reason] = now
	if known && now.Sub(last) < newsAfter {
		return slog.LevelDebug
	}
	n.told = true
	return slog.LevelWarn
}

// back returns the log level of a connection that is up. The first one is always logged.
func (n *news) back() slog.Level {
	level := slog.LevelDebug
	if n.told || n.last == nil {
		level = slog.LevelInfo
	}
	n.told = false
	return level
}
