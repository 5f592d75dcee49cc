// Package discord is the bot's surface in its user's direct messages: a core.Remote. It decides which user the bot
// obeys, which messages are new, how to answer interactions in time, and what to do without a network. The protocols
// are in its subfolders: gateway receives, rest sends, render formats, and stream shows growing answers.
//
// It must not interpret commands, buttons or messages; core.Intake does. It must not depend on the dashboard.
package discord

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"
	"golang.org/x/sync/errgroup"

	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/fault"
	"ollimbot/core/base/queue"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/post"
	"ollimbot/discord/gateway"
	"ollimbot/discord/message"
	"ollimbot/discord/render"
	"ollimbot/discord/rest"
	"ollimbot/discord/stream"
)

// name is the bot's name for this surface, also in core.Receive.From.
const name = "Discord"

// Options of the surface. Token and Dir are required.
type Options struct {
	Token config.Secret
	// API replaces Discord's address (OLLIM_DISCORD_API); New checks it with rest.CheckBase.
	API string
	// OwnerID is the user whom the bot obeys (OLLIM_OWNER_ID). Empty means the owner of the application or of its team.
	OwnerID string
	Log     *slog.Logger
	Version string
	// UserName and BotName are used in the greeting.
	UserName, BotName string
	// Dir contains state/discord.json.
	Dir *store.Dir
	// Zone is the time zone of Status; nil is the machine's.
	Zone *time.Location
	// LoginPending reports whether a login of the engine's account expects a code. The surface passes such a code to the
	// login and never to the agent. Nil means never.
	LoginPending func() bool
	// StatusLine reports whether an answer begins with a visible status (the setting
	// status_line). Nil means never.
	StatusLine func() bool
	// Transcribe returns the words in the recording of a voice message, Opus in an Ogg file. Its error is a phrase for
	// the user with the reason why there are none. Nil disables transcription.
	Transcribe func(ctx context.Context, recording []byte) (words string, err error)
	// Draw returns the picture of a name, as PNG, and its description for screen readers. Nil disables pictures.
	Draw func(ctx context.Context, name string) (png []byte, alt string, err error)
}

// Discord is the surface. Its methods may be called concurrently. Use New, then Run once;
// Farewell ends what outlives Run.
type Discord struct {
	o    Options
	log  *slog.Logger
	rest *rest.Client
	link *gateway.Link

	status   *status
	state    *state
	room     *room
	notices  *notices
	cards    *cards
	marks    *marks
	answers  *answers
	presence *presence
	unread   *unread
	rivals   *rivals
	inbox    *queue.Queue[any]                  // for inbound
	dead     struct{ asked, fleeting []string } // messages of the last process whose buttons do nothing

	work     *workerPool // commands, clicks and approvals
	hearing  *workerPool // transcriptions
	refusals *workerPool // refused commands and clicks; outlives Run

	end context.CancelFunc // ends the room's life; called by Farewell
}

// The largest number of concurrent jobs of each pool; one user causes only a few.
const (
	maxWork     = 64
	maxMarks    = 32
	maxRefusals = 8
	maxHearing  = 8
	maxAnswers  = 256
)

// recordEvery is the interval of checking the record of the connection when nothing has changed.
const recordEvery = time.Minute

// tuning changes the pace for tests.
type tuning struct {
	transport http.RoundTripper
	hurry     int
	line      *stream.Line
	start     time.Time // when the program started; zero is now
}

