// Package gateway keeps the bot connected to Discord's gateway and hands out
// what happens there, in order.
//
// It owns the connection: opening it, noticing that it died, resuming or
// starting anew, the number of sessions that may be started, and the sentence
// that says why there is no connection. The protocol is spoken here, over a
// WebSocket; discordgo lends its types. Its session is not used: it cannot be told
// to wait before it starts anew, knows no limit of time, follows no address for
// resuming, and waits for itself for ever when Discord asks it to reconnect at the
// wrong moment.
//
// It must not know the bot, who its owner is, or how messages are sent. Of
// Discord's other API it knows one question, Options.Find.
//
// # Why not discordgo's session
//
// It cannot be told to wait after an invalid session, sends its first heartbeat at once, takes
// five intervals to notice a dead connection, ignores the address for resuming, and waits for
// itself forever when Discord asks it to reconnect at the wrong moment. This connection is one
// loop over packets, heartbeats and time. The library provides types and constants.
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

// Options are what a Link needs. Token and Find are required.
type Options struct {
	// Token is the bot's token, without "Bot " in front of it.
	Token string
	// Find says where the gateway is and how many sessions may still be started
	// (GET /gateway/bot). It is asked before a session is started, never before
	// one is resumed, and must give up when ctx ends. After it has answered once an
	// error is only logged: the gateway is tried where it was.
	Find func(ctx context.Context) (discordgo.GatewayBotResponse, error)
	// LastStart is when an earlier process started its last session, and Started notes
	// when this one is about to start one, before it does: Discord refuses two within
	// five seconds, across restarts too. Nil knows nothing, and notes nothing.
	LastStart func() time.Time
	Started   func(at time.Time)
	// Changed is called after each change of State. It must not block, and may call
	// State. Nil is nobody.
	Changed func()
	// Log gets one line for each change; nil is silence. The token is in none.
	Log *slog.Logger
	// Dial opens network connections, for tests; nil is a net.Dialer. It must
	// give up when ctx ends.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Hurry divides the pauses between two tries, for tests; zero is one.
	Hurry int
}

const (
	// openWithin is how long it may take from dialling to READY or RESUMED.
	openWithin = 30 * time.Second
	// backoffMin is the pause after a first refusal, and between tries to reach
	// Discord at all. It doubles with each refusal, up to backoffMax.
	backoffMin = time.Second
	backoffMax = time.Minute
	// settledAfter is how long the bot is up before the next refusal is a first one.
	settledAfter = 30 * time.Second
	// A new session after an invalid one waits for as long, of the 1 to 5 s that
	// Discord asks for.
	pauseMin = time.Second
	pauseMax = 2500 * time.Millisecond
	// sessionKept is for how long Discord is likely to know a session that has no
	// connection. After that a new one is begun at once: asking to resume would only
	// cost the pause that Discord wants after its no.
	sessionKept = 5 * time.Minute
)

// Phase says whether the bot can be reached through Discord.
type Phase int

// The phases of a connection. Connecting is only the first try: a connection
// that was lost is Down until it is Up again.
const (
	Connecting Phase = iota
	Up
	Down
	Stopped
)

// State is how the connection is at one moment.
type State struct {
	Phase   Phase
	Since   time.Time     // when the phase began; zero before Run
	Latency time.Duration // of the latest heartbeat; zero while not Up and before the first one
	Reason  string        // one sentence, empty while all is well; Stopped: what to change, and where
}

// Link holds one connection to Discord. Its methods may be called concurrently.
type Link struct {
	o      Options
	events chan Event
	shown  chan struct{} // has room for one: the presence has changed

	mu       sync.Mutex
	state    State
	presence Presence

	// Used by keep alone.
	session session
	starts  starts
	address string   // where sessions are started
	told    Presence // that Discord shows
	logged  string   // the reason that was logged last
}

// session is what outlives a connection: with it the next one goes on where this
// one ended. The zero value is none.
type session struct {
	id      string
	address string // where Discord wants it to be resumed
	seq     int64
}

// New makes a link; it reads, dials and starts nothing.
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

// Events are what happened, in the order in which Discord told it. Whoever reads
// them must not wait for anything: the connection waits meanwhile. The same
// message may come twice after a reconnect, so handle messages by id. The channel
// is closed when Run ends.
func (l *Link) Events() <-chan Event { return l.events }

// State is how the connection is at this moment.
func (l *Link) State() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}

// change changes the state and says so where it is another one.
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

// enter begins a phase; staying in one keeps its beginning.
func (l *Link) enter(p Phase, reason string) {
	l.change(func(s *State) {
		if s.Phase != p || s.Since.IsZero() {
			s.Since = time.Now()
		}
		s.Phase, s.Reason, s.Latency = p, reason, 0
	})
}

