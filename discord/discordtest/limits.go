package discordtest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// window counts the requests of one bucket since its first.
type window struct {
	from time.Time
	n    int
}

// take counts one request and returns how long to wait if it exceeds the limit.
func (w *window) take(now time.Time, limit int, span time.Duration) time.Duration {
	if now.Sub(w.from) >= span {
		*w = window{from: now}
	}
	if w.n >= limit {
		return w.from.Add(span).Sub(now)
	}
	w.n++
	return 0
}

// limiter counts requests per channel and in total. The world's lock guards it.
type limiter struct {
	w       *world
	on      bool
	windows map[string]*window
}

func (l *limiter) window(key string) *window {
	if l.windows[key] == nil {
		l.windows[key] = &window{}
	}
	return l.windows[key]
}

// refuse counts a call and rejects it if it exceeds a limit. As with Discord, interaction endpoints are not counted.
func (l *limiter) refuse(c *call, rt *route) *Plan {
	if !l.on || rt.open {
		return nil
	}
	now := l.w.now()
	wait, global := l.window("").take(now, globalLimit, globalSpan), true
	if wait == 0 && rt.counted {
		wait, global = l.window(c.bucket()).take(now, channelLimit, channelSpan), false
	}
	if wait == 0 {
		return nil
	}
	l.w.all.Limited++
	return limited(wait, global)
}

// headers adds the headers with the rest of the bucket.
func (l *limiter) headers(c *call, rt *route, a *Plan) {
	if !l.on || !rt.counted || a.Status == http.StatusTooManyRequests {
		return
	}
	w := l.window(c.bucket())
	reset := w.from.Add(channelSpan)
	a.header.Set("X-RateLimit-Limit", strconv.Itoa(channelLimit))
	a.header.Set("X-RateLimit-Remaining", strconv.Itoa(channelLimit-w.n))
	a.header.Set("X-RateLimit-Reset", fmt.Sprintf("%.3f", float64(reset.UnixMilli())/1000))
	a.header.Set("X-RateLimit-Reset-After", fmt.Sprintf("%.3f", max(0, reset.Sub(l.w.now()).Seconds())))
	a.header.Set("X-RateLimit-Bucket", strings.ReplaceAll(rt.method+rt.segments, "/", ""))
}