// New creates the surface without making a request. Its error says which option is missing, or what is wrong with
// Options.API or Options.OwnerID.
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
	life, end := context.WithCancel(context.Background())
	lost := &unread{log: o.Log, told: recent{keep: keptUnread}}
	d := &Discord{
		o: o, log: o.Log, end: end, unread: lost,
		rest: rest.New(rest.Options{
			Token: token, Base: o.API, Transport: t.transport, Log: o.Log, Version: o.Version, Unreadable: lost.tell,
		}),
		status: &status{zone: o.Zone, moved: make(chan struct{}, 1)}, state: &state{dir: o.Dir, log: o.Log}, inbox: queue.New[any](),
		work: newPool(o.Log, maxWork), refusals: newPool(o.Log, maxRefusals),
		hearing: newPool(o.Log, maxHearing),
	}
	d.link = gateway.New(gateway.Options{
		Token: token, Find: d.rest.GatewayBot, Changed: d.status.notify, Log: o.Log, Hurry: t.hurry,
		LastStart: d.state.lastStart, Started: d.state.setStarted,
	})
	d.status.link = d.link.State
	start := t.start
	if start.IsZero() {
		start = time.Now()
	}
	d.room = &room{rest: d.rest, line: t.line, state: d.state, status: d.status, log: o.Log, life: life, mark: newMark(start)}
	d.rivals = &rivals{
		start: start, grace: rivalAfter / time.Duration(max(t.hurry, 1)), zone: o.Zone, sent: d.rest.Sent, status: d.status,
		log: o.Log, quit: make(chan error, 1),
	}
	d.notices = &notices{room: d.room, log: o.Log, wake: make(chan struct{}, 1)}
	lost.state, lost.notices = d.state, d.notices
	d.cards = &cards{room: d.room, work: d.work, log: o.Log, list: map[string]*card{}}
	d.presence = &presence{link: d.link, zone: o.Zone, turns: make(chan struct{}, 1)}
	d.answers = &answers{room: d.room, presence: d.presence, pool: newPool(o.Log, maxAnswers), statusLine: o.StatusLine}
	d.marks = &marks{room: d.room, pool: newPool(o.Log, maxMarks), delivered: d.answers.delivered}
	d.refusals.open(life)
	d.answers.pool.open(life)
	return d, nil
}

// BareToken removes text that people copy along with a token: quotes, the name of the variable, the prefix of the
// header.
func BareToken(s string) string {
	const around = " \t\r\n\"'`"
	s = strings.Trim(s, around)
	for _, before := range []string{"export ", "DISCORD_TOKEN", "=", ":", "Bot "} {
		s = strings.TrimLeft(strings.TrimPrefix(s, before), around)
	}
	return s
}

// Run connects and passes the user's actions to the bot until ctx ends, which is not an error. It returns an error if
// only a person can fix the problem: its text says what to change, and where. Run may be called once.
func (d *Discord) Run(ctx context.Context, bot core.Intake) error {
	d.state.load()
	d.dead.asked, d.dead.fleeting = d.state.dead() // before there are new ones
	recording, stop := context.WithCancel(ctx)
	var recorder errgroup.Group
	recorder.Go(fault.Guard("the record of the connection", func() error { return d.record(recording) }))
	err := d.run(ctx, bot)
	stop()
	if lost := recorder.Wait(); lost != nil {
		d.log.Error("the state of the connection was not recorded", "error", lost)
	}
	if ctx.Err() != nil || err == nil {
		d.state.setStanding(Standing{})
		return nil
	}
	d.status.stop(err)
	d.state.setStanding(d.status.standing())
	return err
}

