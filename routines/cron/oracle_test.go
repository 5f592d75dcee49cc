package cron

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"
)

// job is a schedule in the oracle's form: explicit lists of values, drawn or written by
// the test and never parsed, with an equivalent expression.
type job struct {
	expr                       string
	minute, hour, dom, mon     []int
	dow                        []int
	starHour, starDom, starDow bool
}

func daily(hour, minute int) job {
	return job{
		expr:   fmt.Sprintf("%d %d * * *", minute, hour),
		minute: []int{minute}, hour: []int{hour},
		dom: span(1, 31), mon: span(1, 12), dow: span(0, 6), starDom: true, starDow: true,
	}
}

func span(from, to int) []int {
	var out []int
	for v := from; v <= to; v++ {
		out = append(out, v)
	}
	return out
}

// clock returns the job's times of day, by minute.
func (j job) clock() (c [24 * 60]bool) {
	for _, h := range j.hour {
		for _, m := range j.minute {
			c[h*60+m] = true
		}
	}
	return c
}

// date reports whether the date of a wall time, in seconds as if in UTC, matches.
func (j job) date(wall int64) bool {
	t := time.Unix(wall, 0).UTC()
	if !slices.Contains(j.mon, int(t.Month())) {
		return false
	}
	dom, dow := slices.Contains(j.dom, t.Day()), slices.Contains(j.dow, int(t.Weekday()))
	if j.starDom || j.starDow {
		return dom && dow
	}
	return dom || dow
}

// wallMinutes is the wall clock time at every minute of a window, looked up one by one.
type wallMinutes struct {
	start int64 // unix seconds, a whole minute
	wall  []int64
}

func watchWall(start, end int64, loc *time.Location) wallMinutes {
	w := wallMinutes{start: start - start%60}
	for sec := w.start; sec < end; sec += 60 {
		_, offset := time.Unix(sec, 0).In(loc).Zone()
		w.wall = append(w.wall, sec+int64(offset))
	}
	return w
}

// fires walks the window minute by minute. Wildcard hours fire whenever the clock shows a
// matching time. Fixed hours fire when the clock first passes a matching time, whether it
// reaches or skips it.
func (w wallMinutes) fires(j job) []int64 {
	var out []int64
	clock := j.clock()
	matches := func(wall int64) bool {
		return wall%60 == 0 && clock[wall/60%(24*60)] && j.date(wall)
	}
	passed := w.wall[0] - 60
	for i, wall := range w.wall {
		sec := w.start + int64(i)*60
		if j.starHour {
			if matches(wall) {
				out = append(out, sec)
			}
			continue
		}
		fire := false
		for ; passed < wall; passed += 60 {
			fire = fire || matches(passed+60)
		}
		if fire {
			out = append(out, sec)
		}
	}
	return out
}

// drawJob draws an expression together with its values.
func drawJob(t *rapid.T) job {
	var j job
	words := make([]string, 5)
	words[0], j.minute = drawField(t, "minute", 0, 59)
	words[1], j.hour = drawField(t, "hour", 0, 23)
	words[2], j.dom = drawField(t, "dom", 1, 31)
	words[3], j.mon = drawField(t, "month", 1, 12)
	words[4], j.dow = drawField(t, "dow", 0, 6)
	j.starHour = words[1][0] == '*'
	j.starDom = words[2][0] == '*'
	j.starDow = words[4][0] == '*'
	j.expr = strings.Join(words, " ")
	return j
}

func drawField(t *rapid.T, label string, low, high int) (string, []int) {
	value := rapid.IntRange(low, high)
	switch rapid.IntRange(0, 5).Draw(t, label+" form") {
	case 0, 1:
		return "*", span(low, high)
	case 2:
		n := rapid.IntRange(1, high-low).Draw(t, label+" step")
		var out []int
		for v := low; v <= high; v += n {
			out = append(out, v)
		}
		return fmt.Sprintf("*/%d", n), out
	case 3:
		from, to := value.Draw(t, label+" from"), value.Draw(t, label+" to")
		var out []int
		for v := from; ; v++ {
			if v > high {
				v = low
			}
			out = append(out, v)
			if v == to {
				return fmt.Sprintf("%d-%d", from, to), out
			}
		}
	}
	out := rapid.SliceOfNDistinct(value, 1, 4, rapid.ID).Draw(t, label)
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(out), " ", ","), "[]"), out
}
