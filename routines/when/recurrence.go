package when

import (
	"errors"
	"slices"
	"strings"
	"time"

	"ollimbot/routines/cron"
	"ollimbot/routines/recur"
	"ollimbot/routines/zones"
)

// Schedule reads when something fires again and again: in words, including those of
// recur.Recurrence.Words, as a cron expression, or as one with words behind it, as in
// recur.Recurrence.String. A schedule without a time of day fires in the morning, and one that
// counts days or times begins on the next of its days. An error of an expression is a *cron.Error.
func (r Reader) Schedule(text string) (recur.Recurrence, error) {
	expr, rest := "", text
	if isCron(text) {
		if expr, rest = splitCron(text); rest == "" {
			s, err := cron.Parse(expr)
			return recur.Of(s), err
		}
	}
	p := r.parser(rest)
	if len(p.toks) == 0 {
		return recur.Recurrence{}, refuse(textNoSchedule)
	}
	s := repeat{markEnd: -1, bounds: bounds{given: expr != ""}}
	if err := p.repeat(&s); err != nil {
		return recur.Recurrence{}, err
	}
	if s.zone != nil {
		p.Now = p.Now.In(s.zone)
	}
	if expr == "" {
		p.defaultDays(&s)
		var err error
		if expr, err = p.expression(&s); err != nil {
			return recur.Recurrence{}, err
		}
	}
	c, err := cron.Parse(expr)
	if err != nil {
		return recur.Recurrence{}, err
	}
	return p.bounded(&s, c)
}

// splitCron splits an expression from the words behind its fifth field, which ends with a comma.
func splitCron(text string) (expr, rest string) {
	ends := wordEnds(text)
	if len(ends) < 6 || text[ends[4]-1] != ',' {
		return text, ""
	}
	return text[:ends[4]-1], text[ends[4]:]
}

// bounds are the restrictions of a schedule that cron does not have.
type bounds struct {
	given     bool // the expression is given, and only restrictions may follow
	count     recur.Interval
	within    bool // a week, month or year was named, in which a day has to be
	monthDays []recur.MonthDay
	from      recur.Date
	until     recur.Date // its year may be missing
	lasting   length
	limit     int
	skip      []recur.Gap
	calendars []string
	zone      *time.Location
}

// counts reports whether a first day is needed.
func (b *bounds) counts() bool {
	return b.count != recur.Interval{} || b.limit > 0 || b.lasting != (length{})
}

// defaultDays selects the day of an interval that names none: that of its beginning.
func (p *parser) defaultDays(s *repeat) {
	if s.count == (recur.Interval{}) || s.count.Unit == recur.Day || s.days || s.week != 0 || s.dates != 0 || len(s.monthDays) > 0 {
		return
	}
	if s.from.IsZero() {
		s.from = recur.DateOf(p.Now)
		if s.count.Unit == recur.Week && s.every == 0 && s.marks == 0 { // today, unless its time has passed
			minute, ok := p.Day.Morning, true
			switch {
			case len(s.times) == 1 && s.parted:
				minute, _ = inPart(s.times[0], s.part)
			case len(s.times) == 1:
				minute = s.times[0]
			case s.parted:
				minute = s.part
			default:
				ok = len(s.times) == 0
			}
			if ok && p.Now.Hour()*60+p.Now.Minute() >= minute {
				s.from = s.from.Add(1)
			}
		}
	}
	switch s.count.Unit {
	case recur.Week:
		at := time.Date(s.from.Year, s.from.Month, s.from.Day, 0, 0, 0, 0, time.UTC)
		s.week.add(int(at.Weekday()))
	case recur.Year:
		s.months.add(int(s.from.Month))
		s.dates.add(s.from.Day)
	default:
		s.dates.add(min(s.from.Day, 28))
	}
}

