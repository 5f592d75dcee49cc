package fake

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// What the limits allow. Discord documents none of the numbers per channel;
// these are the observed ones (Discord.Net issue 2375).
const (
	channelLimit = 5
	channelSpan  = 5 * time.Second
	globalLimit  = 50
	globalSpan   = time.Second
)

// window counts the requests of one bucket since its first.
type window struct {
	from time.Time
	n    int
}

// take counts one request and reports how long to wait when it is one too many.
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

func (s *Server) window(key string) *window {
	if s.limits[key] == nil {
		s.limits[key] = &window{}
	}
	return s.limits[key]
}

// limit counts a call and refuses it when it comes too early. Interaction
// endpoints count for nothing here, as with Discord. Callers hold the lock.
func (s *Server) limit(c *call, rt *route) *answer {
	if !s.o.Limits || rt.open {
		return nil
	}
	now := s.now()
	wait, global := s.window("").take(now, globalLimit, globalSpan), true
	if wait == 0 && rt.counted {
		wait, global = s.window(c.bucket()).take(now, channelLimit, channelSpan), false
	}
	if wait == 0 {
		return nil
	}
	s.limited++
	return limited(wait, global)
}

// limitHeaders tells the client how much of its bucket is left. Callers hold
// the lock.
func (s *Server) limitHeaders(c *call, rt *route, a *answer) {
	if !s.o.Limits || !rt.counted || a.status == http.StatusTooManyRequests {
		return
	}
	w := s.window(c.bucket())
	reset := w.from.Add(channelSpan)
	a.header.Set("X-RateLimit-Limit", strconv.Itoa(channelLimit))
	a.header.Set("X-RateLimit-Remaining", strconv.Itoa(channelLimit-w.n))
	a.header.Set("X-RateLimit-Reset", fmt.Sprintf("%.3f", float64(reset.UnixMilli())/1000))
	a.header.Set("X-RateLimit-Reset-After", fmt.Sprintf("%.3f", max(0, reset.Sub(s.now()).Seconds())))
	a.header.Set("X-RateLimit-Bucket", strings.ReplaceAll(rt.method+rt.segments, "/", ""))
}

// bucket is what a limit of a channel counts by.
func (c *call) bucket() string { return c.method + " " + c.seg[1] }
