package egress

import (
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// The log accepts this many refusals at once, and then one per interval.
const (
	logBurst = 20
	logEvery = 30 * time.Second
	// maxTold is how many refused hosts of one sandbox are remembered.
	maxTold = 100
)

// refusalLog logs refusals at a limited rate, so that commands cannot flood the log.
type refusalLog struct {
	log   *slog.Logger
	limit *rate.Limiter

	mu   sync.Mutex
	kept int // refusals not logged since the last line
}

func newRefusalLog(log *slog.Logger) *refusalLog {
	return &refusalLog{log: log, limit: rate.NewLimiter(rate.Every(logEvery), logBurst)}
}

// perSandbox returns a function that logs each host once.
func (l *refusalLog) perSandbox() func(*refusal) {
	var mu sync.Mutex
	told := map[string]bool{}
	return func(r *refusal) {
		host := shown(r.host, r.port)
		mu.Lock()
		known := told[host] || len(told) >= maxTold
		if !known {
			told[host] = true
		}
		mu.Unlock()
		if !known {
			l.write(host, r)
		}
	}
}

func (l *refusalLog) write(host string, r *refusal) {
	l.mu.Lock()
	if !l.limit.Allow() {
		l.kept++
		l.mu.Unlock()
		return
	}
	kept := l.kept
	l.kept = 0
	l.mu.Unlock()
	attrs := []any{"host", host, "setting", "sandbox_network"}
	if r.addr.IsValid() {
		attrs = append(attrs, "leads_to", r.addr.String())
	}
	if kept > 0 {
		attrs = append(attrs, "more_not_shown", kept)
	}
	l.log.Warn("a command's connection to a host was refused", attrs...)
}
