package account

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"ollimbot/routines/cron"
)

// UsualDay is the default first day of a report.
const UsualDay = "7d"

// mostDays is the longest period of a report, in days.
const mostDays = 3660

// ReadDay parses the first day of a report and returns its start in now's zone.
func ReadDay(text string, now time.Time) (time.Time, error) {
	back := func(days int) time.Time { return cron.Wall(now, -days, 0, 0, now.Location()) }
	word := strings.ToLower(strings.TrimSpace(text))
	switch word {
	case "today":
		return back(0), nil
	case "yesterday":
		return back(1), nil
	}
	for d := range time.Weekday(7) {
		if name := strings.ToLower(d.String()); word == name || word == name[:3] {
			return back((int(now.Weekday()) - int(d) + 7) % 7), nil
		}
	}
	if n, err := strconv.Atoi(strings.TrimSuffix(word, "d")); err == nil && strings.HasSuffix(word, "d") && n >= 0 && n <= mostDays {
		return back(n), nil
	}
	if day, err := time.ParseInLocation(time.DateOnly, word, now.Location()); err == nil {
		return day, nil
	}
	return time.Time{}, fmt.Errorf("a day is today, yesterday, a weekday, a date such as 2026-11-23, or days such as 30d, not %q", text)
}