// bounded adds the restrictions to an expression.
func (p *parser) bounded(s *repeat, c cron.Schedule) (recur.Recurrence, error) {
	r := recur.Recurrence{Cron: c, Every: s.count, Days: s.monthDays, From: s.from, Times: s.limit, Skip: s.skip, Calendars: s.calendars, Zone: s.zone}
	if r.From.IsZero() && s.counts() {
		first := recur.Recurrence{Cron: c, Days: s.monthDays, Skip: s.skip}
		at := first.Next(p.Now)
		if at.IsZero() { // it never fires, which Checked explains
			at = p.Now
		}
		r.From = recur.DateOf(at)
	}
	begin := r.From
	if begin.IsZero() {
		begin = recur.DateOf(p.Now)
	}
	r.Until = s.until
	if s.lasting != (length{}) {
		r.Until = recur.DateOf(s.lasting.after(time.Date(begin.Year, begin.Month, begin.Day, 0, 0, 0, 0, time.UTC))).Add(-1)
	}
	if !r.Until.IsZero() && r.Until.Year == 0 {
		r.Until = yearOf(r.Until, begin)
	}
	r, err := recur.Checked(r)
	var bad *recur.Error
	if errors.As(err, &bad) {
		return r, refuse("%s", bad.Error())
	}
	return r, err
}

// yearOf is the first such day at or after one. A day that its month never has is the month's last.
func yearOf(d, from recur.Date) recur.Date {
	never := !d.Exists()
	for year := from.Year; ; year++ {
		at := recur.Date{Year: year, Month: d.Month, Day: d.Day}
		if never {
			at = lastOf(at)
		}
		if at.Exists() && !at.Before(from) {
			return at
		}
	}
}

// bound reads one restriction. ok is false if there is none here; then nothing is taken.
func (p *parser) bound(s *bounds) (ok bool, err error) {
	from := p.pos
	switch {
	case p.skip("starting", "beginning"):
		p.skip("on", "from")
		if s.from, ok, err = p.bare(false); !ok && err == nil {
			err = refuse(textBeginDay)
		}
		return ok, err
	case p.take("from"):
		weekday := p.week()
		s.from, ok, err = p.bare(false)
		if ok && weekday && p.peek(0).text == "to" || !ok { // "from monday to friday"
			s.from, p.pos = recur.Date{}, from
			return false, err
		}
		if err == nil && p.take("to") {
			s.until, ok, err = p.bare(true)
		}
		return ok, err
	case p.take("until"), p.take("ending"):
		p.take("on")
		if s.until, ok, err = p.bare(true); !ok && err == nil {
			err = refuse(textEndDay)
		}
		return ok, err
	case p.take("except"), p.take("but", "not"), p.take("not"):
		return p.gaps(s)
	case p.take("for"):
		if p.peek(1).text == "times" {
			return p.often(s)
		}
		l, ok, err := p.span()
		if ok && err == nil && l.rest == 0 {
			s.lasting = l
			return true, nil
		}
		p.pos = from
		return false, err
	case p.peek(1).text == "times" || p.peek(1).text == "time":
		return p.often(s)
	case p.peek(0).text == "in":
		return p.inZone(s)
	}
	return p.ofMonth(s)
}

// often reads "10 times", but not "3 times a day".
func (p *parser) often(s *bounds) (bool, error) {
	n, ok := p.integer()
	if !ok {
		return false, nil
	}
	p.pos++
	if p.peek(0).text == "a" || p.peek(0).text == "per" || p.peek(0).text == "daily" {
		return false, refuse(textManyTimes)
	}
	if n < 1 || n > recur.MaxTimes {
		return false, refuse(textHowMany, recur.MaxTimes)
	}
	s.limit = n
	return true, nil
}

// dayOrMonth takes a date or the name of a month, with or without a year. whole is true for a
// month, of which d is the first day.
func (p *parser) dayOrMonth() (d recur.Date, whole, ok bool, err error) {
	from := p.pos
	if m, ok := p.month(); ok {
		n, number := p.peek(0).number()
		_, ordinal := (&parser{toks: p.toks, pos: p.pos}).ordinal()
		if year := number && n >= firstYear; year || !number && !ordinal {
			d = recur.Date{Month: time.Month(m), Day: 1}
			if year {
				p.pos++
				d.Year = n
			}
			return d, true, true, nil
		}
		p.pos = from
	}
	day, month, year, ok, err := p.calendarDate()
	if !ok || err != nil || month == 0 { // "the 24th" needs today
		p.pos = from
		return d, false, false, err
	}
	d = recur.Date{Year: year, Month: time.Month(month), Day: day}
	if month > 12 || !d.Exists() || year > lastYear || year != 0 && year < firstYear {
		if _, err = p.dateOf(day, month, year); err == nil {
			err = refuse(textTooMuch)
		}
		return d, false, false, err
	}
	return d, false, true, nil
}

