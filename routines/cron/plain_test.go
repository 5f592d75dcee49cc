package cron

import "testing"

func TestPlainWordsAreAnExpression(t *testing.T) {
	for words, want := range map[string]string{
		"every weekday at 9":           "0 9 * * 1-5",
		"Weekdays at 9:30 and 18:30":   "30 9,18 * * 1-5",
		"daily at 8pm":                 "0 20 * * *",
		"every day at 8 pm":            "0 20 * * *",
		"mondays and fridays at noon":  "0 12 * * 1,5",
		"every mon, wed at 7:15am":     "15 7 * * 1,3",
		"on weekends at midnight":      "0 0 * * 0,6",
		"every month on the 1st at 9":  "0 9 1 * *",
		"hourly":                       "0 * * * *",
		"every 15 minutes":             "*/15 * * * *",
		"every 2 hours":                "0 */2 * * *",
		"at 9":                         "0 9 * * *",
		"daily 8:15":                   "15 8 * * *",
		"every weekday 9 and 17":       "0 9,17 * * 1-5",
		"mon fri 8pm":                  "0 20 * * 1,5",
		"every month on 15":            "",
		"every 15":                     "",
		"":                             "",
		"0 9 * * 1-5":                  "",
		"0 9 * * mon":                  "",
		"every 7 minutes":              "", // the intervals would be uneven
		"every weekday":                "",
		"every month on the 32nd at 9": "",
		"at 9 and 9:30":                "",
		"every blue moon at 9":         "",
		"every weekday at 25":          "",
		"every weekday at":             "",
	} {
		got, ok := FromWords(words)
		if got != want || ok != (want != "") {
			t.Errorf("%q is %q, want %q", words, got, want)
		}
		if _, err := Parse(got); ok && err != nil {
			t.Errorf("%q: %v", got, err)
		}
	}
}
