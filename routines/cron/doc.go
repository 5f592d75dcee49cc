// Package cron implements five-field cron expressions: it parses them with the column of
// every error, computes when they fire, and explains them in words. It must not know files,
// tasks or clocks: the time is always an argument.
//
// The fields are minute, hour, day of month, month and day of week. 0 and 7
// are both Sunday, names work in any case, steps work on ranges, and ranges may
// wrap (fri-mon, 22-2). Two rules are worth knowing:
//
//   - If both day fields are restricted, a day that matches either one fires. A day field that
//     begins with * counts as unrestricted, but must still match.
//   - Fixed hours follow the wall clock: a time that is skipped in spring fires once, at the
//     first instant after the gap, and a time that is repeated in autumn fires once, the first
//     time. An hour field that begins with * follows elapsed time instead: every instant whose
//     wall clock matches fires.
//
// # Clock changes
//
// Vixie cron's rule applies. A job with a fixed hour fires once a day: at the first instant
// after the gap if its time is skipped, at the first of the two if it is repeated. A job whose
// hour is * follows elapsed time. The library that computes minutes skips the first and doubles
// the second, so it gets wall-clock times in UTC and the rule is applied on top. A test covers
// every clock change of every zone from 2000 to 2040.
package cron
