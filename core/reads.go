package core

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/absence"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/dispatch"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/proposals"
	"ollimbot/core/work/week"
	duetimes "ollimbot/routines/account"
	"ollimbot/routines/cron"
	"ollimbot/routines/when"
)

// Reader reads data that a snapshot does not contain. Its methods change nothing, may
// block on a file, need only the data directory, and are safe for concurrent use. Errors
// are full sentences for the user.
type Reader struct {
	bot *Bot
	// readOnly previews show the commands in skills' texts without running them.
	readOnly bool
}

// Reads returns the bot's Reader.
func (b *Bot) Reads() Reader { return Reader{bot: b} }

// Preview returns the exact prompt that a task would be sent now.
func (r Reader) Preview(ctx context.Context, id string) (string, error) {
	if r.readOnly {
		ctx = dispatch.Inert(ctx)
	}
	return guarded(r.bot, "the preview", func() (string, error) { return r.bot.dispatch.Preview(ctx, id, time.Time{}, false) })
}

// Describe describes a task in full; see tasks.Editor.Describe.
func (r Reader) Describe(_ context.Context, id string) (string, error) {
	return guarded(r.bot, "the description", func() (string, error) { return r.bot.tasks.Describe(id) })
}

// Costs compares the cost of each task's runs over a number of days including today.
func (r Reader) Costs(_ context.Context, days int) (command.CostReport, error) {
	return guarded(r.bot, "the costs", func() (command.CostReport, error) { return r.bot.money.Costs(days) })
}

// Runs returns a page of stored runs that have ended, newest first, from a position in
// their ledger.
func (r Reader) Runs(_ context.Context, from command.Mark, most int) (fork.Page, error) {
	return guarded(r.bot, "the ledger of runs", func() (fork.Page, error) { return fork.Past(r.bot.dir, from, most) })
}

// Past returns the past runs of a task, and its next fires.
func (r Reader) Past(_ context.Context, id string) (command.TaskPast, error) {
	return guarded(r.bot, "the past of a task", func() (command.TaskPast, error) { return r.bot.forecast.past(id) })
}

// DueTimes returns the due times from since on with their outcomes.
func (r Reader) DueTimes(_ context.Context, since time.Time) (command.DueTimes, error) {
	return guarded(r.bot, "the account of due times", func() (command.DueTimes, error) {
		return dueTimes(r.bot.dir, r.bot.forks.Views(), since, r.bot.now())
	})
}

// Models returns the models that providers offer beside Anthropic's, and what is known of them. It asks their servers.
func (r Reader) Models(ctx context.Context) ([]command.ModelChoice, error) {
	return guarded(r.bot, "the list of models", func() ([]command.ModelChoice, error) { return r.bot.Models(ctx), nil })
}

// Week sums up the current week, or the one that many weeks ago.
func (r Reader) Week(_ context.Context, ago int) (week.Report, error) {
	return guarded(r.bot, "the week", func() (week.Report, error) { return readWeek(r.bot, ago) })
}

// Away sums up what happened while the user was away, and reads the decisions.
func (r Reader) Away(context.Context) (absence.Report, error) {
	return guarded(r.bot, "the report of an absence", func() (absence.Report, error) {
		return absence.Sum(r.bot.dir, r.bot.audit, r.bot.present.Span(r.bot.now()))
	})
}

// readWeek reads the data for the report of a week.
func readWeek(b *Bot, ago int) (week.Report, error) {
	if ago < 0 || ago > week.Most {
		return week.Report{}, fmt.Errorf(textNoWeek, week.Most)
	}
	now := b.now()
	due, err := duetimes.New(b.dir).Read(now)
	if err != nil {
		return week.Report{}, err
	}
	pings, err := b.journal.All()
	if err != nil {
		return week.Report{}, err
	}
	costs, err := b.money.Costs(week.CostDays(ago))
	if err != nil {
		return week.Report{}, err
	}
	open := slices.DeleteFunc(b.offers.Open(now), func(p proposals.Proposal) bool { return p.Kind == KindPromise })
	return week.Of(now, ago, week.Sources{
		Pings: pings, Due: due.Since(week.Begins(now, ago)), Costs: costs, Open: open,
		Promises: func(from, until time.Time) proposals.Counts { return b.offers.Counts(KindPromise, from, until) },
	}), nil
}

