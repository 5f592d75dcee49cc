package gateway

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// The opcodes of Discord's gateway that matter here.
const (
	opHeartbeat    = 1
	opIdentify     = 2
	opReconnect    = 7
	opInvalid      = 9
	opHello        = 10
	opHeartbeatAck = 11
)

// heartbeatMax is far beyond the 41 s that Discord asks for.
const heartbeatMax = 10 * time.Minute

// packet is the outside of everything that Discord sends.
type packet struct {
	Op *int            `json:"op"`
	D  json.RawMessage `json:"d"`
}

// steering says what a packet from Discord means for the connection: the cause
// of its end, or nil. acked is true for the answer to a heartbeat.
func steering(body []byte) (end *cause, acked bool) {
	var p packet
	if err := json.Unmarshal(body, &p); err != nil || p.Op == nil {
		// The library would follow a nil pointer at a packet that is "null".
		return &cause{end: endNonsense, err: errors.New(textBadPacket)}, false
	}
	switch *p.Op {
	case opReconnect:
		return &cause{end: endReconnect}, false
	case opInvalid:
		return &cause{end: endInvalid, goesOn: string(bytes.TrimSpace(p.D)) == "true"}, false
	case opHello:
		return badHello(p.D), false
	case opHeartbeatAck:
		return nil, true
	}
	return nil, false
}

// badHello guards the library's ticker, which ends the whole program when it is
// asked to tick every 0 ms.
func badHello(d json.RawMessage) *cause {
	var hello struct {
		Interval int64 `json:"heartbeat_interval"`
	}
	err := json.Unmarshal(d, &hello)
	if err == nil && hello.Interval > 0 && hello.Interval <= heartbeatMax.Milliseconds() {
		return nil
	}
	return &cause{end: endNonsense, err: fmt.Errorf(textBadHello, hello.Interval)}
}

// closeCode is the code in a close frame; 1005 stands for none (RFC 6455, 7.1.5).
func closeCode(body []byte) int {
	if len(body) < 2 {
		return 1005
	}
	return int(binary.BigEndian.Uint16(body))
}

// sentOp is the opcode of the packet in a frame of ours, or -1. The library
// writes each frame with one call, "op" first, and masks it.
func sentOp(frame []byte) int {
	if len(frame) < 2 || frame[0] != frameText {
		return -1
	}
	at := 2
	switch frame[1] & 0x7f {
	case 126:
		at = 4
	case 127:
		at = 10
	}
	const prefix = `{"op":`
	if len(frame) < at+4+len(prefix)+2 {
		return -1
	}
	mask, body := frame[at:at+4], frame[at+4:]
	for i := range prefix {
		if body[i]^mask[i%4] != prefix[i] {
			return -1
		}
	}
	op := 0
	for i := len(prefix); i < min(len(body), len(prefix)+3); i++ {
		c := body[i] ^ mask[i%4]
		if c < '0' || c > '9' {
			return op
		}
		op = op*10 + int(c-'0')
	}
	return -1
}

// frame is a frame of ours with a body of up to 125 bytes, or up to 64 KiB.
func frame(kind byte, body []byte) []byte {
	out := []byte{kind}
	if len(body) < 126 {
		out = append(out, 0x80|byte(len(body)))
	} else {
		out = append(out, 0x80|126)
		out = binary.BigEndian.AppendUint16(out, uint16(len(body)))
	}
	mask := binary.BigEndian.AppendUint32(nil, rand.Uint32())
	out = append(out, mask...)
	for i, c := range body {
		out = append(out, c^mask[i%4])
	}
	return out
}

// presence is the packet that puts "watching your DMs" below the bot's name. The
// library's Identify writes the activity under a key that Discord dropped with
// version 8 of the gateway, so it is said once more in the present form.
func presence() []byte {
	type activity struct {
		Name string `json:"name"`
		Type int    `json:"type"`
	}
	type status struct {
		Since      *int       `json:"since"`
		Activities []activity `json:"activities"`
		Status     string     `json:"status"`
		AFK        bool       `json:"afk"`
	}
	const opPresence, typeWatching = 3, 3
	body, err := json.Marshal(struct {
		Op int    `json:"op"`
		D  status `json:"d"`
	}{opPresence, status{Activities: []activity{{watching, typeWatching}}, Status: "online"}})
	if err != nil {
		panic(err) // plain strings and numbers
	}
	return frame(frameText, body)
}
