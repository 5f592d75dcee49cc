package demo

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/budget"
	"ollimbot/routines"
)

// Drive acts as the user of a furnished bot, which has started, until ctx ends: it saves files, sends
// commands, and answers pings. A speed of 2 plays twice as fast.
func Drive(ctx context.Context, bot *core.Bot, h Home, log *slog.Logger, speed float64) error {
	return newDriver(bot, h, log, speed).run(ctx)
}

func newDriver(bot *core.Bot, h Home, log *slog.Logger, speed float64) *driver {
	return &driver{Home: h, bot: bot, log: log, speed: speed, snoozed: map[string]bool{}, saved: func() {}}
}

type driver struct {
	Home

	bot     *core.Bot
	log     *slog.Logger
	speed   float64
	snoozed map[string]bool // reminders, by ID
	saved   func()          // called after a file was saved
}

// action executes a scene.
type action func(ctx context.Context, d *driver) error

// scene is something that happens at a time of the demo's day.
type scene struct {
	at    time.Duration
	title string
	do    action
}

const (
	// dayLong is how long a day of the demo takes: it is twelve times as fast as a real one,
	// and so are its tokens: by default one comes back every 90 minutes.
	dayLong       = 2 * time.Hour
	refillMinutes = 8
	// glance is how often the user looks for pings, patience how long one stays open.
	glance   = 10 * time.Second
	patience = 50 * time.Second
)

// run plays one day after another until ctx ends. A scene that fails is logged and
// skipped: whoever watches may have removed what it needs.
func (d *driver) run(ctx context.Context) error {
	// A slow machine may still be starting the schedule, which fires nothing before.
	if d.bot.Alive(ctx) != nil {
		return nil // ctx has ended
	}
	refill := max(1, int(refillMinutes/d.speed+0.5))
	if err := d.do(ctx, command.SetBudget{RefillMinutes: &refill}); err != nil {
		d.log.Warn("the demo's tokens refill slowly", "error", err)
	}
	start := time.Now()
	for n := 0; ; n++ {
		for _, s := range day(n) {
			if !d.until(ctx, start.Add(d.fast(time.Duration(n)*dayLong+s.at))) {
				return nil
			}
			if err := s.do(ctx, d); err != nil && ctx.Err() == nil {
				d.log.Warn("demo scene skipped", "scene", s.title, "error", err)
			}
		}
	}
}

// fast is how long something takes at the demo's speed.
func (d *driver) fast(t time.Duration) time.Duration { return time.Duration(float64(t) / d.speed) }

// until waits, and answers the pings that come meanwhile. It is false when ctx has ended.
func (d *driver) until(ctx context.Context, at time.Time) bool {
	for {
		left := time.Until(at)
		select {
		case <-ctx.Done():
			return false
		case <-time.After(min(max(left, 0), d.fast(glance))):
		}
		if left <= d.fast(glance) {
			return ctx.Err() == nil
		}
		if err := d.answerPing(ctx); err != nil && ctx.Err() == nil {
			d.log.Warn("a ping of the demo stays open", "error", err)
		}
	}
}

// answerPing answers the oldest ping that has been open for a while. One in six stays open,
// as with anybody.
func (d *driver) answerPing(ctx context.Context) error {
	s := d.bot.Snapshot()
	if engaged(&s) {
		return nil
	}
	for i := range s.Budget.Pings {
		p := &s.Budget.Pings[i]
		age := s.At.Sub(p.At)
		if p.Refused != "" || !p.Answered.IsZero() || age < d.fast(patience) || p.At.Before(s.Started) {
			continue
		}
		id, button := doneButton(&s, p)
		switch {
		case button == "" && dice("ignored "+p.Run, p.At).IntN(6) == 0:
			continue
		case button == "":
			return d.do(ctx, command.Say{Text: thanks(p)})
		case d.snoozed[id]:
			delete(d.snoozed, id)
			return d.do(ctx, command.Click{Message: post.MessageID(p.Message), ID: button})
		}
		d.snoozed[id] = true
		later := strings.Replace(button, post.RemindDone, post.RemindLater, 1)
		return d.do(ctx, command.Click{Message: post.MessageID(p.Message), ID: later})
	}
	return nil
}

// engaged reports whether the user has something else to do than to answer a ping: words
// would end the answer that they are waiting for.
func engaged(s *core.Snapshot) bool { return s.Busy || s.Fork != nil || len(s.Approvals) > 0 }

