package cron

import (
	"math/bits"
	"strconv"
	"strings"

	robfig "github.com/robfig/cron/v3"
)

// Schedule is a parsed expression: a small immutable value that can be compared with ==. The
// zero Schedule never fires.
type Schedule struct {
	expr string // fields separated by one space

	minute, hour, dom, month, dow set

	anyHour, anyDom, anyDow bool // the field begins with *
	never                   bool // no year has such a day

	stepMinute, stepHour, stepDom int // n if the field is exactly */n, else 0
}

// String returns the expression with single spaces between its fields.
func (s Schedule) String() string { return s.expr }

// Never reports whether the expression never fires, such as on 30 February.
func (s Schedule) Never() bool { return s.never || s.minute == 0 }

// Daily returns the time of day at which it fires, if there is only one.
func (s Schedule) Daily() (hour, minute int, ok bool) {
	return s.hour.first(), s.minute.first(), s.hour.count() == 1 && s.minute.count() == 1
}

// AtTime returns the expression for the same days with one time of day.
func (s Schedule) AtTime(hour, minute int) string {
	fields := strings.Fields(s.expr)
	if len(fields) < 2 {
		return s.expr
	}
	fields[0], fields[1] = strconv.Itoa(minute), strconv.Itoa(hour)
	return strings.Join(fields, " ")
}

// Equal reports whether both are the same expression, ignoring spaces.
func (s Schedule) Equal(o Schedule) bool { return s == o }

// starBit marks a day field as unrestricted in robfig's schedules.
const starBit = 1 << 63

// spec returns the schedule for robfig's library, whose Next is only used on wall-clock
// time. User input never reaches the library's parser, which panics on some of it.
func (s Schedule) spec() robfig.SpecSchedule {
	dom, dow := uint64(s.dom), uint64(s.dow)
	if s.anyDom {
		dom |= starBit
	}
	if s.anyDow {
		dow |= starBit
	}
	return robfig.SpecSchedule{
		Second: 1, Minute: uint64(s.minute), Hour: uint64(s.hour),
		Dom: dom, Month: uint64(s.month), Dow: dow,
	}
}

// impossible reports whether no year has a matching day.
func (s Schedule) impossible() bool {
	if !s.anyDom && !s.anyDow {
		return s.month == 0 || s.dow == 0 && s.dom == 0 // every week has each weekday
	}
	longest := [13]int{0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}
	for m := 1; m <= 12; m++ {
		if s.month.has(m) && s.dom.first() <= longest[m] {
			return false
		}
	}
	return true
}

// set is a set of small numbers, 0 to 62, as bits.
type set uint64

func (s set) has(v int) bool { return s>>uint(v)&1 == 1 }

func (s set) count() int { return bits.OnesCount64(uint64(s)) }

// first is the smallest member, 64 for the empty set.
func (s set) first() int { return bits.TrailingZeros64(uint64(s)) }

// last is the largest member, -1 for the empty set.
func (s set) last() int { return 63 - bits.LeadingZeros64(uint64(s)) }

func (s set) values() []int {
	v := make([]int, 0, s.count())
	for i := s.first(); i <= s.last(); i++ {
		if s.has(i) {
			v = append(v, i)
		}
	}
	return v
}

// step is the constant distance between neighbours, or 0 if there is none.
func (s set) step() int {
	v := s.values()
	if len(v) < 2 {
		return 0
	}
	d := v[1] - v[0]
	for i := 2; i < len(v); i++ {
		if v[i]-v[i-1] != d {
			return 0
		}
	}
	return d
}

// run is a range of consecutive members; to is smaller than from if it wraps around.
type run struct{ from, to int }

// runs splits the set into ranges on the circle lo..hi, the wrapping one last.
func (s set) runs(lo, hi int) []run {
	var out []run
	for v := lo; v <= hi; v++ {
		switch {
		case !s.has(v):
		case len(out) > 0 && out[len(out)-1].to == v-1:
			out[len(out)-1].to = v
		default:
			out = append(out, run{v, v})
		}
	}
	if n := len(out); n > 1 && out[0].from == lo && out[n-1].to == hi {
		out[n-1].to = out[0].to
		out = out[1:]
	}
	return out
}
