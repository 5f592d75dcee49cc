// Package budget is the ping budget: a token bucket that refills when it is
// read. State is pure arithmetic over (State, now); Bucket keeps it
// in state/ping_budget.json, with reservations: a token is taken before its
// message is sent, and given back when the message was refused. It knows no tools
// and no screens.
package budget

import "time"

// State is the bucket as the file holds it: exactly these eight keys, because
// the original program rejects a ninth.
type State struct {
	Capacity          int       // tokens the bucket can hold; 0 mutes
	Available         float64   // tokens now, with fractions
	RefillRateMinutes int       // minutes to regain one token, at least 1
	LastRefill        time.Time // when Available was true
	CriticalUsed      int       // critical pings today
	CriticalResetDate string    // the day of CriticalUsed, 2006-01-02 in the configured zone
	DailyUsed         int       // non-critical pings today
	DailyUsedReset    string    // the day of DailyUsed
}
