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

// Two programs with the same token both receive and answer every message. Each marks the nonces of its notices and
// answers with its start time, and sees the other's nonces. So both can determine which one started later, and that
// one stops answering.

const (
	// rivalAfter is how long after the start a foreign nonce may still belong to the previous program, which is ending
	// or was killed.
	rivalAfter = 10 * time.Second
	// rivalFor is how long a sign of another program counts.
	rivalFor = 10 * time.Minute
	// A mark is markLetter, the start in milliseconds to the base of 36, and a dot.
	markLetter = "o"
	markSize   = 10
	// nonceSize is Discord's limit (https://discord.com/developers/docs/resources/message#create-message).
	nonceSize = 25
)

// mark is the prefix of this program's nonces.
type mark string

func newMark(start time.Time) mark {
	return mark(fmt.Sprintf("%s%08s.", markLetter, strconv.FormatInt(start.UnixMilli(), 36)))
}

// stamp returns a marked nonce for a text. The same text gives the same nonce.
func (m mark) stamp(text string) string {
	sum := sha256.Sum256([]byte(text))
	return string(m) + base64.RawURLEncoding.EncodeToString(sum[:])[:nonceSize-len(m)]
}

// started returns the start time of the program that marked a nonce; false if the nonce has no mark.
func started(nonce string) (time.Time, bool) {
	if len(nonce) != nonceSize || !strings.HasPrefix(nonce, markLetter) || nonce[markSize-1] != '.' {
		return time.Time{}, false
	}
	ms, err := strconv.ParseInt(nonce[len(markLetter):markSize-1], 36, 64)
	return time.UnixMilli(ms), err == nil
}

// rivals detects other programs that use the bot's token.
type rivals struct {
	start  time.Time
	grace  time.Duration
	zone   *time.Location
	sent   func(nonce string) bool // reports whether this program sent a nonce
	status *status
	log    *slog.Logger
	quit   chan error // capacity 1: why this program must stop answering

	mu    sync.Mutex
	noted time.Time // when another program was last logged
}

// heard handles the nonce of a message by the bot's own account.
func (r *rivals) heard(nonce string) {
	if nonce == "" || r.sent(nonce) || time.Since(r.start) < r.grace {
		return
	}
	r.seen()
	other, known := started(nonce)
	if known && other.Before(r.start) {
		select {
		case r.quit <- fmt.Errorf(textRivalFirst, other.In(r.zone).Format("2 Jan 15:04")):
		default: // it is already stopping
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

// untilSecond returns an error when an earlier program with the same token is detected.
func (r *rivals) untilSecond(ctx context.Context) error {
	select {
	case err := <-r.quit:
		return err
	case <-ctx.Done():
		return nil
	}
}
