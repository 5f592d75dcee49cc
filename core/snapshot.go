package core

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/mcp"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/config"
	"ollimbot/core/talk/absence"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/notice"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/google"
	"ollimbot/core/work/money"
	"ollimbot/core/work/proposals"
	"ollimbot/core/work/updates"
	"ollimbot/core/work/webhook"
	"ollimbot/routines/cron"
	"ollimbot/routines/schedule"
)

// Snapshot is everything a dashboard shows, as one immutable value: whoever
// holds it may keep it, nobody may change what its slices hold. Times are in
// Zone. Texts are cleaned.
type Snapshot struct {
	At      time.Time // the moment the snapshot describes
	Started time.Time // when the bot started; zero when it does not run
	Zone    *time.Location
	// TwelveHours says that times of day are read as 3:04pm. Whoever shows the snapshot
	// sets it.
	TwelveHours bool
	Dir         string // the data directory, with ~ for the home directory
	Root        string // the same as an absolute path, for an editor

	Engine  EngineStatus
	Surface SurfaceStatus
	// Google is what is wrong with the login at Google, and the cure; empty while it is
	// well, and where there is none.
	Google string
	// Day are the user's appointments of today and tomorrow that have not ended, and the
	// tasks due then, by their starts, as they were read last (Viewer.Look).
	Day []google.Item

	Routines  int // valid routine files
	Reminders int // valid reminder files
	// Busy says that a conversation is under way, and since when.
	Busy      bool
	BusySince time.Time

	Budget BudgetView
	// Money is what was spent today and this month, what is set aside for runs under
	// way, and the caps. What each fire is expected to cost, and whether it is held
	// for money, its entry in the schedule says; more is in Reader.Costs.
	Money    money.State
	Schedule schedule.View
	Updates  []updates.Update // oldest first
	// Proposals are the bot's own questions that wait for an answer, oldest first.
	Proposals []proposals.Proposal
	Forks     []fork.View // running, then waiting, then finished (newest first)
	// Config is what /config shows and sets.
	Config config.Runtime
	// Ended are the runs that have ended within 24 hours, in the order of their ends.
	Ended []fork.View
	// Failures are runs that have failed and that nobody has looked at, newest first.
	Failures []fork.View
	// Away is when the user was away last, Decisions how many decisions were written
	// down since the program began.
	Away      absence.Span
	Decisions uint64
	// MaxForks is how many forks may run at once.
	MaxForks int
	Chat     []transcript.Entry // oldest first
	ChatMore bool               // more was said before it
	Notices  []notice.Notice    // oldest first, the newest 100
	// Fork is the interactive fork that the chat stands in, or nil.
	Fork *chat.Banner
	// Approvals are tool calls that wait for the user, oldest first.
	Approvals []policy.Approval
	// Attached are the names of files that go with the next message.
	Attached []string
	// Deliveries are what came in by webhooks, newest first; empty where triggers are not taken.
	Deliveries []webhook.Delivery
	Servers    []mcp.State // of .mcp.json, by name
	LogLines   uint64      // log lines ever written: a change means new ones
}

// SurfaceStatus is where the bot's words go.
type SurfaceStatus struct {
	Name  string `json:"name"`  // "chat here", "Discord"
	State string `json:"state"` // "up 42 ms", "no token: set DISCORD_TOKEN"
	OK    bool   `json:"ok"`
	// Lead says in a headline what is wrong; empty if it is the connection.
	Lead string `json:"lead,omitempty"`
}

// Snapshot describes the bot now. It may be called from anywhere and writes
// nothing. It waits for no run and no turn, but may wait for a file that is being
// written: the locks that order some of them guard what it reads.
func (b *Bot) Snapshot() Snapshot { return b.SnapshotAt(b.now()) }

// SnapshotAt describes the bot as it will look at t if nothing happens until
// then; runs and messages are those of now.
func (b *Bot) SnapshotAt(t time.Time) Snapshot {
	now := t.In(b.zone)
	set := b.index.Set()
	view := b.schedule.View(now)
	s := Snapshot{
		At: now, Zone: b.zone, Dir: b.dir.Display(), Root: b.dir.Root(),
		Routines: len(set.Routines), Reminders: len(set.Reminders),
		Engine: b.engine.status(), Surface: b.surface.status(), Google: b.google.Trouble(), Day: b.google.DayAhead(now),
		Budget: b.forecast.view(now, view), Money: b.purse.State(now), Schedule: view,
		Updates: b.updates.Peek(), Proposals: b.offers.Open(now),
		Forks: b.forks.Views(), Failures: b.forks.Failures(), MaxForks: b.settings.Load().MaxBackgroundForks,
		Chat: b.book.Entries(), ChatMore: b.book.More(), Notices: b.notices.All(),
		Fork: b.chat.Banner(), Approvals: b.guard.Approvals().Pending(), Attached: b.chat.Attached(),
		Servers: b.servers.States(),
	}
	s.Ended = b.forks.Ended(now.Add(-24 * time.Hour))
	if at := b.started.Load(); at != nil {
		s.Started = *at
	}
	s.Config = *b.settings.Load()
	s.Away, s.Decisions = b.present.Span(now), b.audit.Recorded()
	s.Busy, s.BusySince = b.chat.Busy()
	s.Schedule.Problems = append(s.Schedule.Problems[:len(s.Schedule.Problems):len(s.Schedule.Problems)], b.webhooks.index.Problems()...)
	s.Schedule.Problems = append(s.Schedule.Problems, b.review.Beside()...)
	s.Schedule.Problems = append(s.Schedule.Problems, Lacking(b, now)...)
	s.Deliveries = b.webhooks.deliveries()
	if b.o.Book != nil {
		s.LogLines = b.o.Book.Lines()
	}
	_, policyProblems := b.policy.Load()
	problems := slices.Concat(policyProblems, b.purse.Prices().Problems())
	if b.o.Providers != nil {
		problems = append(problems, b.o.Providers.Problems()...)
	}
	if len(problems) > 0 {
		s.Schedule.Problems = append(problems, s.Schedule.Problems...)
	}
	return s
}

