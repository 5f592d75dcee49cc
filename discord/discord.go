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
	"time"

	"github.com/bwmarrin/discordgo"
	"golang.org/x/sync/errgroup"

	"ollimbot/core"
	"ollimbot/core/clean"
	"ollimbot/core/config"
	"ollimbot/core/fault"
	"ollimbot/core/queue"
	"ollimbot/core/store"
	"ollimbot/discord/gateway"
	"ollimbot/discord/message"
	"ollimbot/discord/rest"
	"ollimbot/discord/stream"
)

// name is what the bot calls this surface, in core.Receive.From too.
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
	link *gateway.Link
	dm   dmWriter
	line *stream.Line

	status   *status
	state    *state
	notices  *notices
	cards    *cards
	inbox    *queue.Queue[any] // messages, their changes, and the beginnings of sessions: data of gateway.Event
	answered recent            // interactions; used by listen alone
	met      bool              // greeted; used by listen alone

	work     *workerPool // commands, clicks and approvals
	marks    *workerPool
	refusals *workerPool // of commands and clicks; they outlive Run
	answers  *workerPool // those that have ended and are still on their way; they outlive Run

	// life ends with Farewell.
	life context.Context
	end  context.CancelFunc
	bot  core.Intake // set by Run, before anything that reads it begins
	// turns has room for one: a turn has begun or ended.
	turns chan struct{}
}

// How many works are under way at once; one person makes a few.
const (
	maxWork     = 64
	maxMarks    = 32
	maxRefusals = 8
	maxAnswers  = 256
)

// tuning are other paces than Discord's, for tests.
type tuning struct {
	transport http.RoundTripper
	hurry     int
	line      *stream.Line
}

// New makes the surface. It asks nothing of the network yet. An error says what
// is missing, or what is wrong with Options.API or Options.OwnerID.
func New(o Options) (*Discord, error) { return newTuned(o, tuning{}) }

func newTuned(o Options, t tuning) (*Discord, error) {
	token := BareToken(o.Token.Reveal())
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
		t.line = stream.NewLine(stream.SendEvery, stream.EditEvery)
	}
	d := &Discord{
		o: o, log: o.Log, line: t.line,
		rest:    rest.New(rest.Options{Token: token, Base: o.API, Transport: t.transport, Log: o.Log, Version: o.Version}),
		status:  &status{zone: o.Zone, refused: make(chan struct{})},
		state:   &state{dir: o.Dir, log: o.Log},
		notices: &notices{wake: make(chan struct{}, 1)}, cards: &cards{list: map[string]*card{}},
		inbox: queue.New[any](), answered: recent{keep: keptInteractions}, turns: make(chan struct{}, 1),
		work: newPool(o.Log, maxWork), marks: newPool(o.Log, maxMarks),
		refusals: newPool(o.Log, maxRefusals), answers: newPool(o.Log, maxAnswers),
	}
	d.dm = dmWriter{d}
	d.link = gateway.New(gateway.Options{Token: token, Find: d.findGateway, Changed: d.status.notify, Log: o.Log, Hurry: t.hurry})
	d.status.link = d.link.State
	d.life, d.end = context.WithCancel(context.Background())
	d.refusals.open(d.life)
	d.answers.open(d.life)
	return d, nil
}

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

// Run connects and hands what the user does to the bot until ctx ends, which is
// no error. It ends with one when nothing can be done without a person: its
// text says what to change, and where. Run may be called once.
func (d *Discord) Run(ctx context.Context, bot core.Intake) error {
	err := d.run(ctx, bot)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		d.status.stop(err)
		return err
	}
	return nil
}

func (d *Discord) run(ctx context.Context, bot core.Intake) error {
	d.bot = bot
	d.state.load()
	if err := d.lookUp(ctx); err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	for _, pool := range []*workerPool{d.work, d.marks} {
		pool.open(gctx)
		defer pool.finish()
	}
	for _, part := range []func(context.Context) error{
		d.link.Run, d.listen, d.converse, d.sendNotices, d.register, d.untilRefused, d.retryDM, d.finishLeftovers, d.present,
	} {
		g.Go(fault.Guard("the Discord surface", func() error { return part(gctx) }))
	}
	return g.Wait()
}

// untilRefused ends everything when Discord refuses the token: the gateway would
// find out only when it connects anew.
func (d *Discord) untilRefused(ctx context.Context) error {
	select {
	case <-d.status.refused:
		return rest.ErrAuth
	case <-ctx.Done():
		return nil
	}
}

// findGateway says where the gateway is, and how many sessions may still be started.
func (d *Discord) findGateway(ctx context.Context) (discordgo.GatewayBotResponse, error) {
	g, err := d.rest.GatewayBot(ctx)
	return g, d.noteAuth(err)
}

// noteAuth takes note of what an answer of Discord says about the bot as a whole.
func (d *Discord) noteAuth(err error) error {
	if errors.Is(err, rest.ErrAuth) {
		d.status.refuse()
	}
	return err
}

// noteReach takes note of whether the bot may write to its user.
func (d *Discord) noteReach(err error) {
	changed, why := d.status.noteReach(err)
	if err == nil || changed { // it may have been noted before the last start
		d.state.setShutOut(why)
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

func (d *Discord) botName() string {
	if name := clean.Cut(clean.Line(d.o.BotName), 80); name != "" {
		return name
	}
	return "ollim-bot"
}
