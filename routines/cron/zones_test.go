package cron

import (
	"archive/zip"
	_ "embed"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the walk needs every zone, whatever the machine has

	"ollimbot/core/base/testkit"
)

// zoneList names every zone of the tz database in the Go distribution.
//
//go:embed testdata/zones.txt
var zoneList string

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatalf("every zone must load: %v", err)
	}
	return loc
}

// TestAZoneOfGosOwnTableFiresLater: in Go's own table the last change of Ciudad Juárez,
// of 29 November 2022, is not part of its rule, and 23:00 occurred twice. A machine
// without a zone database has only that table; found by .ci/bare.
func TestAZoneOfGosOwnTableFiresLater(t *testing.T) {
	testkit.Alone(t)
	root, err := exec.Command("go", "env", "GOROOT").Output()
	testkit.Must(t, err)
	table, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	testkit.Must(t, err)
	defer table.Close()
	data, err := fs.ReadFile(table, "America/Ciudad_Juarez")
	testkit.Must(t, err)
	loc, err := time.LoadLocationFromTZData("America/Ciudad_Juarez", data)
	testkit.Must(t, err)
	second := time.Date(2022, 11, 30, 6, 0, 0, 0, time.UTC).In(loc)
	if got, want := mustParse(t, "0 23 * * *").Next(second), second.Add(24*time.Hour); !got.Equal(want) {
		t.Errorf("after %v it fires at %v, want %v", second, got, want)
	}
}

const (
	hour = int64(60 * 60)
	day  = 24 * hour
)

// change is a moment at which a zone's offset changes, in seconds.
type change struct{ at, before, after int64 }