// Reporter is the run that has left an update: the only task's that has reported and was
// running then. The file of updates keeps no names, so that it is nil where no run or those of
// more than one task fit, and for what the program itself has left, which it reports as a
// notice too.
func (s *Snapshot) Reporter(u updates.Update) (found *fork.View) {
	line := clean.Line(u.Message)
	for _, n := range s.Notices {
		if n.Text == line {
			return nil
		}
	}
	for i := range s.Forks {
		f := &s.Forks[i] // a run is large, and there are many
		// Updates have the time to the second.
		if f.Reports == 0 || f.Started.IsZero() || u.At.Before(f.Started.Truncate(time.Second)) || !f.Ended.IsZero() && u.At.After(f.Ended) {
			continue
		}
		if found != nil && found.Title != f.Title {
			return nil
		}
		found = f
	}
	return found
}

// Source is the title of the Reporter; empty without one.
func (s *Snapshot) Source(u updates.Update) string {
	if run := s.Reporter(u); run != nil {
		return run.Title
	}
	return ""
}

// Sourced is the text of an update behind its source, unless it names that itself.
func (s *Snapshot) Sourced(u updates.Update) string {
	from := s.Source(u)
	if from == "" || u.Dropped > 0 || strings.Contains(strings.ToLower(u.Message), strings.ToLower(from)) {
		return u.Message
	}
	return from + ": " + u.Message
}

// Local is a moment on the user's clock.
func (s *Snapshot) Local(t time.Time) time.Time { return t.In(cmp.Or(s.Zone, time.UTC)) }

// IsToday reports whether a moment is of the day that the snapshot describes.
func (s *Snapshot) IsToday(t time.Time) bool {
	return words.SameDay(t, s.At, cmp.Or(s.Zone, time.UTC))
}

// Clock writes a moment on the user's clock by a layout of package time, whose "15:04" is
// written as the user reads it.
func (s *Snapshot) Clock(t time.Time, layout string) string {
	return s.Local(t).Format(words.ClockLayout(layout, s.TwelveHours))
}

// When is Clock with the layout that fits the distance.
func (s *Snapshot) When(t time.Time, l cron.Layouts) string {
	for _, layout := range []*string{&l.Today, &l.Week, &l.Year, &l.Else} {
		*layout = words.ClockLayout(*layout, s.TwelveHours)
	}
	return l.Format(s.Local(t), s.At)
}

// ClockCells is how many cells the time of a day takes at most.
func (s *Snapshot) ClockCells() int {
	if s.TwelveHours {
		return len("12:04pm")
	}
	return len("15:04")
}

// Glance is what the day has brought and cost, and what comes next. Whoever tells one of
// these numbers takes it from here.
type Glance struct {
	Next     *schedule.Entry // the next fire within 24 hours that is not held; nil without one
	Runs     int             // background runs that have ended today, in the user's zone
	Failed   int             // of these, that have failed
	Pings    int             // messages that runs have sent today, critical and essential ones too
	Critical int             // of these, critical
	Answered int             // of these, that the user has answered
	Refused  int             // pings that were refused today
	Beside   string          // what of today is beside the budget: "2 essential, quiet 1 of 3"
	CostUSD  float64         // of everything today
	Asks     int             // tool calls and questions that wait for the user
}

// PingsText is "28 pings, 7 critical, 2 refused, quiet 1 of 3".
func (g Glance) PingsText() string {
	return words.Joined(words.Count(g.Pings, "ping"), counted(g.Critical, "critical"), counted(g.Refused, "refused"), g.Beside)
}

// AnsweredText is "3 pings today, 2 answered".
func (g Glance) AnsweredText() string {
	return words.Joined(words.Count(g.Pings, "ping")+" today", counted(g.Answered, "answered"))
}

func counted(n int, word string) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n) + " " + word
}

// Glance sums up the snapshot.
func (s *Snapshot) Glance() Glance {
	b := &s.Budget.State
	g := Glance{Pings: b.DailyUsed + b.CriticalUsed, Critical: b.CriticalUsed, CostUSD: s.Engine.Today.CostUSD, Asks: len(s.Approvals)}
	g.Pings += s.Budget.Beside.Essential
	g.Beside = s.Budget.Beside.Text(s.Budget.QuietLimit)
	for _, p := range s.Budget.Today() {
		switch {
		case p.Refused != "":
			g.Refused++
		case !p.Answered.IsZero():
			g.Answered++
		}
	}
	g.Answered = min(g.Answered, g.Pings)
	if s.Fork != nil && s.Fork.Asks {
		g.Asks++
	}
	for _, list := range [][]schedule.Entry{s.Schedule.Entries, s.Schedule.Day} {
		ahead := func(e schedule.Entry) bool { return !e.Held && e.FireTime.After(s.At) }
		if i := slices.IndexFunc(list, ahead); i >= 0 && g.Next == nil {
			g.Next = &list[i]
		}
	}
	today := s.Midnight()
	for i := range s.Ended {
		if r := &s.Ended[i]; !r.Ended.Before(today) {
			g.Runs++
			if r.State.Failed() {
				g.Failed++
			}
		}
	}
	return g
}

// Midnight is when the day of the snapshot began, in the user's zone.
func (s *Snapshot) Midnight() time.Time {
	zone := s.Zone
	zone = cmp.Or(zone, time.UTC)
	y, m, d := s.At.In(zone).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, zone)
}
