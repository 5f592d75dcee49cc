package core

import (
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/routines/cron"
)

// OutlookKind is what the ping budget allows, worst first.
type OutlookKind uint8

// The kinds of outlooks. In the first four, no ping can go out now.
const (
	PingsOff    OutlookKind = iota // the capacity is 0
	PingsMuted                     // by the user
	PingsQuiet                     // quiet hours
	PingsEmpty                     // no whole token
	PingsLikely                    // the tasks, as they usually ping, run out of tokens
	PingsTight                     // they run out only if every task pings
	PingsEnough                    // every known fire can have a token
)

// Outlook is what the ping budget allows, now and until the last known fire. It is the
// only source for whether a ping can go out: every view renders this value. Moments that
// do not apply are zero.
type Outlook struct {
	Kind OutlookKind
	Now  int       // how many pings can go now
	Next time.Time // when the next one can go out, if none can now
	More time.Time // when there will be one more
	// Likely is the first fire whose ping will probably be refused. Worst is the first one
	// refused if every task pings; it is never later.
	Likely, Worst time.Time
	Until         time.Time // the last known fire

	Word   string // for a title: "empty until 20:37"
	Clause string // to follow another fact: "no ping until 20:37"
	// Text and Tail form a sentence without its period: "likely enough until 14:00", "; if
	// every task pings, out at 11:00". The tail is optional.
	Text, Tail string
}

// Blocked reports whether only critical pings can go out now.
func (o Outlook) Blocked() bool { return o.Kind <= PingsEmpty }

// Outlook returns the snapshot's outlook.
func (s *Snapshot) Outlook() Outlook {
	b := &s.Budget
	o := Outlook{More: b.NextAt, Until: b.FiresUntil}
	curve := b.State.Curve(nil, b.Fires, s.At, b.FiresUntil)
	o.Likely, o.Worst = curve.ExpectedDry, curve.Dry
	closed := b.Quiet
	if closed.IsZero() {
		closed = b.Muted
	}
	switch {
	case b.State.Capacity <= 0:
		o.Kind, o.More, o.Likely, o.Worst = PingsOff, time.Time{}, time.Time{}, time.Time{}
	case !closed.IsZero():
		o.Kind, o.Next = PingsQuiet, closed
		if !b.Muted.IsZero() {
			o.Kind = PingsMuted
		}
		if then := b.State.At(closed); then.Whole() < 1 {
			o.Next = then.NextAt(closed)
		}
	case b.State.Whole() < 1:
		o.Kind, o.Next = PingsEmpty, b.NextAt
	default:
		o.Kind, o.Now = PingsEnough, b.State.Whole()
		if !o.Likely.IsZero() {
			o.Kind = PingsLikely
		} else if !o.Worst.IsZero() {
			o.Kind = PingsTight
		}
	}
	o.say(s, closed)
	return o
}

// say words the outlook. It separates the likely case from the worst one.
func (o *Outlook) say(s *Snapshot, closed time.Time) {
	left := words.Count(o.Now, "ping") + " left"
	o.Clause = left
	if !o.More.IsZero() {
		o.Clause += ", +1 at " + s.Hour(o.More)
	}
	known := ""
	if !o.Until.IsZero() {
		known = " until " + s.Hour(o.Until)
	}
	switch o.Kind {
	case PingsOff:
		o.Word, o.Clause, o.Text = "muted", "critical pings only", "muted: the capacity is 0"
		o.Tail = "; only critical pings get through"
	case PingsMuted, PingsQuiet:
		o.Word = "quiet"
		if o.Kind == PingsMuted {
			o.Word = "muted"
		}
		o.Clause = o.Word + " until " + s.Hour(closed)
		o.Text, o.Tail = o.Clause, ": only critical pings get through"
		if o.Next.After(closed) {
			o.Tail += ", others from " + s.Hour(o.Next)
		}
	case PingsEmpty:
		at := s.Hour(o.Next)
		o.Word, o.Clause, o.Text = "empty until "+at, "no ping until "+at, "the next ping can go at "+at
		switch {
		case !o.Likely.IsZero():
			o.Tail = "; at " + s.Hour(o.Likely) + " a ping is likely refused" + s.firing(o.Likely)
		case !o.Worst.IsZero():
			o.Tail = "; at " + s.Hour(o.Worst) + " a ping would be refused" + s.firing(o.Worst)
		}
	case PingsLikely:
		at := s.Hour(o.Likely)
		o.Word, o.Clause, o.Text = "out by "+at, left+", likely none at "+at, "likely out of pings at "+at
		o.Tail = s.firing(o.Likely)
	case PingsTight:
		o.Word = "likely enough"
		o.Text = "likely enough" + known
		o.Tail = "; if every task pings, out at " + s.Hour(o.Worst) + s.firing(o.Worst)
	case PingsEnough:
		o.Word, o.Text = "enough", "enough"+known
		o.Tail = ", even if every task pings"
	}
}

// firing returns ": Tea break" for the task that fires at a moment and may cost a token.
func (s *Snapshot) firing(at time.Time) string {
	for _, f := range s.Budget.Fires {
		if f.At.Equal(at) && f.Title != "" {
			return ": " + clean.Cut(f.Title, 32)
		}
	}
	return ""
}

// Hour formats a time of day, with the weekday unless it is today.
func (s *Snapshot) Hour(t time.Time) string {
	return s.When(t, cron.Layouts{Today: "15:04", Week: "Mon 15:04", Year: "Mon 2 Jan 15:04", Else: "2 Jan 2006 15:04"})
}
