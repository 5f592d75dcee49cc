package store

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
)

// NewID returns a new ID: eight random hexadecimal digits in lower case.
func NewID() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails: the runtime ends the program instead
	return hex.EncodeToString(b[:])
}

// NewUUID returns a random version 4 UUID, the format of an engine's session IDs.
func NewUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, as above
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