// doneButton is the button that ends the reminder of a ping, which repeats until it is pressed;
// empty if there is none.
func doneButton(s *core.Snapshot, p *budget.Ping) (reminder, button string) {
	for i := len(s.Chat) - 1; i >= 0; i-- {
		e := &s.Chat[i]
		if string(e.ID) != p.Message {
			continue
		}
		if e.Embed == nil {
			return "", ""
		}
		for _, b := range e.Embed.Buttons {
			if action, id, ok := post.ParseCustomID(b.Action); ok && action == post.RemindDone {
				return id, b.Action
			}
		}
		return "", ""
	}
	return "", ""
}

// thanks is what the user answers to a ping.
func thanks(p *budget.Ping) string {
	if list := habits[p.Task].thanks; len(list) > 0 {
		return pick(list, dice("thanks "+p.Run, p.At))
	}
	if text := answers[p.Title]; text != "" {
		return text
	}
	return "Done, thank you."
}

// run is a background run, which the driver triggers with a reminder file.
type run struct {
	title, words, script string
	mode                 routines.Mode
	silent, isolated     bool
	untilDone            bool // it repeats until a button of its ping is pressed
	chain                int
}

// start writes reminders that fire a moment later.
func start(runs ...run) action {
	return func(_ context.Context, d *driver) error {
		for _, r := range runs {
			if err := d.remind(r); err != nil {
				return err
			}
		}
		return nil
	}
}

func (d *driver) remind(r run) error {
	mode := r.mode
	if mode == "" {
		mode = routines.OnPing
	}
	// Files have whole seconds: after truncation, two seconds are still in the future.
	soon := time.Now().In(d.Now.Location()).Truncate(time.Second).Add(2 * time.Second)
	_, err := routines.AddReminder(d.Dir, routines.Reminder{
		Task: routines.Task{
			Kind: routines.KindReminder, Description: r.title, Body: withScript(r.words, r.script),
			Background: true, Thinking: true, Isolated: r.isolated, Mode: mode, AllowPing: !r.silent,
		},
		RunAt: soon, MaxChain: r.chain, UntilDone: r.untilDone,
	})
	d.saved()
	return err
}

// edit reschedules a routine to some time from now.
func edit(id string, from time.Duration) action {
	return func(_ context.Context, d *driver) error {
		return d.editRoutine(id, daily(time.Now().In(d.Now.Location()).Add(from)))
	}
}

// mistype saves a routine with an error in its cron line. The last valid version stays in
// force.
func mistype(id, expr string) action {
	return func(_ context.Context, d *driver) error { return d.editRoutine(id, expr) }
}

// editRoutine changes the cron line of a routine's file and saves it, as an editor would.
func (d *driver) editRoutine(id, expr string) error {
	r, ok := d.bot.Index().Set().RoutineByID(id)
	if !ok {
		return fmt.Errorf("routine %s no longer exists", id)
	}
	data, err := d.Dir.Read(r.Path)
	if err != nil {
		return err
	}
	data, err = frontmatter.Splice(data, []frontmatter.Entry{{Key: "cron", Value: expr}})
	if err != nil {
		return err
	}
	defer d.saved()
	return d.Dir.Write(r.Path, data)
}

// say sends a message from the user, unless somebody is talking to the bot.
func say(text string) action {
	return func(ctx context.Context, d *driver) error {
		if s := d.bot.Snapshot(); engaged(&s) {
			return nil
		}
		return d.do(ctx, command.Say{Text: text})
	}
}

// agree answers the bot's open question of a kind, if there is one, by its first button.
func agree(kind string) action {
	return func(ctx context.Context, d *driver) error {
		for _, p := range d.bot.Snapshot().Proposals {
			if p.Kind == kind {
				return d.do(ctx, command.AnswerProposal{ID: p.ID, Button: p.Buttons[0].ID})
			}
		}
		return nil
	}
}

// save writes a file of the user's.
func save(path, text string) action {
	return func(_ context.Context, d *driver) error {
		defer d.saved()
		return d.Dir.Write(path, []byte(text))
	}
}

// fire runs a routine now.
func fire(id string) action {
	return func(ctx context.Context, d *driver) error { return d.do(ctx, command.FireNow{ID: id}) }
}

func (d *driver) do(ctx context.Context, c command.Value) error {
	if _, err := d.bot.Do(ctx, c); err != nil {
		return fmt.Errorf("command %T: %w", c, err)
	}
	return nil
}
