package core

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

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
	"ollimbot/routines/when"
)

// Snapshot is everything a dashboard shows, as one immutable value. It may be kept, but
// its slices must not be modified. Times are in Zone. Texts are cleaned.
type Snapshot struct {
	At      time.Time // the moment the snapshot describes
	Started time.Time // when the bot started; zero if it is not running
	Zone    *time.Location
	// TwelveHours means that times of day are shown as 3:04pm. The view sets it.
	TwelveHours bool
	Dir         string // the data directory, with ~ for the home directory
	Root        string // the same as an absolute path, for an editor

	Engine  EngineStatus
	Surface SurfaceStatus
	// Google describes a problem with the Google login and its cure; empty if there is none
	// or no login.
	Google string
	// Day lists the user's appointments of today and tomorrow that have not ended, and the
	// tasks due then, by start, as of the last read (Viewer.Look).
	Day []google.Item

	Routines  int // valid routine files
	Reminders int // valid reminder files
	// Busy means that a conversation is in progress, BusySince when it started.
	Busy      bool
	BusySince time.Time

	Budget BudgetView
	// Money is the amount spent today and this month, the amount reserved for current runs,
	// and the caps. The expected cost of each fire, and whether it is held for money, is in
	// its schedule entry; Reader.Costs has more.
	Money    money.State
	Schedule schedule.View
	Updates  []updates.Update // oldest first
	// Proposals are the bot's own open questions, oldest first.
	Proposals []proposals.Proposal
	Forks     []fork.View // running, then queued, then finished (newest first)
	// Config is the configuration that /config shows and sets.
	Config config.Runtime
	// Ended are the runs that ended within 24 hours, by end.
	Ended []fork.View
	// Failures are failed runs that no one has looked at, newest first.
	Failures []fork.View
	// Away is the user's last absence. Decisions is the number of decisions recorded since
	// the program started.
	Away      absence.Span
	Decisions uint64
	// MaxForks is the maximum number of concurrent forks.
	MaxForks int
	Chat     []transcript.Entry // oldest first
	ChatMore bool               // earlier entries exist
	Notices  []notice.Notice    // oldest first, the newest 100
	// Fork is the interactive fork the chat is in, or nil.
	Fork *chat.Banner
	// Approvals are pending tool calls, oldest first.
	Approvals []policy.Approval
	// Attached are the names of files to be sent with the next message.
	Attached []string
	// Deliveries are received webhook calls, newest first; empty if triggers are off.
	Deliveries []webhook.Delivery
	Servers    []mcp.State // of .mcp.json, by name
	LogLines   uint64      // log lines ever written, so that a change means new ones
}

// SurfaceStatus is where the bot's messages go.
type SurfaceStatus struct {
	Name  string `json:"name"`  // "chat here", "Discord"
	State string `json:"state"` // "up 42 ms", "no token: set DISCORD_TOKEN"
	OK    bool   `json:"ok"`
	// Lead is the problem as worded in a headline; empty for a connection problem.
	Lead string `json:"lead,omitempty"`
}

// Snapshot describes the bot now. It may be called from anywhere and writes nothing. It
// never waits for a run or a turn, but may wait for a file being written, because it
// takes some of the locks that order writes.
func (b *Bot) Snapshot() Snapshot { return b.SnapshotAt(b.now()) }

// SnapshotAt describes the bot as it will be at t if nothing happens until then. Runs and
// messages are the current ones.
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
	s.Schedule.Problems = b.Problems(now)
	s.Deliveries = b.webhooks.deliveries()
	if b.o.Book != nil {
		s.LogLines = b.o.Book.Lines()
	}
	return s
}

// Reporter returns the run that left an update, or nil if there is none or it is no longer listed.
func (s *Snapshot) Reporter(u updates.Update) *fork.View {
	if i := slices.IndexFunc(s.Forks, func(f fork.View) bool { return u.Run != "" && f.ID == u.Run }); i >= 0 {
		return &s.Forks[i]
	}
	return nil
}

// Sourced returns the text of an update with its source, unless the text already names
// it.
func (s *Snapshot) Sourced(u updates.Update) string {
	from := u.From
	if from == "" || u.Dropped > 0 || strings.Contains(strings.ToLower(u.Message), strings.ToLower(from)) {
		return u.Message
	}
	return from + ": " + u.Message
}

// UpdateText returns an update with its source and its label.
func (s *Snapshot) UpdateText(u updates.Update) string {
	if u.Label != "" {
		return fmt.Sprintf(textUntrusted, s.Sourced(u), u.Label)
	}
	return s.Sourced(u)
}

// Local converts a time to the user's zone.
func (s *Snapshot) Local(t time.Time) time.Time { return t.In(cmp.Or(s.Zone, time.UTC)) }

// Times reads times as the user says them, from the snapshot's moment on.
func (s *Snapshot) Times() when.Reader { return when.Reader{Now: s.Local(s.At), Day: s.Config.Day()} }

// IsToday reports whether a moment is on the snapshot's day.
func (s *Snapshot) IsToday(t time.Time) bool {
	return words.SameDay(t, s.At, cmp.Or(s.Zone, time.UTC))
}

// Clock formats a moment in the user's zone with a layout of package time, adapting
// "15:04" to the user's clock format.
func (s *Snapshot) Clock(t time.Time, layout string) string {
	return s.Local(t).Format(words.ClockLayout(layout, s.TwelveHours))
}

// When is Clock with the layout for the distance.
func (s *Snapshot) When(t time.Time, l cron.Layouts) string {
	for _, layout := range []*string{&l.Today, &l.Week, &l.Year, &l.Else} {
		*layout = words.ClockLayout(*layout, s.TwelveHours)
	}
	return l.Format(s.Local(t), s.At)
}

// ClockCells returns the maximum width of a time of day, in cells.
func (s *Snapshot) ClockCells() int {
	if s.TwelveHours {
		return len("12:04pm")
	}
	return len("15:04")
}

// Glance sums up the day so far and what is next. Every view takes these numbers from
// here.
type Glance struct {
	Next     *schedule.Entry `json:"-"`            // the next fire within 24 hours that is not held, or nil
	Runs     int             `json:"runs_today"`   // background runs that ended today, in the user's zone
	Failed   int             `json:"-"`            // of these, how many failed
	Pings    int             `json:"pings_today"`  // messages that runs have sent today, including critical and essential ones
	Critical int             `json:"-"`            // of these, how many were critical
	Answered int             `json:"-"`            // of these, how many the user answered
	Refused  int             `json:"-"`            // pings that were refused today
	Beside   string          `json:"-"`            // today's messages outside the budget: "2 essential, quiet 1 of 3"
	CostUSD  float64         `json:"-"`            // everything today
	Asks     int             `json:"asks_waiting"` // pending tool calls and questions
}

// PingsText returns "28 pings, 7 critical, 2 refused, quiet 1 of 3".
func (g Glance) PingsText() string {
	return words.Joined(words.Count(g.Pings, "ping"), counted(g.Critical, "critical"), counted(g.Refused, "refused"), g.Beside)
}

// AnsweredText returns "3 pings today, 2 answered".
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

// Midnight returns the start of the snapshot's day, in the user's zone.
func (s *Snapshot) Midnight() time.Time {
	zone := s.Zone
	zone = cmp.Or(zone, time.UTC)
	y, m, d := s.At.In(zone).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, zone)
}
