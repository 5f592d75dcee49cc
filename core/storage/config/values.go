package config

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/hosts"
	"ollimbot/core/base/lazyregexp"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/when"
)

// bounds are the smallest and the largest accepted number.
type bounds struct{ low, high int }

// whole parses a number of plain digits within bounds.
func whole(s string, b bounds) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && digits(s) && n >= b.low && n <= b.high
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func model(to *string, s string) bool {
	switch strings.ToLower(s) {
	case "", "null", "none", "default":
		*to = ""
		return true
	}
	if !strings.Contains(s, "/") { // model names of providers can have capital letters
		s = strings.ToLower(s)
	}
	if !routines.ValidModel(s) {
		return false
	}
	*to = s
	return true
}

// fallback parses names of engines and models, separated by commas.
func fallback(to *string, s string) bool {
	var list []string
	for item := range strings.SplitSeq(s, ",") {
		item = strings.TrimSpace(item)
		known := slices.Contains([]string{"claude", "messages", "script"}, item) || strings.Contains(item, "/") && routines.ValidModel(item)
		if !known || slices.Contains(list, item) {
			return false
		}
		list = append(list, item)
	}
	*to = strings.Join(list, ",")
	return true
}

// thinking parses off, adaptive or a budget in tokens.
func thinking(to *string, s string) bool {
	if n, err := strconv.Atoi(s); err == nil && n > 0 && digits(s) {
		*to = strconv.Itoa(n)
		return true
	}
	s = strings.ToLower(s)
	if s != "off" && s != "adaptive" {
		return false
	}
	*to = s
	return true
}

// budget formats a thinking mode for the user: "off", "8k budget". A budget below a thousand tokens
// is shown in full.
func budget(mode string) string {
	n, err := strconv.Atoi(mode)
	switch {
	case err != nil:
		return mode
	case n < 1000:
		return mode + " tokens budget"
	}
	return strconv.Itoa(n/1000) + "k budget"
}

func boolean(to *bool, s string) bool {
	switch strings.ToLower(s) {
	case "true", "on", "yes", "1":
		*to = true
	case "false", "off", "no", "0":
		*to = false
	default:
		return false
	}
	return true
}

// network parses a switch or a list of hosts.
func network(to *string, s string) bool {
	var on bool
	if boolean(&on, s) {
		if *to = ""; on {
			*to = "on"
		}
		return true
	}
	return hostList(to, s)
}

// hostList parses a list of hosts.
func hostList(to *string, s string) bool {
	list, err := hosts.Parse(s)
	if err != nil {
		return false
	}
	*to = list.String()
	return true
}

// whyNoHosts describes the error in a list of hosts. It returns "" if the text is not a list.
func whyNoHosts(s string) string {
	if !strings.ContainsAny(s, ".,:*/") {
		return ""
	}
	if _, err := hosts.Parse(s); err != nil {
		return err.Error()
	}
	return ""
}

// maxDollars is more than any sensible cap.
const maxDollars = 1e6

