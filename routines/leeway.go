package routines

import (
	"time"

	"ollimbot/core/storage/frontmatter"
	"ollimbot/routines/cron"
	"ollimbot/routines/leeway"
)

func (p *File) leeway() (r leeway.Rule) {
	if f, text, ok := p.Text("window", ""); ok {
		w, err := leeway.ParseWindow(text)
		if err != nil {
			p.addText(Error, f.Value, msgBadLeeway, "window", show(text), err)
		}
		r.Window = w
	}
	f, text, ok := p.Text("jitter", "")
	if !ok {
		return r
	}
	d, err := leeway.ParseJitter(text)
	if err != nil {
		p.addText(Error, f.Value, msgBadLeeway, "jitter", show(text), err)
		return r
	}
	r.Jitter = d
	if long := r.Window.Length(); !r.Window.IsZero() && long < d {
		p.addText(Error, f.Value, msgShortWindow, r.Window, leeway.FormatJitter(d), leeway.FormatJitter(long))
	}
	return r
}

// checkCron checks a routine's leeway against its cron, which decides on which days a
// window opens. No fire may be delayed past the next one.
func (p *File) checkCron(s cron.Schedule, r leeway.Rule) {
	if s.Never() || r == (leeway.Rule{}) {
		return
	}
	if w := r.Window; !w.IsZero() {
		if hour, minute, ok := s.Daily(); !ok || hour*60+minute != w.From {
			p.AddAt(Error, p.Field("window"), msgCronInWindow, w.From/60, w.From%60, s.AtTime(w.From/60, w.From%60))
		}
		return
	}
	if gap := shortestGap(s); gap <= r.Jitter {
		p.AddAt(Error, p.Field("jitter"), msgOftenJitter, leeway.FormatJitter(gap), leeway.FormatJitter(r.Jitter), leeway.FormatJitter(gap))
	}
}

// gapFires is how many fires are checked: enough for a full day at one every 5 minutes.
const gapFires = 300

// shortestGap is the shortest time between two fires. Hours and days repeat, so the first
// gapFires are enough.
func shortestGap(s cron.Schedule) time.Duration {
	at := s.Next(time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC))
	least := leeway.MaxJitter + time.Minute
	for range gapFires {
		next := s.Next(at.Add(time.Minute))
		if at.IsZero() || next.IsZero() {
			break
		}
		least, at = min(least, next.Sub(at)), next
	}
	return least
}

// checkRunAt warns of a reminder whose window does not start at its time. A reminder that
// has repeated has a different time and is skipped.
func (p *File) checkRunAt(r *Reminder) {
	w := r.Leeway.Window
	if w.IsZero() || r.RunAt.IsZero() || !r.FirstAt.IsZero() || r.ChainDepth > 0 || r.Leeway.Fits(r.RunAt) {
		return
	}
	p.AddAt(Warning, p.Field("window"), msgRunAtOutside, w.From/60, w.From%60, w.Start(r.RunAt).Format(runAtLayout))
}

// leewayKeys returns the leeway keys for a new file.
func leewayKeys(r leeway.Rule) []frontmatter.Entry {
	return []frontmatter.Entry{
		{Key: "window", Value: unless("", r.Window.String())},
		{Key: "jitter", Value: unless("", leeway.FormatJitter(r.Jitter))},
	}
}
