// Package habits learns from pings and their answers, without a model: at which hours and on which
// days the user answers, how soon, and which routines they always do at another time than that of
// the file. It is pure arithmetic on what its callers know. It must not know files, schedules or
// screens.
//
// # When a difference counts
//
// An hour or a day of the week is better or worse than the rest if the 99 % Wilson interval of its
// answer rate leaves out the rate of all pings, with at least 8 pings then and 30 in all. So eight
// answers of eight say something where half are answered, and seven of eight do not. A user who
// answers everything, or nothing, has no best hours.
//
// # When a routine is always moved
//
// Of the last eight weeks, at least six have the same answer: in each of them the user did half of
// the routine's pings or more between 20 minutes and six hours after its time, by answering then or
// by snoozing until then, around the same time of the day (the week's median within 20 minutes of
// the median of all; two thirds of all within half an hour of it). Pings at other times than that of
// the file do not count: they belong to an earlier file. After the time was changed, nothing is left
// to suggest.
package habits
