package gateway

import (
	"bytes"
	"encoding/binary"
)

// Two kinds of WebSocket frames are looked at, both complete in themselves;
// the numbers are the frame's first byte (RFC 6455, 5.2).
const (
	frameText  = 0x81
	frameClose = 0x88
)

const (
	// frameLook is up to which length a frame is looked at. Everything that
	// steers a connection has a few hundred bytes at most.
	frameLook = 1024
	// frameMax is far beyond anything Discord sends.
	frameMax = 16 << 20
	// upgradeMax bounds the search for the end of the HTTP answer.
	upgradeMax = 64 << 10
)

// stage is where in the stream the next byte belongs.
type stage int

const (
	stageUpgrade stage = iota // the HTTP answer in front of the frames
	stageHead
	stageBody
	stageBlind // not a stream that we understand: it passes unseen
)

// frames follows the bytes that a WebSocket server sends. It works on whatever
// pieces they come in, holds at most frameLook bytes, and never fails: what it
// cannot follow passes unseen, and the limits of time hold for that.
type frames struct {
	stage stage
	seen  int    // bytes of the HTTP answer so far
	head  []byte // the unfinished HTTP line end or frame header
	kind  byte
	left  uint64 // bytes of the body that are still to come
	body  []byte // the body so far, if it is looked at
	look  bool
}

// feed takes the next bytes and shows each frame of the two kinds to see, with
// its kind and body, which is valid during the call. When see returns false,
// feed stops and returns how many bytes of p lie before that frame; otherwise
// len(p). A frame of more than frameMax bytes is shown with a nil body and its
// kind set to 0.
func (f *frames) feed(p []byte, see func(kind byte, body []byte) bool) int {
	start := 0 // where in p the current frame began
	for i := 0; i < len(p); {
		switch f.stage {
		case stageUpgrade:
			i += f.upgrade(p[i:])
			start = i
		case stageHead:
			if len(f.head) == 0 {
				start = i
			}
			f.head = append(f.head, p[i])
			i++
			if !f.header() {
				continue
			}
			if f.stage == stageHead && !f.finish(see) || f.left > frameMax && !see(0, nil) {
				return start
			}
		case stageBody:
			n := min(uint64(len(p)-i), f.left)
			if f.look {
				f.body = append(f.body, p[i:i+int(n)]...)
			}
			i += int(n)
			f.left -= n
			if f.left == 0 && !f.finish(see) {
				return start
			}
		case stageBlind:
			return len(p)
		}
	}
	return len(p)
}

// upgrade passes over the HTTP answer and returns how many bytes of p belong to
// it.
func (f *frames) upgrade(p []byte) int {
	const blank = "\r\n\r\n"
	f.head = append(f.head, p...)
	at := bytes.Index(f.head, []byte(blank))
	if at < 0 {
		f.seen += len(p)
		if f.seen > upgradeMax {
			f.stage = stageBlind
		}
		f.head = append(f.head[:0], f.head[max(0, len(f.head)-len(blank)+1):]...)
		return len(p)
	}
	rest := len(f.head) - (at + len(blank))
	f.stage, f.head = stageHead, f.head[:0]
	return len(p) - rest
}

// header reports whether the header of a frame is complete, and then sets what
// it says. A masked frame never comes from a server.
func (f *frames) header() bool {
	h := f.head
	if len(h) < 2 {
		return false
	}
	size := uint64(h[1] & 0x7f)
	switch {
	case h[1]&0x80 != 0:
		f.stage = stageBlind
		return true
	case size == 126 && len(h) < 4, size == 127 && len(h) < 10:
		return false
	case size == 126:
		size = uint64(binary.BigEndian.Uint16(h[2:]))
	case size == 127:
		size = binary.BigEndian.Uint64(h[2:])
	}
	f.kind, f.left = h[0], size
	f.look = (f.kind == frameText || f.kind == frameClose) && size <= frameLook
	f.head = f.head[:0]
	f.body = f.body[:0]
	if size > 0 {
		f.stage = stageBody
	}
	return true
}

// finish shows a frame whose last byte has come.
func (f *frames) finish(see func(kind byte, body []byte) bool) bool {
	f.stage = stageHead
	return !f.look || see(f.kind, f.body)
}