// dollars parses an amount such as 5, 2.50 or $5; off means no cap.
func dollars(to *float64, s string) bool {
	switch strings.ToLower(s) {
	case "", "off", "none", "false":
		*to = math.Inf(1)
		return true
	}
	s = strings.TrimPrefix(s, "$")
	if strings.Trim(s, "0123456789.") != "" {
		return false // no sign or exponent
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v > maxDollars {
		return false
	}
	*to = v
	return true
}

// memory parses a size in bytes, or with KB, MB or GB.
func memory(to *int64, s string) bool {
	s = strings.ToUpper(strings.ReplaceAll(s, " ", ""))
	shift := 0
	for _, u := range []struct {
		suffix string
		shift  int
	}{{"GIB", 30}, {"MIB", 20}, {"KIB", 10}, {"GB", 30}, {"MB", 20}, {"KB", 10}, {"G", 30}, {"M", 20}, {"B", 0}} {
		if rest, ok := strings.CutSuffix(s, u.suffix); ok {
			s, shift = rest, u.shift
			break
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || !digits(s) || n > 1<<50>>shift || n<<shift < 64<<20 {
		return false
	}
	*to = n << shift
	return true
}

// size formats bytes in the largest unit that is exact.
func size(n int64) string {
	for _, u := range []struct {
		suffix string
		shift  int
	}{{"GB", 30}, {"MB", 20}, {"KB", 10}} {
		if n>>u.shift<<u.shift == n {
			return strconv.FormatInt(n>>u.shift, 10) + u.suffix
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}

const (
	maxID  = 200 // bytes of a Google ID
	maxIDs = 50
	// maxPath is the longest path, in bytes.
	maxPath = 1000
)

// word parses an ID: one word without special characters.
func word(to *string, s string) bool {
	if s == "" || len(s) > maxID || s != clean.Line(s) || strings.ContainsAny(s, " ,\"\\") {
		return false
	}
	*to = s
	return true
}

// languageCode matches ISO 639 codes, which speech recognizers know.
var languageCode = lazyregexp.New(`^[a-z]{2,3}$`)

func language(to *string, s string) bool {
	*to = strings.ToLower(s)
	return languageCode().MatchString(*to)
}

// timezone parses the name of a time zone, or its city.
func timezone(to *string, s string) bool {
	found, ok := when.Zone(s)
	if ok {
		*to = found.String()
	}
	return ok
}

// list parses IDs separated by commas; spaces around them are ignored.
func list(to *string, s string) bool {
	ids := strings.Split(s, ",")
	for i := range ids {
		if !word(&ids[i], strings.TrimSpace(ids[i])) {
			return false
		}
	}
	if len(ids) > maxIDs {
		return false
	}
	*to = strings.Join(ids, ",")
	return true
}

// paths parses absolute paths, separated by commas, each optionally followed by ":rw".
func paths(to *string, s string) bool {
	list := strings.Split(s, ",")
	for i, item := range list {
		item = strings.TrimSpace(item)
		path := strings.TrimSuffix(item, ":rw")
		if path != clean.Line(path) || len(path) > maxPath || !strings.HasPrefix(path, "~/") && !filepath.IsAbs(path) {
			return false
		}
		list[i] = item
	}
	*to = strings.Join(list, ",")
	return len(list) <= maxIDs
}

// Quiet is the part of each day in which only critical pings are sent: from one minute of
// the day up to another, which may be on the next day. The zero Quiet means none.
type Quiet struct {
	From, To int // minutes since midnight; equal if there are no quiet hours
}

// text formats quiet hours for the configuration: "22:00-07:30", or "off".
func (q Quiet) text() string {
	if q.From == q.To {
		return "off"
	}
	return fmt.Sprintf("%02d:%02d-%02d:%02d", q.From/60, q.From%60, q.To/60, q.To%60)
}

// QuietUntil returns when the quiet hours at now end, in now's zone. Outside of quiet hours it
// returns the zero time. They follow the wall clock: a time that a clock change skips means the
// first instant after the change, a repeated one means its first occurrence.
func (r Runtime) QuietUntil(now time.Time) time.Time {
	q := r.QuietHours
	if q.From == q.To {
		return time.Time{}
	}
	for day := -1; day <= 0; day++ {
		last := day
		if q.To < q.From {
			last++
		}
		if end := wall(now, last, q.To); now.Before(end) && !now.Before(wall(now, day, q.From)) {
			return end
		}
	}
	return time.Time{}
}

// QuietSpans returns the quiet hours that overlap the time between two moments, as pairs of
// start and end.
func (r Runtime) QuietSpans(from, to time.Time) [][2]time.Time {
	q := r.QuietHours
	if q.From == q.To {
		return nil
	}
	var spans [][2]time.Time
	for day := -1; ; day++ {
		last := day
		if q.To < q.From {
			last++
		}
		begin, end := wall(from, day, q.From), wall(from, last, q.To)
		if begin.After(to) {
			return spans
		}
		if end.After(from) {
			spans = append(spans, [2]time.Time{begin, end})
		}
	}
}

// wall returns the instant of a minute of the day, some days after now's date.
func wall(now time.Time, days, minute int) time.Time {
	return cron.Wall(now, days, minute/60, minute%60, now.Location())
}

// quiet parses "22:00-07:30". "", "off" and "none" mean no quiet hours.
func quiet(to *Quiet, s string) bool {
	switch strings.ToLower(s) {
	case "", "off", "none", "false":
		*to = Quiet{}
		return true
	}
	from, until, found := strings.Cut(strings.ReplaceAll(s, "–", "-"), "-")
	f, ok1 := minuteOfDay(from)
	t, ok2 := minuteOfDay(until)
	if !found || !ok1 || !ok2 || f == t {
		return false
	}
	*to = Quiet{From: f, To: t}
	return true
}

// minuteOfDay parses a time of day; 24:00 is the end of the day.
func minuteOfDay(s string) (int, bool) {
	if strings.TrimSpace(s) == "24:00" {
		return 0, true
	}
	return when.Clock(s)
}
