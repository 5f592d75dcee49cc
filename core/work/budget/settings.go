package budget

import (
	"strconv"
	"strings"

	"ollimbot/core/base/words"
	"ollimbot/core/storage/config"
)

// The keys of the two numbers among the settings.
const (
	KeyCapacity = "budget.capacity"
	KeyRefill   = "budget.refill"
)

// Settings returns the two numbers of the budget as settings.
func (s State) Settings() []config.Line {
	line := func(key string, n, standard int) config.Line {
		about, _ := config.About(key)
		text := strconv.Itoa(n)
		return config.Line{
			Key: key, Value: text, Text: text, Offers: []string{}, Default: n == standard, About: about,
			Long: words.Grouped(uint64(max(0, n)), strings.TrimSuffix(about.Unit, "s")),
		}
	}
	return []config.Line{line(KeyCapacity, s.Capacity, DefaultCapacity), line(KeyRefill, s.RefillRateMinutes, defaultRefill)}
}

// Setting returns one of Settings.
func (s State) Setting(key string) (config.Line, bool) {
	for _, l := range s.Settings() {
		if l.Key == key {
			return l, true
		}
	}
	return config.Line{}, false
}
