// Package habits learns from pings and the user's answers, without a model: at which
// hours and on which days the user answers, how soon, and which routines the user always
// does at another time than the file says. It is pure arithmetic on its arguments. It
// must not know files, schedules or screens.
//
// # When a difference counts
//
// An hour or weekday is better or worse than the rest if the 99 % Wilson interval of its
// answer rate excludes the rate of all pings, with at least 8 pings in that part and 30
// in all. So if half of all pings are answered, eight answers out of eight are
// significant and seven out of eight are not. A user who answers everything, or nothing,
// has no best hours.
//
// # When a routine is always moved
//
// A routine counts as moved if at least six of the last eight weeks agree. In such a week
// the user handled at least half of the routine's pings between 20 minutes and six hours
// after its time, by answering then or by snoozing until then, around the same time of
// day: the week's median is within 20 minutes of the overall median, and two thirds of
// all are within half an hour of it. Pings at other times than the file's do not count,
// because they belong to an earlier version of the file. So once the time is changed,
// nothing is left to suggest.
package habits
