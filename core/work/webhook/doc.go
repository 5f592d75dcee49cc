// Package webhook owns the outside triggers: the spec files in webhooks/, the HTTP server
// on loopback, the validation and screening of payloads, and the log of deliveries. It
// must not know engines, forks, dashboards or the main session: Options has functions for
// what it needs from them.
//
// # A delivery
//
// A delivery passes, in this order: token, spec, rate, size, payload, room for another run. It
// is then written to state/webhooks.jsonl and answered with 202 once that line is on disk. A second line is on disk
// before the run starts, so that no start runs it twice; a third line records its end. At start,
// deliveries that had not begun are taken up, and those that were cut off are reported. The
// report is pending before any turn can take it, so a crash that repeats the report is
// recognised.
package webhook
