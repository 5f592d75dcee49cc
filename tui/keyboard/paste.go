package keyboard

import (
	"bytes"
	"time"
)

// The marks around a bracketed paste.
var pasteStart, pasteEnd = []byte("\x1b[200~"), []byte("\x1b[201~")

// pasteSilence is how long nothing may arrive within a paste. Its end was lost then, and
// every key would be taken for text.
const pasteSilence = time.Second

// paste follows whether one is open.
type paste struct {
	open bool
	tail []byte // the last bytes, in which a mark may have begun
}

func (p *paste) follow(in []byte) {
	all := append(p.tail, in...)
	start, end := bytes.LastIndex(all, pasteStart), bytes.LastIndex(all, pasteEnd)
	if start != end {
		p.open = start > end
	}
	p.tail = all[max(0, len(all)-len(pasteEnd)+1):]
}