// bare takes a day as the first or last of a schedule.
func (p *parser) bare(last bool) (d recur.Date, ok bool, err error) {
	now := recur.DateOf(p.Now)
	from := p.pos
	end := p.take("the", "end", "of") || p.take("end", "of")
	if end && (p.take("the", "year") || p.take("year")) {
		return recur.Date{Year: now.Year, Month: time.December, Day: 31}, true, nil
	}
	d, whole, ok, err := p.dayOrMonth()
	switch {
	case err != nil:
		return d, false, err
	case ok:
		if whole && (last || end) {
			d = lastOf(d)
		}
		if d.Year == 0 && !last {
			if whole {
				now.Day = 1
			}
			d = yearOf(d, now)
		}
		return d, true, nil
	case end:
		p.pos = from
		return d, false, nil
	}
	m := moment{week: -1, minute: -1, part: -1}
	if ok, err = p.day(&m); !ok && err == nil {
		ok, err = p.dated(&m)
	}
	return recur.DateOf(m.date), ok, err
}

// lastOf is the last day of a month. Without a year it is the 31st, which yearOf understands.
func lastOf(d recur.Date) recur.Date {
	for d.Day = 31; d.Year != 0 && !d.Exists(); d.Day-- {
	}
	return d
}

// gaps reads "24 dec to 2 jan, 5 april 2027 and august".
func (p *parser) gaps(s *bounds) (bool, error) {
	for found := false; ; found = true {
		from := p.pos
		if found && !p.take(",", "and") && !p.skip(",", "and") {
			return true, nil
		}
		for p.skip("on", "in", "from", "between") {
		}
		t := p.peek(0)
		if _, google := recur.GoogleCalendar(t.raw); google || strings.HasSuffix(t.text, calendarSuffix) && t.text != calendarSuffix {
			p.pos++
			s.calendars = append(s.calendars, t.raw)
			continue
		}
		g, ok, err := p.gap()
		switch {
		case err != nil:
			return false, err
		case !ok && !found && p.week(): // a day of the week
			return false, refuse(textExceptDay)
		case !ok && !found:
			return false, p.orMeant(refuse(textExcept))
		case !ok:
			p.pos = from
			return true, nil
		}
		s.skip = append(s.skip, g)
	}
}

// calendarSuffix ends the name of a calendar's file.
const calendarSuffix = ".ics"

// week reports whether days of the week follow.
func (p *parser) week() bool {
	ok, err := (&parser{Reader: p.Reader, toks: p.toks, pos: p.pos}).weekdays(&repeat{})
	return ok || err != nil
}

// gap takes a day, a month, or a range of them.
func (p *parser) gap() (g recur.Gap, ok bool, err error) {
	var whole bool
	if g.From, whole, ok, err = p.dayOrMonth(); !ok || err != nil {
		return g, ok, err
	}
	g.To = g.From
	if p.skip("to", "until") {
		if g.To, whole, ok, err = p.dayOrMonth(); !ok || err != nil {
			return g, ok, err
		}
	}
	switch {
	case g.From.Year == 0 && g.To.Year != 0:
		if g.From.Year = g.To.Year; g.To.Before(g.From) {
			g.From.Year--
		}
	case g.From.Year != 0 && g.To.Year == 0:
		g.To = yearOf(g.To, g.From)
	}
	if whole {
		for g.To = lastOf(g.To); !g.To.Exists(); g.To.Day-- {
		}
	}
	return g, true, nil
}

// ofMonth reads days of the month by their weekday: "the last friday", "first and third monday
// of the month", "last day".
func (p *parser) ofMonth(s *bounds) (bool, error) {
	from := p.pos
	var which []int
	for {
		p.take("the")
		n, ok := recur.Last, p.take("last")
		if !ok {
			if n, ok = p.ordinal(); !ok || n > 5 {
				p.pos = from
				return false, nil
			}
		}
		which = append(which, n)
		if !p.skip(",", "and") {
			break
		}
	}
	what, day := recur.Workday, false
	switch {
	case p.skip("weekday", "workday"), p.take("working", "day"), p.take("business", "day"):
	case p.skip("day"):
		what, day = recur.AnyDay, true
	default:
		d, plural, ok := p.weekday()
		if !ok || plural {
			var err error
			if slices.Contains(which, recur.Last) {
				err = p.orMeant(refuse(textLast))
			}
			p.pos = from
			return false, err
		}
		what = d
	}
	for _, n := range which {
		if day && n != recur.Last { // a day of cron
			p.pos = from
			return false, nil
		}
		s.monthDays = append(s.monthDays, recur.MonthDay{Nth: n, What: what})
	}
	return true, nil
}