// mostSuggestions is the maximum number of results of Suggest: the limit of Discord's
// list.
const mostSuggestions = 25

// suggestedTimes are offered until a valid time has been typed.
var suggestedTimes = []string{
	"20 minutes", "1 hour", "3 hours", "18:00", "evening", "tomorrow 9:00", "tomorrow evening", "next monday 9:00", "friday noon", "in a week",
}

// Suggest lists times or titles that match the text typed into a field of a command in Discord. It
// uses only data in memory.
func (b *Bot) Suggest(name, option, typed string) []string {
	c, _ := command.Find(command.InDiscord, name)
	i := slices.IndexFunc(c.Args, func(a command.Arg) bool { return a.Name == option })
	if i < 0 {
		return nil
	}
	var titles []string
	typed = strings.TrimSpace(typed)
	switch kind := c.Args[i].Kind; kind {
	case command.Moment:
		return suggestTimes(typed, b.times())
	case command.Task, command.Title:
		set := b.index.Set()
		for _, r := range set.RemindersByTime() {
			titles = append(titles, r.Title())
		}
		for _, r := range set.Routines {
			titles = append(titles, r.Title())
		}
		if titles = matching(titles, typed); kind == command.Title && typed != "" {
			titles = append([]string{typed}, titles...)
		}
		return titles
	default:
		s := b.Snapshot()
		for _, t := range s.Things(kind) {
			titles = append(titles, t.Title)
		}
		return matching(titles, typed)
	}
}

// suggestTimes offers a typed time once it is valid, with the moment it means.
func suggestTimes(typed string, read when.Reader) []string {
	if at, err := read.Moment(typed); err == nil {
		return []string{typed, cron.DayClock(at, read.Now)}
	}
	return matching(suggestedTimes, typed)
}

// matching returns the texts that contain the typed text, in any case.
func matching(list []string, typed string) (out []string) {
	for _, s := range list {
		if s = clean.Line(s); strings.Contains(strings.ToLower(s), strings.ToLower(typed)) && len(out) < mostSuggestions {
			out = append(out, s)
		}
	}
	return out
}

// newProposals creates the desk for questions that the bot asks on its own. Each kind is
// an entry of the map and calls Propose.
func newProposals(b *Bot) *proposals.Desk {
	times := timeMover{index: b.index, do: func(ctx context.Context, c command.Value) (command.Outcome, error) { return b.handlers.Do(ctx, c) }}
	promises := promiseKeeper{b.tasks.Book(policy.Writer{Kind: textTheUser})}
	return proposals.New(proposals.Options{
		Store: b.offers, Zone: b.zone, Log: b.log, Post: b.chat.Post, Retire: b.chat.Retire, Changed: b.viewers.notify,
		Kinds: map[string]proposals.Kind{
			KindPromise: {PerDay: promisesPerDay, Ring: post.KindAside, Do: promises.do, Undo: promises.undo},
			KindZone:    {PerDay: zonesPerDay, Ring: post.KindNews, Do: b.travel.answer, Undo: b.travel.undo},
			KindTime:    {PerDay: 1, Ring: post.KindNews, Do: times.answer, Undo: times.undo},
		},
	})
}

// Find returns the ID of the task, run or update that a text names (command.Pick), or an error for the user.
func (s *Snapshot) Find(k command.Kind, text string) (id string, err error) {
	t, err := command.PickOne(k.Thing(), s.Things(k), text, k == command.Run)
	return t.ID, err
}

// Things returns what a command can name: tasks, runs or updates. Runs are in the order of the pane.
func (s *Snapshot) Things(k command.Kind) (list []command.Thing) {
	switch k {
	case command.Task:
		for _, t := range s.Schedule.Tasks {
			list = append(list, command.Thing{ID: t.ID, Title: t.Title})
		}
	case command.Run:
		for _, f := range s.Forks {
			list = append(list, command.Thing{ID: f.ID, Title: f.Title})
		}
	case command.Update:
		for _, u := range s.Updates {
			list = append(list, command.Thing{ID: u.Key, Title: u.Message})
		}
	}
	return list
}
