// Package web contains helpers for clients of remote servers: whether a server is on this
// machine or on the open Internet, and how long it asks to wait. It knows no particular
// server.
package web

import (
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// Loopback reports whether a host, without its port, is this machine.
func Loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}

// RetryAfter returns how long a server asks to wait, up to a day. A time is converted
// with the server's own clock. It returns 0 if there is no valid header.
func RetryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return Seconds(ms / 1000)
	}
	after := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(after, 64); err == nil {
		return Seconds(seconds)
	}
	at, err := http.ParseTime(after)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return Seconds(at.Sub(now).Seconds())
}

// Seconds converts a number of seconds to a duration, to the millisecond, from 0 to a
// day.
func Seconds(f float64) time.Duration {
	if !(f > 0) { // not a NaN either
		return 0
	}
	return time.Duration(min(f, (24*time.Hour).Seconds()) * float64(time.Second)).Round(time.Millisecond)
}