// Run connects and stays connected until ctx ends, which is no error, or until
// Discord says that trying again is pointless: an error that says what to change,
// and where. It then closes Events. It returns at most some two seconds after ctx
// ended: that is how long saying goodbye to Discord may take. Run may be called
// once.
func (l *Link) Run(ctx context.Context) error {
	defer close(l.events)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(fault.Guard("the connection to Discord", func() error { return l.stayConnected(ctx) }))
	return g.Wait()
}

// stayConnected connects again and again until ctx ends or nothing can be hoped for.
func (l *Link) stayConnected(ctx context.Context) error {
	l.enter(Connecting, "")
	if at := l.o.LastStart(); !at.After(time.Now()) { // a clock that was set back knows nothing
		l.starts = starts{at}
	}
	lost := time.Now() // since when there is no connection
	// refusals are those that follow each other; tries are all since the loss.
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

// attend opens a connection and stays with it until it ends. It returns why, and
// for how long the bot was up: 0 if it never was.
func (l *Link) attend(ctx context.Context, try int) (why *cause, upFor time.Duration) {
	if l.session.id == "" {
		if failed := l.findGateway(ctx); failed != nil {
			return failed, 0
		}
	}
	address := l.session.address
	if address == "" || try%2 == 1 { // the one for resuming may be what is dead
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

// findGateway asks where a session may be started, and waits until one may be. A nil
// cause lets it start.
func (l *Link) findGateway(ctx context.Context) *cause {
	for {
		if wait := l.starts.wait(time.Now(), startsApart/time.Duration(l.o.Hurry)); wait > 0 {
			if !l.waitDown(ctx, wait, textManyStarts) {
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
		case err != nil: // where it was, it may still be
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

// waitDown shows why there is no connection and waits; false when ctx has ended.
func (l *Link) waitDown(ctx context.Context, wait time.Duration, reason string) bool {
	l.enter(Down, reason)
	level := slog.LevelWarn
	if reason == l.logged {
		level = slog.LevelDebug // a night without network is not a line a second
	}
	l.logged = reason
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

// again is the time between two tries to reach a server that is out of reach.
// Together with the pause after an invalid session it stays below five seconds.
func again(away time.Duration) time.Duration {
	d := backoffMin
	if away > sessionKept {
		d *= 2
	}
	return d + rand.N(d)
}

// backoff is how long to wait after so many refusals in a row: not at all after
// none, then backoffMin doubling to backoffMax, a random half of it taken off so
// that not everybody comes back at the same moment.
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

// Discord allows 1000 new sessions in a day and resets the token beyond that.
// The short window is against a gateway that refuses every session; the long
// one keeps a whole night of that at 720.
const (
	startsInMinute = 3
	startsInHour   = 30
	startsReserve  = 10 // fewer left on Discord's side, and we wait for the reset
)

// starts are the times of the newest sessions that were really started, by the
// IDENTIFY packets that left.
type starts []time.Time

// wait is how long the next start has to wait, 0 or less for not at all.
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

// Presence is how the bot shows below its name.
type Presence struct {
	Watching string // "watching ..."; empty is textWatching
	Away     bool   // the yellow moon in place of the green dot
}

// presenceEvery is how often it may change: Discord allows five times in twenty
// seconds.
const presenceEvery = 5 * time.Second

// Show changes the presence, as soon as Discord allows. It does not block.
func (l *Link) Show(p Presence) {
	l.mu.Lock()
	l.presence = p
	l.mu.Unlock()
	select {
	case l.shown <- struct{}{}:
	default:
	}
}

// stale reports whether Discord shows another presence than is wanted.
func (l *Link) stale() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.presence != l.told
}

// presenceUpdate is the presence as Discord reads it: the keys that its documentation
// lists for a bot, and no others. discordgo's types send empty ones beside them, for
// which a strict server closes the connection
// (https://discord.com/developers/docs/events/gateway-events#update-presence).
type presenceUpdate struct {
	Since      *int64     `json:"since"` // in milliseconds; null while the bot is not idle
	Activities []activity `json:"activities"`
	Status     string     `json:"status"`
	AFK        bool       `json:"afk"`
}

type activity struct {
	Name string                 `json:"name"`
	Type discordgo.ActivityType `json:"type"`
}

// status is the presence as Discord reads it, and counts as told.
func (l *Link) status() presenceUpdate {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told = l.presence
	update := presenceUpdate{
		Activities: []activity{{Name: cmp.Or(l.told.Watching, textWatching), Type: discordgo.ActivityTypeWatching}},
		Status:     string(discordgo.StatusOnline),
	}
	if l.told.Away {
		now := time.Now().UnixMilli()
		update.Since, update.Status = &now, string(discordgo.StatusIdle)
	}
	return update
}
