// Package discord is the room in which the bot lives in its user's direct
// messages: a core.Remote. It decides who is listened to, which message is new,
// how an interaction is answered in time, and what becomes of words while the
// network is gone. The protocols are its subfolders' business: gateway hears,
// rest speaks, render draws, stream shows an answer while it grows.
//
// It must not know what a command, a button or a message means: that is the
// bot's, which it reaches through core.Intake. It knows no dashboard.
package discord

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core"
	"ollimbot/core/config"
	"ollimbot/core/fault"
	"ollimbot/core/store"
	"ollimbot/discord/gateway"
	"ollimbot/discord/message"
	"ollimbot/discord/rest"
	"ollimbot/discord/stream"
)

// name is what the bot calls this surface, in core.Hear.From too.
const name = "Discord"

// Options are what the surface needs. Token and Dir are required.
type Options struct {
	Token config.Secret
	// API replaces Discord's address (OLLIM_DISCORD_API); New checks it with
	// rest.CheckBase. Empty is Discord's own.
	API string
	// OwnerID is whom the bot obeys (OLLIM_OWNER_ID). Empty asks Discord for the
	// owner of the application, or of its team.
	OwnerID string
	Log     *slog.Logger
	Version string
	// UserName and BotName stand in the greeting.
	UserName, BotName string
	// Dir holds state/discord.json.
	Dir *store.Dir
	// Zone is that of the times in Status; nil is the machine's.
	Zone *time.Location
	// LoginPending says that a login of the engine's account waits for its code,
	// which then goes there, and never to the agent. Nil means never.
	LoginPending func() bool
}

// Discord is the surface. Its methods may be called concurrently. Use New, then
// Run once; Farewell ends what outlives Run.
type Discord struct {
	o    Options
	log  *slog.Logger
	rest *rest.Client
	gate *gateway.Supervisor
	room *room
	line *stream.Line

	board    *board
	memory   *memory
	notices  *notices
	cards    *cards
	inbox    *inbox
	crew     *crew
	answers  *crew   // those that have ended and are still on their way
	answered *recent // interactions

	// life ends with Farewell: answers may outlive Run.
	life context.Context
	end  context.CancelFunc
	bot  core.Intake // set by Run, before anything that reads it begins
	met  bool        // greeted; used by listen alone
	// turns has room for one: a turn has begun or ended.
	turns chan struct{}
}

// tuning are other paces than Discord's, for tests.
type tuning struct {
	transport http.RoundTripper
	timing    gateway.Timing
	line      *stream.Line
}

// New makes the surface. It asks nothing of the network yet. An error says what
// is missing, or what is wrong with Options.API or Options.OwnerID.
func New(o Options) (*Discord, error) { return newTuned(o, tuning{}) }

func newTuned(o Options, t tuning) (*Discord, error) {
	token := bare(o.Token)
	switch {
	case token == "":
		return nil, errors.New(textNoToken)
	case o.Dir == nil:
		return nil, errors.New("make the Discord surface: a data directory is needed")
	}
	if err := rest.CheckBase(o.API); err != nil {
		return nil, fmt.Errorf("OLLIM_DISCORD_API: %w", err)
	}
	if o.OwnerID != "" && !message.IsID(o.OwnerID) {
		return nil, errors.New(textBadOwnerID)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Zone == nil {
		o.Zone = time.Local
	}
	if t.line == nil {
		t.line = new(stream.Line)
	}
	d := &Discord{
		o: o, log: o.Log, line: t.line,
		rest:  rest.New(rest.Options{Token: token, Base: o.API, Transport: t.transport, Log: o.Log, Version: o.Version}),
		board: newBoard(o.Zone), memory: newMemory(o.Dir, o.Log), notices: newNotices(), cards: newCards(),
		inbox: newInbox(), crew: newCrew(o.Log, maxAtOnce), answered: newRecent(keptInteractions),
	}
	d.gate = gateway.New(gateway.Options{
		Token: token, Find: d.door, Log: o.Log, Timing: t.timing,
	})
	d.gate.OnChange(d.board.tell)
	d.board.gate = d.gate.State
	d.room = &room{d: d}
	d.life, d.end = context.WithCancel(context.Background())
	d.answers, d.turns = newCrew(o.Log, maxAnswers), make(chan struct{}, 1)
	d.answers.open(d.life)
	return d, nil
}

// bare is a token without what people copy along.
func bare(token config.Secret) string { return BareToken(token.Reveal()) }

// BareToken takes from a token what people copy along with it: quotes, the name
// of the variable, the word that goes before it in a request.
func BareToken(s string) string {
	const around = " \t\r\n\"'`"
	s = strings.Trim(s, around)
	for _, before := range []string{"export ", "DISCORD_TOKEN", "=", ":", "Bot "} {
		s = strings.TrimLeft(strings.TrimPrefix(s, before), around)
	}
	return s
}

// maxAtOnce is how many commands, clicks, approvals and marks are under way at
// once; one person makes a few.
const maxAtOnce = 64

// Run connects and hands what the user does to the bot until ctx ends, which is
// no error. It ends with one when nothing can be done without a person: its
// text says what to change, and where. Run may be called once.
func (d *Discord) Run(ctx context.Context, bot core.Intake) error {
	err := d.run(ctx, bot)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		d.board.stop(err)
		return err
	}
	return nil
}

func (d *Discord) run(ctx context.Context, bot core.Intake) error {
	d.bot = bot
	d.memory.load()
	if err := d.settle(ctx); err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	d.crew.open(gctx)
	defer d.crew.finish()
	for _, part := range []func(context.Context) error{d.gate.Run, d.listen, d.converse, d.tellAll, d.register, d.untilRefused, d.reach, d.tidy, d.present} {
		g.Go(fault.Guard("the Discord surface", func() error { return part(gctx) }))
	}
	return g.Wait()
}

// untilRefused ends everything when Discord refuses the token: the gateway would
// find out only when it connects anew.
func (d *Discord) untilRefused(ctx context.Context) error {
	select {
	case <-d.board.refused:
		return rest.ErrAuth
	case <-ctx.Done():
		return nil
	}
}

// door is where the gateway is, and how many sessions may still be started.
func (d *Discord) door(ctx context.Context) (gateway.Door, error) {
	g, err := d.rest.GatewayBot(ctx)
	return gateway.Door{Address: g.URL, Remaining: g.Remaining, ResetAfter: g.ResetAfter}, d.saw(err)
}

// saw takes note of what an answer of Discord says about the bot as a whole.
func (d *Discord) saw(err error) error {
	if errors.Is(err, rest.ErrAuth) {
		d.board.refuse()
	}
	return err
}

// wrote takes note of whether the bot may write to its user.
func (d *Discord) wrote(err error) {
	changed, why := d.board.wrote(err)
	if err == nil || changed { // it may have been noted before the last start
		d.memory.shut(why)
	}
	if !changed {
		return
	}
	if why == "" {
		d.log.Info("the user can be reached in Discord again")
		return
	}
	d.log.Error("the user cannot be reached in Discord", "cure", why)
}

var _ core.Remote = (*Discord)(nil)

// pauses are the waits between tries: they double, up to a longest.
type pauses struct {
	sync.Mutex
	next time.Duration
}

const (
	shortPause = 500 * time.Millisecond
	longPause  = 30 * time.Second
)

// wait sleeps for the next pause; its error is ctx's.
func (p *pauses) wait(ctx context.Context) error {
	p.Lock()
	d := max(p.next, shortPause)
	p.next = min(2*d, longPause)
	p.Unlock()
	return sleep(ctx, d)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}
