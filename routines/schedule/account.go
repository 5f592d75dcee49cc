package schedule

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/fault"
	"ollimbot/routines"
	"ollimbot/routines/account"
)

const (
	// accountFor is the age limit when looking for due times without a row, and accountMost
	// the maximum number per task and search.
	accountFor  = 31 * 24 * time.Hour
	accountMost = 2000
	// mostWhy and mostTitle are the maximum lengths of an error and a title in a row, in
	// cells.
	mostWhy, mostTitle = 200, 60
)

// teller collects the outcomes of due times during a step, and writes them after the
// record and before the fires start. If a crash prevents that, the next start
// reconstructs them from the record.
type teller struct {
	book  account.Account
	log   *slog.Logger
	zone  *time.Location
	began time.Time // when the loop began: earlier due times were missed because the bot was off
	gone  bool      // the data directory was missing until now
	rows  []account.Row
}

// tell notes the outcome of a due time.
func (t *teller) tell(task routines.Task, due time.Time, fate account.Fate, why string) *account.Row {
	t.rows = append(t.rows, account.Row{
		Kind: string(task.Kind), ID: task.ID, Title: clean.Cut(task.Title(), mostTitle), Due: due.In(t.zone).Truncate(time.Second), Fate: fate,
		Why: clean.Cut(clean.Line(why), mostWhy),
	})
	return &t.rows[len(t.rows)-1]
}

// tellDue notes the outcome of a fire. That of an early moment has its length in the title.
func (l *loop) tellDue(d Due, fate account.Fate, why string) *account.Row {
	row := l.teller.tell(d.Task(), d.ownTime(), fate, why)
	if d.Routine != nil && row.Why == "" {
		row.Why = clean.Cut(clean.Line(d.Routine.Schedule.Trouble()), mostWhy)
	}
	if d.Early != nil {
		row.Title += earlyTitle(*d.Early)
	}
	return row
}

// missed notes a due time at which nothing was running.
func (t *teller) missed(task routines.Task, due time.Time) {
	why := account.Asleep
	switch {
	case due.Before(t.began):
		why = account.Off
	case t.gone:
		why = account.Adrift
	}
	t.tell(task, due, account.Missed, why)
}

// held notes a due time that was held.
func (t *teller) held(task routines.Task, due time.Time, h Hold) {
	why := account.Paused
	switch {
	case h.Why != "":
		why = TagWaits
	case h.Reason != "":
		why = tagItself + ": " + h.Reason
	}
	t.tell(task, due, account.Held, why).Until = h.Until
}

// write appends the collected rows.
func (t *teller) write(now time.Time) {
	rows := t.rows
	t.rows = nil
	for i := range rows {
		rows[i].At = now
	}
	if err := t.book.Add(rows...); err != nil {
		t.log.Error("what became of due times could not be written", "error", err)
	}
}

// dueTimes calls each with a routine's due times after one moment and up to another,
// limited to the last accountFor and the newest accountMost.
func (l *loop) dueTimes(r *routines.Routine, after, to time.Time, each func(time.Time)) {
	if oldest := to.Add(-accountFor); after.Before(oldest) {
		after = oldest
	}
	var list []int64
	for at := nextFire(&r.Schedule, after.Unix()+1, l.zone); at <= to.Unix(); at = nextFire(&r.Schedule, at+1, l.zone) {
		list = append(list, at)
	}
	for _, at := range list[max(0, len(list)-accountMost):] {
		each(moment(at, l.zone))
	}
}

// accountMissed notes the due times from first up to, but not including, last.
func (l *loop) accountMissed(r *routines.Routine, first, last time.Time) {
	l.dueTimes(r, first.Add(-time.Second), last.Add(-time.Second), func(at time.Time) { l.teller.missed(r.Task, at) })
}

