package when

import (
	"slices"

	"ollimbot/core/base/words"
)

// monthNamed reads months after a date: "24 december".
func (p *parser) monthNamed(s *repeat) (bool, error) {
	if s.dates == 0 {
		return false, nil
	}
	return p.monthList(s)
}

// monthList reads "June and July", "November to February".
func (p *parser) monthList(s *repeat) (bool, error) {
	for found := false; ; found = true {
		from := p.pos
		if found && !p.take(",", "and") && !p.skip(",", "and") {
			return true, nil
		}
		m, ok := p.month()
		if !ok {
			p.pos = from
			return found, nil
		}
		to := m
		if p.take("to") {
			if to, ok = p.month(); !ok {
				return false, nil
			}
		}
		s.months.span(m, to, 1, 12)
		s.days = true
	}
}

// parts reads "mornings", "in the evening".
func (p *parser) parts(s *repeat) (bool, error) {
	from := p.pos
	p.take("in", "the")
	minute, _, ok := p.part()
	if !ok {
		p.pos = from
		return false, nil
	}
	if s.parted && s.part != minute {
		return false, refuse(textTwo, "parts of the day")
	}
	s.part, s.parted = minute, true
	return true, nil
}

// dates reads days of the month: "1st, 2nd and 5th to 9th", "15 june", "june 15".
func (p *parser) dates(s *repeat) (bool, error) {
	for found := false; ; found = true {
		from := p.pos
		if found && !p.take(",", "and") && !p.skip(",", "and") {
			return true, nil
		}
		p.take("on")
		p.take("the")
		n, ok := p.ordinal()
		if !ok {
			n, ok = p.dateNumber()
		}
		if !ok {
			p.pos = from
			return found, nil
		}
		if q := *p; n <= 5 {
			if _, _, day := q.weekday(); day || q.take("weekday") { // "the first friday"
				p.pos = from
				return found, nil
			}
			p.skip("day")
		}
		to := n
		if p.take("to") {
			p.take("the")
			if to, ok = p.ordinal(); !ok {
				return false, nil
			}
		}
		if n < 1 || n > 31 || to < 1 || to > 31 {
			return false, refuse(textNoMonthDay, "January", words.Ordinal(max(n, to)), 31)
		}
		s.dates.span(n, to, 1, 31)
		s.days = true
	}
}

// dateNumber takes the number of "15 june" or "june 15", or of "monthly on 15".
func (p *parser) dateNumber() (int, bool) {
	n, ok := p.peek(0).number()
	q := *p
	if ok {
		q.pos++
		if _, month := q.month(); month || p.pos >= 2 && p.toks[p.pos-1].text == "on" && (p.toks[p.pos-2].text == "monthly" || p.toks[p.pos-2].text == "month") {
			p.pos++
			return n, true
		}
		return 0, false
	}
	m, ok := q.month()
	if !ok {
		return 0, false
	}
	n, ok = q.ordinal()
	if !ok {
		if n, ok = q.peek(0).number(); !ok || n > 31 {
			return 0, false
		}
		q.pos++
	}
	p.toks = slices.Insert(slices.Clone(p.toks), q.pos, token{text: monthNames[m-1]})
	p.pos = q.pos
	return n, true
}

// weekdays reads "weekdays", "mondays and fridays", "Friday to Monday".
func (p *parser) weekdays(s *repeat) (bool, error) {
	for found := false; ; found = true {
		from := p.pos
		if found && !p.take(",", "and") {
			p.skip(",", "and", "or")
		}
		p.take("on")
		p.take("every")
		switch {
		case p.take("weekdays"), p.take("weekday"):
			s.week |= 0b0111110
		case p.take("weekends"), p.take("weekend"):
			s.week |= 0b1000001
		default:
			d, _, ok := p.weekday()
			if !ok {
				p.pos = from
				return found, nil
			}
			to := d
			if p.take("to") {
				if to, _, ok = p.weekday(); !ok {
					return false, nil
				}
			}
			s.week.span(d, to, 0, 6)
		}
		s.days = true
	}
}