// inZone reads "in Berlin time", "in America/New_York time".
func (p *parser) inZone(s *bounds) (bool, error) {
	from, name := p.pos, ""
	p.take("in")
	for n := 0; ; n++ {
		t := p.peek(0)
		if n > mostZone || t.text == "" || strings.IndexByte("0123456789,", t.text[0]) >= 0 || slices.Contains(noZone, t.text) {
			p.pos = from
			return false, nil
		}
		p.pos++
		if t.text == "time" && n > 0 {
			break
		}
		if n > 0 && !t.glued {
			name += "_"
		}
		name += t.raw
	}
	zone, ok := Zone(name)
	if !ok {
		return false, refuse(textNoZone, strings.ReplaceAll(name, "_", " "))
	}
	s.zone = zone
	return true, nil
}

// mostZone is the largest number of tokens of a zone, and noZone are words that belong to none.
const mostZone = 12

var noZone = []string{"at", "on", "in", "from", "until", "and", "every", "the"}

// zoneAreas are the parts of the world in which a city is looked for.
var zoneAreas = []string{"Europe/", "America/", "Asia/", "Africa/", "Australia/", "Pacific/", "Atlantic/", "Indian/", "America/Argentina/", "America/Indiana/"}

// Zone finds a zone by its name or by its city, in any case: "Europe/Berlin", "new york".
func Zone(name string) (*time.Location, bool) {
	if name = strings.ReplaceAll(strings.TrimSpace(name), " ", "_"); len(name) > 60 {
		return nil, false
	}
	spelled := func(text string) string { // as the database spells names
		out := []byte(strings.ToLower(text))
		for i := range out {
			if out[i] >= 'a' && out[i] <= 'z' && (i == 0 || strings.IndexByte("/_-", out[i-1]) >= 0) {
				out[i] -= 'a' - 'A'
			}
		}
		return strings.NewReplacer("_Of_", "_of_", "_Es_", "_es_", "-Au-", "-au-").Replace(string(out))
	}
	for _, try := range []string{name, spelled(name), strings.ToUpper(name)} {
		if zone, err := zones.Load(try); err == nil {
			return zone, true
		}
	}
	for _, area := range zoneAreas {
		if zone, err := zones.Load(area + spelled(name)); err == nil {
			return zone, true
		}
	}
	return nil, false
}

// SetKey reads a restriction as files have it into a recurrence, by the name of its key. The error is a
// sentence with the cure. Dates have their year.
func SetKey(r *recur.Recurrence, key, text string) error {
	p := Reader{}.parser(text)
	s := bounds{}
	ok, err := false, error(nil)
	switch key {
	case recur.KeyEvery:
		p.take("every")
		ok, err = p.counted(&s)
		r.Every = s.count
	case recur.KeyDays:
		for ok = len(p.toks) > 0; ok && err == nil && !p.done(); {
			for p.skip(",", "and", "on") {
			}
			if ok, err = p.ofMonth(&s); ok {
				_ = p.take("of", "the", "month") || p.take("of", "every", "month")
			}
		}
		r.Days = s.monthDays
	case recur.KeyFrom:
		r.From, ok, err = p.fileDate()
	case recur.KeyUntil:
		r.Until, ok, err = p.fileDate()
	case recur.KeyTimes:
		r.Times, ok = p.integer()
		ok = ok && r.Times > 0
	case recur.KeySkip:
		ok, err = p.gaps(&s)
		r.Skip, r.Calendars = s.skip, s.calendars
	case recur.KeyZone:
		p.pos = len(p.toks)
		r.Zone, ok = Zone(text)
	}
	if err != nil {
		return err
	}
	if !ok || !p.done() {
		return p.orMeant(refuse("%s", textKeys[key]))
	}
	return nil
}

// fileDate takes a date with its year.
func (p *parser) fileDate() (d recur.Date, ok bool, err error) {
	d, whole, ok, err := p.dayOrMonth()
	return d, ok && !whole && d.Year != 0, err
}
