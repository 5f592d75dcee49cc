package cron

import (
	"strings"
	"testing"
)

func TestWordsSayWhatTheExpressionMeans(t *testing.T) {
	for expr, want := range map[string]string{
		"* * * * *":              "every minute",
		"*/30 * * * *":           "every 30 minutes",
		"*/30 9-18 * * 1-5":      "every 30 minutes from 9:00 to 18:59, Monday to Friday",
		"*/7 * * * *":            "every 7 minutes from :00 to :56 of every hour",
		"5/15 * * * *":           "every 15 minutes from :05 to :50 of every hour",
		"5,35 * * * *":           "at :05 and :35 of every hour",
		"0 * * * *":              "every hour",
		"15 * * * *":             "every hour at :15",
		"0 */2 * * *":            "every 2 hours",
		"17 */6 * * mon":         "every 6 hours at :17, every Monday",
		"0 */12 * * *":           "every 12 hours",
		"0 0,12 * * *":           "at 0:00 and 12:00, every day",
		"0 0-23 * * *":           "every hour from 0:00 to 23:00",
		"*/30 0-23 * * *":        "every 30 minutes from 0:00 to 23:59",
		"*/30 */2 * * *":         "every 30 minutes of every 2nd hour",
		"5,35 */5 * * *":         "at :05 and :35 of every 5th hour",
		"0 */6,3 * * *":          "at 0:00, 3:00, 6:00, 12:00 and 18:00 by elapsed time, every day",
		"0 1-23/2 * * *":         "every 2 hours from 1:00 to 23:00",
		"0 */5 * * *":            "every 5 hours from midnight",
		"15 10-17/2 * * mon-fri": "every 2 hours from 10:15 to 16:15, Monday to Friday",
		"0 22-2 * * fri-mon":     "every hour from 22:00 to 2:00, Friday to Monday",
		"* 9 * * *":              "every minute from 9:00 to 9:59",
		"0,30 9,14-16 * * 6,0":   "every 30 minutes from 9:00 to 9:59 and from 14:00 to 16:59, Saturday and Sunday",
		"3,17 1,2,5,9 * * *":     "at :03 and :17 of the hours 1, 2, 5 and 9",
		"1-29 3 * * *":           "every minute from :01 to :29 of the hour from 3:00",
		"0 9 * * *":              "at 9:00, every day",
		"0 8,20 * * *":           "at 8:00 and 20:00, every day",
		"30 8 * * 1-5":           "at 8:30, Monday to Friday",
		"0 19 * * 0":             "at 19:00, every Sunday",
		"0 9 * * 1,3,5":          "at 9:00, Monday, Wednesday and Friday",
		"0 9 * * 0-6":            "at 9:00, every day",
		"0 9 13 * 0-7":           "at 9:00, every day",
		"0 10 1 * *":             "at 10:00, on the 1st of every month",
		"0 10 2,3,11,23 * *":     "at 10:00, on the 2nd, 3rd, 11th and 23rd of every month",
		"0 10 1 jan *":           "at 10:00, on the 1st of January",
		"0 10 * nov-feb *":       "at 10:00, every day in November to February",
		"0 10 * 6 sat":           "at 10:00, every Saturday in June",
		"0 9 13 * 5":             "at 9:00, on the 13th of every month, and also every Friday",
		"0 9 13 6 5":             "at 9:00, on the 13th of June, and also every Friday in June",
		"0 9 */2 * 1":            "at 9:00, every 2 days from the 1st to the 31st of every month when that is Monday",
		"0 9 28-2 * *":           "at 9:00, on the 28th to 2nd of every month",
		"0 0 30 2 *":             "at 0:00, on the 30th of February (never: none of its months has that day)",
	} {
		if got := mustParse(t, expr).Words(); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", expr, got, want)
		}
	}
	if got := (Schedule{}).Words(); got != "never" {
		t.Errorf("the zero Schedule says %q", got)
	}
}

func TestNotesNameWhatPeopleGetWrong(t *testing.T) {
	for expr, want := range map[string]string{
		"0 9 13 * 5":     "match either one",
		"0 9 */2 * 1":    "match both",
		"0 0 30 2 *":     "never fires",
		"0 0 29 2 *":     "leap years",
		"*/7 * * * *":    "from :56 to the next :00 is only 4 minutes",
		"0 */5 * * *":    "from 20:00 to the next 0:00 is only 4 hours",
		"0 9 */3 * *":    "on the 1st of each month",
		"* 9 * * *":      "60 times",
		"0 0-23 * * *":   "are fixed",
		"0 9 31 * *":     "February, April, June, September and November",
		"0 9 30 * *":     "that day: February.",
		"0 9 31 1-3/2 *": "",
		"0 9 31 * mon":   "match either one",
		"0 9 * * 1-5":    "",
		"*/30 * * * *":   "",
		"0 */6 * * *":    "",
		"0 9 * * 0-6":    "",
	} {
		got := strings.Join(mustParse(t, expr).Notes(), " ")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
	if got := (Schedule{}).Notes(); got != nil {
		t.Errorf("the zero Schedule has notes: %v", got)
	}
}
