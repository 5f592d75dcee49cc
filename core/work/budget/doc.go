// Package budget is the ping budget: a token bucket that refills when it is read. State
// is pure arithmetic over (State, now). Bucket keeps it in state/ping_budget.json, with
// reservations: a token is taken before its message is sent, and refunded if the message
// was refused. The package must not know tools or screens.
//
// # Paying before sending
//
// Whether a token is owed is known only after a message was sent, and a process that dies
// in between never finds out. So the file shows the token as spent before the message
// leaves, and a refusal refunds it: an unknown outcome costs the token, and nothing else
// has to be remembered. The daily counters work the same way, each on the day of the
// payment.
package budget