// accountHeld notes a routine's due times that a hold has prevented up to a moment, and
// those missed before the hold.
func (l *loop) accountHeld(r *routines.Routine, h Hold, to time.Time) {
	e := l.record.entry(r.ID)
	if !e.After.Before(to) {
		return
	}
	last := e.After
	l.dueTimes(r, e.After, to, func(at time.Time) {
		moment := l.record.momentOf(r, at)
		if moment.After(to) {
			return // the window is still open
		}
		last = moment
		if moment.Before(h.Since) {
			l.teller.missed(r.Task, at)
			return
		}
		l.teller.held(r.Task, at, h)
	})
	if !last.Equal(e.After) {
		e.After = last
		l.record.saveSoon(l.wall)
	}
}

// accountHolds notes the due times that holds have prevented: once a minute those of
// current holds, and all those of ended holds before the next fire advances the record.
func (l *loop) accountHolds(now time.Time) {
	minute := now.Truncate(time.Minute)
	looked := minute.Equal(l.heldTo)
	l.heldTo = minute
	for _, r := range l.set().Routines {
		switch h := l.hold(&r.Task); {
		case h == Hold{}:
		case !h.Ended(now) && !looked:
			l.accountHeld(r, h, now)
		case h.Ended(now):
			l.accountHeld(r, h, h.after())
		}
	}
}

// accountStart notes the start of a run.
func (l *loop) accountStart(d Due) {
	if d.ByHand && !d.Late {
		return // additional to the schedule
	}
	l.tellDue(d, account.Running, "").Late = d.Late
}

// fates maps the outcome of a run to the fate of its due time.
var fates = map[outcome]account.Fate{
	outcomeDone: account.Ran, outcomeFailed: account.Failed, outcomeCutOff: account.Interrupted, outcomeStopped: account.Interrupted, outcomeHeld: account.Held,
	outcomeMissed: account.Missed, outcomeSkipped: account.Skipped, outcomeNothing: account.Ran,
}

// accountEnd notes the end of a run.
func (l *loop) accountEnd(e ended) {
	d := e.fire
	if d.ByHand && !d.Late {
		return
	}
	why := e.why
	if e.outcome == outcomeDone && d.Task().Says {
		why = account.NoModel
	}
	row := l.tellDue(d, fates[e.outcome], why)
	row.Late, row.Until = d.Late, e.until
}

// settleAccount completes the account at a start: runs that were in progress when the
// program last ended, and due times that the record has as passed but that have no row.
func (l *loop) settleAccount(now time.Time) {
	l.teller.began = now
	past, err := l.teller.book.Read(now)
	if err != nil {
		l.o.Log.Error("what became of due times could not be read", "error", err)
	}
	if len(past.Rows) == 0 {
		return
	}
	have := make(map[account.Key]bool, len(past.Rows))
	for _, row := range past.Rows {
		have[row.Key()] = true
		if row.Fate == account.Running {
			row.Fate, row.Why = l.endOf(row)
			l.teller.rows = append(l.teller.rows, row)
		}
	}
	for _, r := range l.set().Routines {
		e, ok := l.record.Routines[r.ID]
		if !ok || e.Cron != r.Schedule.String() {
			continue
		}
		from, to := past.Rows[0].Due, e.After
		if e.Seen.After(from) {
			from = e.Seen
		}
		if to.After(now) {
			to = now
		}
		l.dueTimes(r, from, to, func(at time.Time) {
			if have[account.Key{Kind: string(r.Kind), ID: r.ID, Due: at.Unix()}] {
				return
			}
			l.teller.tell(r.Task, at, e.fateOf(l.record.momentOf(r, at)), "")
		})
	}
	l.teller.write(now)
}

// fateOf returns what the record has on a past due time.
func (e *routineEntry) fateOf(at time.Time) account.Fate {
	var fate account.Fate
	switch {
	case at.Equal(e.LastFire):
		fate = fates[e.Outcome]
	case at.Equal(e.Passed):
		fate = fates[e.Why]
	}
	return cmp.Or(fate, account.Unrecorded)
}

