package cron

import "math/bits"

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

// step is the distance between neighbours where it is always the same, else 0.
// Fewer than two members have no step.
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

// run is a stretch of consecutive members; to is smaller than from where it
// wraps around the end of the cycle.
type run struct{ from, to int }

// runs splits the set into stretches on the circle lo..hi, the wrapping one last.
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
