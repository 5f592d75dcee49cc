// Package recur owns recurrences: a cron expression gives the candidate times, and what people
// say beyond cron narrows and bounds them: every second week, the last Friday of the month, from
// and until a day, ten times, not over Christmas, in Berlin time. It computes when they fire, says
// them in words, and says why a candidate does not fire. It must not know files, tasks or clocks:
// the time is always an argument. Package when reads them.
//
// Everything but the zone only removes candidates, so a program that knows cron alone fires more
// often, never less. Each restriction judges the date that the wall clock shows, and a time that
// the clock skips by the date that it would have had.
package recur