// record keeps the state of the connection in the file, for other programs such as "ollim-bot status".
func (d *Discord) record(ctx context.Context) error {
	tick := time.NewTicker(recordEvery)
	defer tick.Stop()
	for {
		d.state.setStanding(d.status.standing())
		select {
		case <-d.status.moved:
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

func (d *Discord) run(ctx context.Context, bot core.Intake) error {
	d.cards.bot = bot
	who := &identity{
		room: d.room, notices: d.notices, owner: d.o.OwnerID, greet: fmt.Sprintf(textHello, d.botName()),
		heard: func() bool { return bot.LastReceived(name) != "" },
	}
	if err := who.lookUp(ctx); err != nil {
		return err
	}
	words := d.inbound(bot)
	asked := &interactions{
		room: d.room, notices: d.notices, bot: bot, log: d.log, work: d.work, refusals: d.refusals, rival: d.rivals.seen,
		answered: recent{keep: keptInteractions},
		draw:     d.o.Draw,
		user:     d.o.UserName, botName: d.o.BotName, ways: loadWays(d.o.Dir, d.log),
		typed: &suggestions{room: d.room, bot: bot, rival: d.rivals.seen, waits: make(chan interaction, 1)},
	}
	g, gctx := errgroup.WithContext(ctx)
	for _, pool := range []*workerPool{d.work, d.marks.pool, d.hearing} {
		pool.open(gctx)
		defer pool.finish()
	}
	for _, part := range []func(context.Context) error{
		d.link.Run,
		func(ctx context.Context) error { return d.listen(ctx, asked) },
		words.run, d.notices.run, d.room.register, asked.typed.run, asked.typed.run, d.untilRefused, d.rivals.untilSecond, who.keepOpening, d.finishLeftovers,
		func(ctx context.Context) error { return d.presence.run(ctx, bot) },
	} {
		g.Go(fault.Guard("the Discord surface", func() error { return part(gctx) }))
	}
	return g.Wait()
}

func (d *Discord) inbound(bot core.Intake) *inbound {
	return &inbound{
		room: d.room, marks: d.marks, notices: d.notices, bot: bot, log: d.log, queue: d.inbox, loginPending: d.o.LoginPending,
		voices: &voices{room: d.room, transcribe: d.o.Transcribe, pool: d.hearing, log: d.log},
	}
}

// finishLeftovers cleans up marks and incomplete answers that the last process left in the channel.
func (d *Discord) finishLeftovers(ctx context.Context) error {
	d.marks.finishLeftovers(ctx)
	d.answers.finishLeftovers(ctx)
	d.room.removeDead(ctx, d.dead.asked, d.dead.fleeting)
	return nil
}

// untilRefused ends everything when Discord refuses the token: the gateway would notice
// only when it reconnects.
func (d *Discord) untilRefused(ctx context.Context) error {
	select {
	case <-d.rest.Refused():
		return rest.ErrAuth
	case <-ctx.Done():
		return nil
	}
}

var _ core.Remote = (*Discord)(nil)

func (d *Discord) botName() string {
	if name := clean.Cut(clean.Line(d.o.BotName), 80); name != "" {
		return name
	}
	return "ollim-bot"
}

// listen handles the gateway's events as they arrive and never blocks, because an interaction must be answered within
// three seconds. It queues messages for inbound.
func (d *Discord) listen(ctx context.Context, asked *interactions) error {
	met := false
	for e := range d.link.Events() {
		switch data := e.Data.(type) {
		case *discordgo.Ready:
			d.inbox.Push(data)
			if !met {
				met = true
				d.notices.put(notice{text: fmt.Sprintf(textHello, d.botName()), presence: true})
			}
		case *discordgo.MessageCreate:
			switch m := data.Message; {
			case m.Author.Bot && m.GuildID == "" && m.ChannelID == d.state.dm().Channel: // only the bot's and the owner's messages exist there
				d.rivals.heard(e.Nonce)
			case !m.Author.Bot && (d.ours(m.Author.ID, m.ChannelID, m.GuildID) || d.adoptDM(m)):
				d.inbox.Push(data)
			}
		case gateway.Unreadable:
			d.unread.tell(data.Traits)
		case *discordgo.MessageUpdate:
			if m := data.Message; !m.Author.Bot && d.ours(m.Author.ID, m.ChannelID, m.GuildID) {
				d.inbox.Push(data)
			}
		case *discordgo.MessageDelete:
			// Discord does not say who deleted it. Inbound ignores the bot's own messages.
			if d.ours(d.state.dm().Owner, data.ChannelID, data.GuildID) {
				d.inbox.Push(data)
			}
		case *discordgo.InteractionCreate:
			asked.take(ctx, interaction{data.Interaction, e.At})
		case *discordgo.MessageReactionAdd:
			if d.ours(data.UserID, data.ChannelID, data.GuildID) {
				if id := d.cards.below(data.MessageID, data.Emoji.Name); id != "" {
					d.cards.decide(id, data.Emoji.Name)
				}
			}
		}
	}
	return nil
}

// ours reports whether an event was caused by the owner in the direct messages. All other events are ignored.
func (d *Discord) ours(user, channel, guild string) bool {
	dm := d.state.dm()
	return guild == "" && user != "" && user == dm.Owner && channel == dm.Channel
}

// adoptDM uses the channel of the owner's first message for the direct messages if they could not be opened.
func (d *Discord) adoptDM(m *discordgo.Message) bool {
	dm := d.state.dm()
	if m.GuildID != "" || m.Author.ID != dm.Owner || dm.Channel != "" {
		return false
	}
	dm.Channel = m.ChannelID
	d.state.setDM(dm)
	return true
}

const (
	// postWithin is how long a post waits for a network before it fails. Its token is then returned, unless the post was
	// sent and not confirmed.
	postWithin = 60 * time.Second
	// maxUpload is Discord's limit of a file, in bytes.
	maxUpload = 10 << 20
)

// Post sends a message, once per nonce, and waits up to a minute for the network. Until the user is known, and after
// the surface has stopped, the error is post.ErrNoChannel; without a response from Discord it is post.ErrUnknown.
// Other errors are from package rest or about a file.
func (d *Discord) Post(ctx context.Context, p post.Post) (post.MessageID, error) {
	if why := d.status.gaveUp(); why != "" {
		return "", fmt.Errorf("%w: "+textStoppedAt, post.ErrNoChannel, why)
	}
	if err := checkFiles(p.Files); err != nil {
		return "", err
	}
	if p.Nonce == "" {
		p.Nonce = store.NewID() + store.NewID()
	}
	m := render.Post(p)
	if m.Content == "" && len(m.Embeds) == 0 && len(m.Files) == 0 {
		return "", errors.New(textEmptyPost)
	}
	m.Before = sync.OnceValue(p.Begin) // the same message may be sent several times
	within, cancel := context.WithTimeout(ctx, postWithin)
	defer cancel()
	id, err := d.room.deliver(within, m)
	if err == nil {
		d.presence.turnChanged()
		d.state.setFleeting(id, hasFleeting(p))
		return post.MessageID(id), nil
	}
	maybe := errors.Is(err, rest.ErrUnknown)
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		err = rest.ErrTransient
	}
	if maybe {
		err = fmt.Errorf("%w: %w", post.ErrUnknown, err)
	}
	return "", err
}

// checkFiles finds files that Discord would refuse.
func checkFiles(paths []string) error {
	for _, path := range paths {
		shown := clean.Line(filepath.Base(path))
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf(textNoFile, shown, errors.Unwrap(err))
		}
		if info.Size() > maxUpload {
			return fmt.Errorf(textLargeFile, shown, float64(info.Size())/(1<<20))
		}
	}
	return nil
}

// Edit replaces a post.
func (d *Discord) Edit(ctx context.Context, id post.MessageID, p post.Post) error {
	err := d.room.replace(ctx, string(id), render.Post(p))
	if err == nil {
		d.state.setFleeting(string(id), hasFleeting(p))
	}
	return err
}

// Delete deletes a post. A missing one is not an error.
func (d *Discord) Delete(ctx context.Context, id post.MessageID) error {
	err := d.room.Delete(ctx, id)
	if errors.Is(err, rest.ErrGone) {
		err = nil
	}
	if err == nil {
		d.state.setFleeting(string(id), false)
	}
	return err
}

// Typing shows for some seconds that the bot is typing.
func (d *Discord) Typing(ctx context.Context) error { return d.room.Typing(ctx) }

// Answer starts a growing answer. If the surface has stopped, the answer is only in the
// dashboard.
func (d *Discord) Answer(o chat.AnswerOptions) chat.RemoteAnswer { return d.answers.begin(o) }

// Approval shows a tool call that needs the user's approval, and later its outcome. It never blocks.
func (d *Discord) Approval(a policy.Approval) { d.cards.update(a) }

// Small shows a short notice, in order with all other messages. It never blocks; a notice
// that is not delivered within two minutes is dropped.
func (d *Discord) Small(text string, rings bool, buttons ...post.Button) {
	d.notices.put(notice{text: text, rings: rings, buttons: buttons})
}

// Status describes the connection.
func (d *Discord) Status() core.SurfaceStatus {
	now := d.status.standing().SurfaceStatus
	now.State, now.OK = d.status.words()
	return now
}

// OnChange sets f to be called after the status has changed. f must not block.
func (d *Discord) OnChange(f func()) {
	d.status.mu.Lock()
	defer d.status.mu.Unlock()
	d.status.changed = f
}

// farewellTakes is the time reserved for the farewell itself.
const farewellTakes = time.Second

// Farewell delivers the last answers, says goodbye together with the pending notices, and
// ends what outlives Run. It respects ctx.
func (d *Discord) Farewell(ctx context.Context) {
	defer d.refusals.finish()
	defer d.answers.pool.finish()
	defer d.end()
	dm, ok := d.state.known()
	if !ok || d.status.gaveUp() != "" {
		return
	}
	d.answers.pool.idle(ctx, farewellTakes)
	var lines []string
	var all notice
	for n, more := d.notices.next(time.Now()); more; n, more = d.notices.next(time.Now()) {
		if !n.presence {
			lines, all.rings = append(lines, n.text), all.rings || n.rings
		}
	}
	var left error
	if all.text = strings.Join(lines, "\n"); all.text != "" {
		_, left = d.rest.Send(ctx, dm.Channel, all.message())
	}
	err := d.notices.send(ctx, notice{text: fmt.Sprintf(textFarewell, d.botName()), presence: true})
	if err = errors.Join(left, err); err != nil {
		d.log.Debug("farewell was not delivered", "error", err)
	}
}
