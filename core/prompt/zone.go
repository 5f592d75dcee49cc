package prompt

import (
	"strings"
	"time"
)

// zoneWord is the last word of a timestamp: the US zones print
// their generic form, the same in summer and winter; every other zone prints
// its abbreviation at that moment, or its offset where it has none.
func zoneWord(t time.Time) string {
	abbreviation, _ := t.Zone()
	if generic, ok := genericWords[abbreviation]; ok && isUS(t.Location().String()) {
		return generic
	}
	if abbreviation == "" || strings.ContainsAny(abbreviation, " \t\r\n]") {
		return t.Format("-0700")
	}
	return abbreviation
}

var genericWords = map[string]string{
	"PST": "PT", "PDT": "PT", "MST": "MT", "MDT": "MT",
	"CST": "CT", "CDT": "CT", "EST": "ET", "EDT": "ET",
}

// isUS reports whether a zone of the tz database lies in the United States. It
// goes by name, because China, Cuba and Canada share the abbreviations.
func isUS(name string) bool {
	if usZones[name] {
		return true
	}
	for _, folder := range usFolders {
		if strings.HasPrefix(name, folder) {
			return true
		}
	}
	return false
}

var usFolders = []string{"US/", "America/Indiana/", "America/Kentucky/", "America/North_Dakota/"}

var usZones = map[string]bool{
	"America/Los_Angeles": true, "America/Denver": true, "America/Boise": true, "America/Phoenix": true,
	"America/Shiprock": true, "America/Chicago": true, "America/Menominee": true, "America/New_York": true,
	"America/Detroit": true, "America/Indianapolis": true, "America/Fort_Wayne": true,
	"America/Knox_IN": true, "America/Louisville": true, "Navajo": true,
	"PST8PDT": true, "MST7MDT": true, "CST6CDT": true, "EST5EDT": true,
}
