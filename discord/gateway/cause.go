package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/gorilla/websocket"

	"ollimbot/core/clean"
)

// end is a way in which a connection ends or does not come about.
type end int

const (
	endLost        end = iota // the socket broke
	endZombie                 // a heartbeat was not answered before the next
	endSilent                 // not up within Timing.Open
	endClosed                 // Discord closed it, with a code
	endReconnect              // op 7
	endInvalid                // op 9
	endNonsense               // bytes that are no packet
	endUnreachable            // no connection in the first place
	endLeft                   // we are leaving
)

// cause is why a connection ended.
type cause struct {
	end      end
	code     int   // endClosed
	goesOn   bool  // endInvalid: the session can be resumed
	err      error // endLost, endNonsense, endUnreachable
	duration time.Duration
}

// action is what follows from a cause.
type action int

const (
	actResume action = iota
	actFresh         // the session is gone: begin a new one
	actStop          // a person has to act
)

// action follows Discord's table of close codes and its rules for op 7 and 9.
func (c cause) action() action {
	switch c.end {
	case endInvalid:
		if c.goesOn {
			return actResume
		}
		return actFresh
	case endSilent, endNonsense:
		return actFresh // the session may be the reason
	case endClosed:
		switch c.code {
		case 4004, 4010, 4011, 4012, 4013, 4014:
			return actStop
		case 4003, 4007, 4009:
			return actFresh
		}
	}
	return actResume
}

// sentence says it to a person.
func (c cause) sentence() string {
	switch c.end {
	case endZombie:
		return textZombie
	case endSilent:
		return fmt.Sprintf(textSilent, c.duration)
	case endClosed:
		return closeSentence(c.code)
	case endReconnect:
		return textReconnect
	case endInvalid:
		return textInvalid
	case endNonsense:
		return fmt.Sprintf(textNonsense, brief(c.err))
	case endUnreachable:
		return fmt.Sprintf(textUnreachable, brief(c.err))
	case endLeft:
		return textLeft
	}
	return fmt.Sprintf(textLost, brief(c.err))
}

// briefRunes is what a person reads of an error at most.
const briefRunes = 160

// brief is an error in a few words.
func brief(err error) string {
	if err == nil {
		return textNoReason
	}
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		return textNoName
	case errors.Is(err, syscall.ECONNREFUSED):
		return textRefused
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return textNoNetwork
	case errors.Is(err, websocket.ErrBadHandshake):
		return textHandshake
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return textTimeout
	}
	text := clean.Line(err.Error())
	if i := strings.LastIndex(text, ": "); i >= 0 && len(text) > briefRunes {
		text = text[i+2:]
	}
	return clean.Cut(text, briefRunes)
}
