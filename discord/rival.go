package discord

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Two programs with one token both hear everything and both answer. Each marks the nonces of
// its notices and answers with the time of its start, and Discord shows each the other's: so
// both know which of them started later, and that one goes quiet.

const (
	// rivalAfter is how long after the start a foreign nonce may still be of the program
	// before, which is ending or was killed.
	rivalAfter = 10 * time.Second
	// rivalFor is how long the latest sign of another program counts.
	rivalFor = 10 * time.Minute
	// A mark is markLetter, the start in milliseconds to the base of 36, and a dot.
	markLetter = "o"
	markSize   = 10
	// nonceSize is Discord's limit (https://discord.com/developers/docs/resources/message#create-message).
	nonceSize = 25
)

// mark is what the nonces of this program begin with.
type mark string

func newMark(start time.Time) mark {
	return mark(fmt.Sprintf("%s%08s.", markLetter, strconv.FormatInt(start.UnixMilli(), 36)))
}

// stamp makes a marked nonce of a text. The same text is the same nonce.
func (m mark) stamp(text string) string {
	sum := sha256.Sum256([]byte(text))
	return string(m) + base64.RawURLEncoding.EncodeToString(sum[:])[:nonceSize-len(m)]
}

// started is the start of the program that marked a nonce; false if none did.
func started(nonce string) (time.Time, bool) {
	if len(nonce) != nonceSize || !strings.HasPrefix(nonce, markLetter) || nonce[markSize-1] != '.' {
		return time.Time{}, false
	}
	ms, err := strconv.ParseInt(nonce[len(markLetter):markSize-1], 36, 64)
	return time.UnixMilli(ms), err == nil
}

// rivals notices other programs that work with the bot's token.
type rivals struct {
	start  time.Time
	grace  time.Duration
	zone   *time.Location
	sent   func(nonce string) bool // reports whether this program sent a nonce
	status *status
	log    *slog.Logger
	quit   chan error // capacity 1: why this program has to go quiet

	mu    sync.Mutex
	noted time.Time // when the log last named another program
}

// heard takes the nonce of a message by the bot's own account.
func (r *rivals) heard(nonce string) {
	if nonce == "" || r.sent(nonce) || time.Since(r.start) < r.grace {
		return
	}
	r.seen()
	other, known := started(nonce)
	if known && other.Before(r.start) {
		select {
		case r.quit <- fmt.Errorf(textRivalFirst, other.In(r.zone).Format("2 Jan 15:04")):
		default: // it is going quiet
		}
	}
}

// seen records a sign of another program.
func (r *rivals) seen() {
	now := time.Now()
	r.mu.Lock()
	news := now.Sub(r.noted) >= rivalFor
	if news {
		r.noted = now
	}
	r.mu.Unlock()
	r.status.change(func() { r.status.rival = now })
	if news {
		r.log.Warn("another program uses the bot's token", "cure", textRivalCure)
	}
}

// untilSecond returns an error when an earlier program with the same token was noticed.
func (r *rivals) untilSecond(ctx context.Context) error {
	select {
	case err := <-r.quit:
		return err
	case <-ctx.Done():
		return nil
	}
}