// changes finds the changes of 2000 to 2040 by checking every day and bisecting the days
// at whose end the offset differs. It does not use ZoneBounds, which the code under test
// uses.
func changes(loc *time.Location) []change {
	offset := func(sec int64) int64 {
		_, o := time.Unix(sec, 0).In(loc).Zone()
		return int64(o)
	}
	from := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	to := time.Date(2041, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	var out []change
	before := offset(from)
	for sec := from; sec < to; sec += day {
		after := offset(sec + day)
		if after == before {
			continue
		}
		low, high := sec, sec+day
		for high-low > 1 {
			if mid := (low + high) / 2; offset(mid) == before {
				low = mid
			} else {
				high = mid
			}
		}
		out = append(out, change{high, before, after})
		before = after
	}
	return out
}

// jobsAround returns fixed-hour jobs at the usual times, and at every minute that is
// special because of a change.
func jobsAround(c change) []job {
	times := []int64{0, 2*hour + 30*60, 12 * hour, 23*hour + 59*60}
	low, high := c.at+min(c.before, c.after), c.at+max(c.before, c.after)
	for _, w := range []int64{low - 60, low, low + 60, (low + high) / 2, high - 60, high} {
		times = append(times, w%day)
	}
	slices.Sort(times)
	var out []job
	for _, s := range slices.Compact(times) {
		out = append(out, daily(int(s/hour), int(s%hour/60)))
	}
	return out
}

// wildcards returns jobs that follow elapsed time, and a fixed one that fires often.
func wildcards() []job {
	hourly, half, even, often := daily(0, 0), daily(0, 0), daily(0, 0), daily(0, 0)
	hourly.expr, hourly.hour, hourly.starHour = "0 * * * *", span(0, 23), true
	half.expr, half.hour, half.starHour, half.minute = "*/30 * * * *", span(0, 23), true, []int{0, 30}
	even.expr, even.hour, even.starHour = "15 */2 * * *", []int{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22}, true
	even.minute = []int{15}
	often.expr, often.hour, often.minute = "*/20 0-3 * * *", span(0, 3), []int{0, 20, 40}
	return []job{hourly, half, even, often}
}

// walk lists the fires of [from, to).
func walk(s Schedule, from, to int64, loc *time.Location) []int64 {
	var out []int64
	at := time.Unix(from, 0).In(loc)
	for {
		at = s.Next(at)
		if at.IsZero() || at.Unix() >= to || len(out) > 1000 {
			return out
		}
		out = append(out, at.Unix())
		at = at.Add(time.Nanosecond)
	}
}

// expectation is the oracle's result around a change, shared by zones with the same
// change.
type expectation struct {
	jobs      []job
	schedules []Schedule
	fires     [][]int64
}

// around is the distance from a change within which fires are compared.
const around = 32 * hour

func expect(t *testing.T, c change, loc *time.Location) expectation {
	jobs := append(jobsAround(c), wildcards()...)
	e := expectation{jobs: jobs}
	wall := watchWall(c.at-around-day, c.at+around, loc)
	for _, j := range jobs {
		e.schedules = append(e.schedules, mustParse(t, j.expr))
		fires := wall.fires(j)
		first, _ := slices.BinarySearch(fires, c.at-around)
		e.fires = append(e.fires, fires[first:])
	}
	return e
}

func TestEveryTransitionOfEveryZoneFiresOnceADay(t *testing.T) {
	known := map[string]expectation{}
	zones, transitions := 0, 0
	for name := range strings.FieldsSeq(zoneList) {
		loc := zone(t, name)
		zones++
		all := changes(loc)
		for i, c := range all {
			transitions++
			key := fmt.Sprint(c)
			for k := max(0, i-2); k < min(len(all), i+3); k++ {
				if n := all[k]; n.at-c.at < 8*day && c.at-n.at < 8*day {
					key += fmt.Sprint(n)
				}
			}
			e, ok := known[key]
			if !ok {
				e = expect(t, c, loc)
				known[key] = e
				checkStarts(t, c, e, loc)
				checkWildcards(t, c, e, loc)
			}
			checkDaily(t, c, e, loc)
		}
		if t.Failed() {
			t.Fatalf("stopped after %s", name)
		}
	}
	if zones < 590 || transitions < 15000 {
		t.Errorf("walked %d zones and %d transitions: the list is not whole", zones, transitions)
	}
	t.Logf("%d zones, %d transitions, %d of them different", zones, transitions, len(known))
}

// checkDaily compares and counts the fires of jobs that fire once a day.
func checkDaily(t *testing.T, c change, e expectation, loc *time.Location) {
	t.Helper()
	for i, j := range e.jobs {
		if len(j.minute)*len(j.hour) == 1 {
			checkOnceADay(t, c, j, checkFires(t, c, e, i, loc), loc)
		}
	}
}

// checkWildcards compares the fires of the other jobs. There are many, so it does this
// once per kind of change.
func checkWildcards(t *testing.T, c change, e expectation, loc *time.Location) {
	t.Helper()
	for i, j := range e.jobs {
		if len(j.minute)*len(j.hour) > 1 {
			checkFires(t, c, e, i, loc)
		}
	}
}

func checkFires(t *testing.T, c change, e expectation, i int, loc *time.Location) []int64 {
	t.Helper()
	got := walk(e.schedules[i], c.at-around, c.at+around, loc)
	if !slices.Equal(got, e.fires[i]) {
		t.Errorf("%s in %s around %s:\ngot  %s\nwant %s", e.jobs[i].expr, loc,
			time.Unix(c.at, 0).In(loc), show(got, loc), show(e.fires[i], loc))
	}
	return got
}

// checkOnceADay counts the fires of each date. A fire at the change itself also counts
// for the dates whose time the change skipped.
func checkOnceADay(t *testing.T, c change, j job, fires []int64, loc *time.Location) {
	t.Helper()
	clock := int64(j.hour[0])*hour + int64(j.minute[0])*60
	count := map[int64]int{}
	for _, f := range fires {
		_, offset := time.Unix(f, 0).In(loc).Zone()
		wall := f + int64(offset)
		if wall%day == clock {
			count[wall/day]++
		}
		if f != c.at {
			continue
		}
		for d := (c.at+c.before)/day - 1; d <= (c.at+c.after)/day; d++ {
			if w := d*day + clock; w >= c.at+c.before && w < c.at+c.after {
				count[d]++
			}
		}
	}
	for d := (c.at+c.before)/day - 1; d <= (c.at+c.after)/day+1; d++ {
		w := d*day + clock
		if w < c.at-around+c.before || w >= c.at+around+min(c.before, c.after) {
			continue // outside of the range
		}
		if count[d] != 1 {
			t.Errorf("%s in %s fired %d times on %s", j.expr, loc, count[d], time.Unix(d*day, 0).UTC().Format(time.DateOnly))
		}
	}
}

// checkStarts checks the next fire from the difficult moments around a change.
func checkStarts(t *testing.T, c change, e expectation, loc *time.Location) {
	t.Helper()
	size := max(c.after-c.before, c.before-c.after)
	for i, s := range e.schedules {
		for _, d := range []int64{-size, -size / 2, -60, -1, 0, 1, 60, size / 2, size - 1, size, size + 60} {
			from := c.at + d
			n, _ := slices.BinarySearch(e.fires[i], from)
			if n == len(e.fires[i]) {
				continue
			}
			want := e.fires[i][n]
			if got := s.Next(time.Unix(from, 0).In(loc)); got.Unix() != want {
				t.Errorf("%s in %s from %s: got %s, want %s", e.jobs[i].expr, loc,
					time.Unix(from, 0).In(loc), got, time.Unix(want, 0).In(loc))
			}
		}
	}
}

func show(fires []int64, loc *time.Location) string {
	var out []string
	for _, f := range fires {
		out = append(out, time.Unix(f, 0).In(loc).Format("02 15:04 -0700"))
	}
	return strings.Join(out, ", ")
}