// endOf returns how a run ended that was in progress when the program last ended.
func (l *loop) endOf(row account.Row) (account.Fate, string) {
	if row.Kind == string(routines.KindReminder) {
		if l.o.Ended != nil && l.o.Ended(row.ID, row.Due, row.At) {
			return account.Ran, ""
		}
	} else if e, ok := l.record.Routines[row.ID]; ok && row.Due.Equal(l.record.ownTime(routineKey(row.ID), e.LastFire)) {
		return e.fateOf(e.LastFire), ""
	}
	return account.Interrupted, ""
}

// mostFailures is the number of consecutive failures after which a routine is paused.
const mostFailures = 3

// failing is a routine that keeps failing.
type failing struct {
	task   routines.Task
	why    string
	paused bool
}

// countFailure counts consecutive failures of a routine. A routine that fails too often
// is paused, so that it spends nothing until the user responds.
func (l *loop) countFailure(r *routineEntry, e ended, now time.Time) {
	switch e.outcome {
	case outcomeDone:
		r.Failures = 0
	case outcomeFailed:
		r.Failures++
	}
	if l.o.Failing == nil || r.Failures < mostFailures {
		return
	}
	r.Failures = 0
	f := failing{task: e.fire.Task(), why: e.why}
	t, ok := l.set().RoutineByID(f.task.ID)
	if !ok || l.heldAt(&t.Task, now) {
		return // it no longer fires
	}
	if !t.Critical && !t.Essential {
		err := l.holds.change(l.o.Dir, true, func(all map[key]held) { replaceHold(all, e.fire.key(), Hold{Paused: true, Failing: true}, now) })
		if err != nil {
			l.o.Log.Error("the pause of a routine that fails could not be saved", "task", t.ID, "error", err)
		}
		f.paused = true
		l.planRoutine(t, now)
		l.agenda.drop(itemKey{key: e.fire.key(), catchUp: true})
	}
	l.failing = append(l.failing, f)
}

// reportFailing reports the paused routines. start runs a function in the background.
func reportFailing(ctx context.Context, report func(context.Context, routines.Task, string, bool), start func(func() error), list []failing) {
	for _, f := range list {
		start(fault.Guard("the report of a failing routine", func() error {
			report(ctx, f.task, f.why, f.paused)
			return nil
		}))
	}
}

// report collects the messages of one step of the loop.
type report struct {
	changed  bool // Options.Changed must be called
	notes    []string
	troubles []trouble
	known    map[string]bool // files whose errors were reported
}

// trouble lists the errors in files of one kind, and the new ones among them.
type trouble struct {
	kind       routines.Kind
	all, fresh []string
}

// words returns the note about the errors; unread means that the user has not seen the
// last one.
func (t trouble) words(unread bool) string {
	list := t.fresh
	if unread {
		list = t.all
	}
	if len(list) == 0 {
		return ""
	}
	return invalidNote(t.kind, list)
}

func (r *report) note(text ...string) { r.notes = append(r.notes, text...) }

// problems reports files that are not in force: one note per kind, and each file once
// until it is valid again. It replaces an unread note.
func (r *report) problems(set *routines.Set) {
	kinds := []trouble{{kind: routines.KindRoutine}, {kind: routines.KindReminder}}
	wrong := map[string]bool{}
	for _, p := range set.Problems {
		if p.Severity != routines.Error || wrong[p.File] {
			continue
		}
		wrong[p.File] = true
		t := &kinds[0]
		if p.File == routines.ReminderFolder || strings.HasPrefix(p.File, routines.ReminderFolder+"/") {
			t = &kinds[1]
		}
		text := p.Position() + ": " + p.Message
		t.all = append(t.all, text)
		if !r.known[p.File] {
			t.fresh = append(t.fresh, text)
		}
	}
	r.known = wrong
	r.changed = true
	r.troubles = append(r.troubles, kinds...)
}

// deliver passes all messages on.
func (r *report) deliver(o Options) {
	notes, troubles, changed := r.notes, r.troubles, r.changed
	r.notes, r.troubles, r.changed = nil, nil, false
	for _, text := range notes {
		o.Note(text)
	}
	for _, t := range troubles {
		o.Troubles(t.kind, t.words)
	}
	if changed {
		o.Changed()
	}
}
