package cron

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// FromWords returns the expression for a few words, such as "every weekday at 9", "mondays and
// fridays at 9:30 and 18:00", "daily 8pm", "every 15 minutes", "hourly" or "every month on
// the 1st at noon". It returns false for anything else, such as an expression.
func FromWords(text string) (expr string, ok bool) {
	words := strings.Fields(strings.NewReplacer(",", " ", " and ", " ", " o'clock", "").Replace(strings.ToLower(" " + strings.TrimSpace(text) + " ")))
	if len(words) == 0 || !strings.ContainsAny(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		return "", false
	}
	if expr, ok := interval(words); ok {
		return expr, true
	}
	var days, times []string
	if at := slices.Index(words, "at"); at >= 0 {
		days, times = words[:at], words[at+1:]
	} else { // "daily 8:15"
		first := slices.IndexFunc(words, startsWithDigit)
		if first <= 0 {
			return "", false
		}
		days, times = words[:first], words[first:]
	}
	minute, hours, ok := clockTimes(times)
	if !ok {
		return "", false
	}
	date, week, ok := daysOf(days)
	if !ok {
		return "", false
	}
	return fmt.Sprintf("%d %s %s * %s", minute, hours, date, week), true
}

func startsWithDigit(word string) bool { return word[0] >= '0' && word[0] <= '9' }

// interval parses intervals within a day.
func interval(words []string) (expr string, ok bool) {
	line := strings.Join(words, " ")
	switch line {
	case "hourly", "every hour":
		return "0 * * * *", true
	case "every half hour", "every half an hour":
		return "*/30 * * * *", true
	}
	if len(words) != 3 || words[0] != "every" {
		return "", false
	}
	n, err := strconv.Atoi(words[1])
	switch unit := strings.TrimSuffix(words[2], "s"); {
	case err != nil || n < 1:
	case (unit == "minute" || unit == "min") && n < 60 && 60%n == 0:
		return fmt.Sprintf("*/%d * * * *", n), true
	case unit == "hour" && n < 24 && 24%n == 0:
		return fmt.Sprintf("0 */%d * * *", n), true
	}
	return "", false
}

// clockTimes parses times of day, which must have the same minute.
func clockTimes(words []string) (minute int, hours string, ok bool) {
	var list []string
	for i := 0; i < len(words); i++ {
		word := words[i]
		if i+1 < len(words) && (words[i+1] == "am" || words[i+1] == "pm") {
			word += words[i+1]
			i++
		}
		at, ok := ParseClock(word)
		if !ok || len(list) > 0 && at.Minute() != minute {
			return 0, "", false
		}
		minute = at.Minute()
		list = append(list, strconv.Itoa(at.Hour()))
	}
	return minute, strings.Join(list, ","), len(list) > 0
}

// ParseClock parses a time of day in lower case: "18:30", "18", "6:30pm", "6 pm", "noon".
func ParseClock(word string) (time.Time, bool) {
	switch word {
	case "noon":
		word = "12:00"
	case "midnight":
		word = "0:00"
	}
	for _, layout := range []string{"15:04", "15", "3:04pm", "3pm", "3:04 pm", "3 pm"} {
		if at, err := time.Parse(layout, word); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// weekdays are the names of days in the order of cron.
var weekdays = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// daysOf parses days of the month or of the week.
func daysOf(words []string) (date, week string, ok bool) {
	switch line := strings.Join(words, " "); line {
	case "", "daily", "every day", "every morning", "every evening", "each day":
		return "*", "*", true
	case "weekdays", "every weekday", "on weekdays", "every workday", "workdays":
		return "*", "1-5", true
	case "weekends", "every weekend", "on weekends":
		return "*", "0,6", true
	}
	if rest, monthly := monthly(words); monthly {
		n, err := strconv.Atoi(strings.TrimRight(rest, "sthnrd."))
		return strconv.Itoa(n), "*", err == nil && n >= 1 && n <= 31
	}
	var days []string
	for _, w := range words {
		if w == "every" || w == "on" || w == "each" {
			continue
		}
		i := slices.IndexFunc(weekdays, func(day string) bool {
			return w == day || w == day+"s" || len(w) >= 3 && strings.HasPrefix(day, w)
		})
		if i < 0 {
			return "", "", false
		}
		days = append(days, strconv.Itoa(i))
	}
	return "*", strings.Join(days, ","), len(days) > 0
}

// monthly is the day of "every month on the 1st", "monthly on 15".
func monthly(words []string) (day string, ok bool) {
	line := strings.Join(words, " ")
	for _, head := range []string{"every month on the ", "every month on ", "monthly on the ", "monthly on ", "on the "} {
		if rest, found := strings.CutPrefix(line, head); found {
			return rest, true
		}
	}
	return "", false
}
