// # Clock changes
//
// Vixie cron's rule applies. A job with a fixed hour fires once a day: at the first instant
// after the gap if its time is skipped, at the first of the two if it is repeated. A job whose
// hour is * follows elapsed time. The library that computes minutes skips the first and doubles
// the second, so it gets wall-clock times in UTC and the rule is applied on top. A test covers
// every clock change of every zone from 2000 to 2040.
package cron
